// SPDX-License-Identifier: Apache-2.0
#include "training/models/mixer_term.hpp"
#include "mixers/attention/heads.hpp"
#include "mixers/fem/free_energy_mixer.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"
#include "tests/support/count_allocations.hpp"
#include "tests/support/linearization_checks.hpp"
#include "tests/support/tiny_block.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

constexpr Index kTokens = 5;
constexpr Index kChannels = 8;
constexpr Index kMemories = 6;
constexpr double kGain = 0.8;
constexpr Index kHeads = 2;  ///< of the comparison with the fused attention
constexpr Index kWidth = kChannels / kHeads;

MixerChoice choice_of(const std::string& kind) {
  MixerChoice choice;
  choice.kind = kind;
  choice.options.width = kChannels;
  choice.options.of<FreeEnergyOptions>().epsilon =
      0.1;  // gla's features 1e-6 from a kink of relu bend too much for a difference
  if (kind == "linattn") {
    choice.options.heads = 1;
    choice.options.of<AttentionOptions>().head_width = kChannels;
  }
  return choice;
}

/// A block of a mixer (weights numbered from 1) and a memory (input array, parameter 0), bound to a random drive.
template <class S>
class MixerBlock {
 public:
  explicit MixerBlock(const MixerChoice& choice)
      : input(random_matrix<double>(kChannels, kMemories, 1, 0.2).cast<S>()),
        weights(start(choice)),
        block(one_node_circuit<S>(
            kChannels, [](SharedArray<S>& array) { array.template place<HopfieldMemory<S>>(kMemories); }, 0, input,
            {kGain, 0.7}, mixer(choice, weights))),
        dynamics(block, kTokens, 3) {
    dynamics.bind(random_matrix<double>(kTokens, kChannels, 2).cast<S>(), ReadContext{});
  }

  DigitalMatrix<S> input;
  std::vector<std::unique_ptr<DigitalMatrix<S>>> weights;
  Circuit<S> block;
  CircuitDynamics<S> dynamics;

  SummingSink<S> sink() const {
    std::vector<const LinearMap<S>*> maps = {&input};
    for (const auto& w : weights) maps.push_back(w.get());
    return SummingSink<S>(maps);
  }

 private:
  static std::vector<std::unique_ptr<DigitalMatrix<S>>> start(const MixerChoice& choice) {
    std::vector<std::unique_ptr<DigitalMatrix<S>>> all;
    for (const Field& field : mixer_spec(choice).parameters) {
      Matrix<double> w =
          random_matrix<double>(field.rows(), field.cols(), 10 + all.size(), field.mean != 0 ? 0.1 : 0.3);
      w.array() += field.mean;
      all.push_back(std::make_unique<DigitalMatrix<S>>(w.template cast<S>()));
    }
    return all;
  }
  static std::vector<std::unique_ptr<Term<S>>> mixer(const MixerChoice& choice,
                                                     const std::vector<std::unique_ptr<DigitalMatrix<S>>>& weights) {
    std::vector<const LinearMap<S>*> maps;
    for (const auto& w : weights) maps.push_back(w.get());
    std::vector<std::unique_ptr<Term<S>>> all;
    all.push_back(mixer_term<S>(0, {0, kChannels}, choice, kGain, 1, maps));
    return all;
  }
};

Matrix<double> state(std::uint64_t seed, Index copies = 1) {
  return random_matrix<double>(copies * kTokens, kChannels, seed);
}

double dot(const Matrix<double>& a, const Matrix<double>& b) { return a.cwiseProduct(b).sum(); }

}  // namespace

TEST_CASE("the kinds that map states to states can be forces", "[mixer_term]") {
  const auto& names = force_mixers();
  const auto has = [&names](const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  CHECK(names.size() == 19);
  for (const char* name : {"mha", "linattn", "light2nd1st", "fem_softmax", "nag_stack"}) CHECK(has(name));
  for (const char* name : {"momen", "glinattn", "tdc"}) CHECK_FALSE(has(name));  // further inputs, another output
}

TEST_CASE("every mixer as a force: adjoint, central differences of jvp and of all parameters", "[mixer_term]") {
  for (const std::string& kind : force_mixers()) {
    CAPTURE(kind);
    MixerBlock<double> one(choice_of(kind));
    const Matrix<double> z = state(3), v = state(4), u = state(5);
    Linearization<double>& at = one.dynamics.linearize(z);
    for (const Part part : {Part::all, Part::nonconservative}) check_adjoint(at, kTokens, kChannels, part);
    Matrix<double> jv(z), f(z), f0(z);
    at.jvp(v, jv);
    // See central_difference(): 3.7e-11 times the ratio of F''' to Jv, some thousands for the second-order kinds.
    CHECK(relative_error(central_difference(one.dynamics, z, v), jv) < 1e-6);
    one.dynamics.force(z, f);
    at.force(f0);
    CHECK(relative_error(f0, f) < 1e-14);

    // All parameters at once along one random direction d: ⟨u, F(θ + hd) − F(θ − hd)⟩/2h = ⟨gradient, d⟩; h = 1e-5 leaves
    // 1e-10 times the third derivative and rounding 1e-16/1e-5.
    SummingSink<double> sink = one.sink();
    at.accumulate_parameter_gradient(u, 2.0, sink);
    double expected = 0;
    std::vector<Matrix<double>> before, direction;
    for (std::size_t k = 0; k < one.weights.size(); ++k) {
      before.push_back(one.weights[k]->weights());
      direction.push_back(random_matrix<double>(before[k].rows(), before[k].cols(), 50 + k));
      expected += dot(sink.sums[k + 1], direction[k]);
    }
    const double h = 1e-5;
    double difference = 0;
    for (const double sign : {1.0, -1.0}) {
      for (std::size_t k = 0; k < before.size(); ++k) one.weights[k]->program(before[k] + sign * h * direction[k]);
      one.dynamics.force(z, f);
      difference += sign * 2.0 * dot(u, f) / (2 * h);
    }
    CHECK(difference == Approx(expected).epsilon(1e-6));
  }
}

TEST_CASE("one linearisation of a mixer serves several copies of the state", "[mixer_term]") {
  for (const char* kind : {"mha", "fem_softmax"}) {
    CAPTURE(kind);
    MixerBlock<double> one(choice_of(kind));
    const Matrix<double> z0 = state(6), z = state(7, 3);
    Linearization<double>& at = one.dynamics.linearize(z0);
    const Matrix<double> v = z - z0.replicate(3, 1);
    Matrix<double> corrected(z), transposed(z), f(z), conservative(z), jv(z), jtv(z);
    at.law(NudgedForm::corrected, z, corrected);
    at.law(NudgedForm::transposed, z, transposed);
    one.dynamics.force(z, f);
    one.dynamics.force(z, conservative, Part::conservative);
    at.jvp(v, jv, Part::nonconservative);
    at.vjp(v, jtv, Part::nonconservative);
    // The same sums in another order: some tens of roundings.
    CHECK(relative_error(corrected, Matrix<double>(f - jv + jtv)) < 1e-14);
    CHECK(relative_error(transposed, Matrix<double>(conservative + jtv)) < 1e-14);
    Matrix<double> single(kTokens, kChannels);
    one.dynamics.force(z.middleRows(kTokens, kTokens), single);
    CHECK(relative_error(single, Matrix<double>(f.middleRows(kTokens, kTokens))) < 1e-14);
  }
}

TEMPLATE_TEST_CASE("the fused attention force is the tape's mha", "[mixer_term]", float, double) {
  using S = TestType;

  TinyBlock<S> fused({kTokens, kChannels, kHeads, kMemories, kGain, 0.7, 3});
  MixerBlock<S> tape(choice_of("mha"));
  tape.input.program(fused.input.weights().rightCols(kMemories));
  // q = z W_q is the tape's Wq z with Wq = W_qᵀ; Wo_h, (C, C/H), is the transpose of head h's rows of W_o.
  for (Index k = 0; k < 3; ++k) {
    tape.weights[static_cast<std::size_t>(k)]->program(
        fused.input.weights().middleCols(k * kChannels, kChannels).transpose());
  }
  const auto by_heads = [](const Matrix<S>& w) {
    Matrix<S> stacked(kHeads * kChannels, kWidth);
    for (Index h = 0; h < kHeads; ++h) {
      stacked.middleRows(h * kChannels, kChannels) = w.middleRows(h * kWidth, kWidth).transpose();
    }
    return stacked;
  };
  tape.weights[3]->program(by_heads(fused.output.weights()));
  tape.dynamics.bind(fused.drive, ReadContext{});
  const Matrix<S> z = random_matrix<double>(3 * kTokens, kChannels, 8).cast<S>();
  const Matrix<S> z0 = z.topRows(kTokens), v = z.bottomRows(kTokens);
  auto& a = fused.dynamics.linearize(z0);
  auto& b = tape.dynamics.linearize(z0);
  // Sums of at most 30 products in another order, and the update as (z + U) − z: some tens of ε.
  const double rounding = 100 * static_cast<double>(std::numeric_limits<S>::epsilon());
  Matrix<S> fa(z0), fb(z0), ca(z), cb(z);
  const auto agree = [&](const char* what) {
    INFO(what);
    CHECK(relative_error(fb, fa) < rounding);
  };
  a.force(fa, Part::nonconservative);
  b.force(fb, Part::nonconservative);
  agree("force");
  a.jvp(v, fa, Part::nonconservative);
  b.jvp(v, fb, Part::nonconservative);
  agree("jvp");
  a.vjp(v, fa, Part::nonconservative);
  b.vjp(v, fb, Part::nonconservative);
  agree("vjp");
  a.law(NudgedForm::corrected, z, ca);
  b.law(NudgedForm::corrected, z, cb);
  CHECK(relative_error(cb, ca) < rounding);
  a.law(NudgedForm::transposed, z, ca);
  b.law(NudgedForm::transposed, z, cb);
  CHECK(relative_error(cb, ca) < rounding);
  SummingSink<S> sa({&fused.input, &fused.output});
  SummingSink<S> sb = tape.sink();
  a.accumulate_parameter_gradient(v, S(1.5), sa);
  b.accumulate_parameter_gradient(v, S(1.5), sb);
  CHECK(relative_error(sb.sums[0], Matrix<S>(sa.sums[0].rightCols(kMemories))) < rounding);
  for (Index k = 0; k < 3; ++k) {
    CHECK(relative_error(Matrix<S>(sb.sums[static_cast<std::size_t>(k) + 1].transpose()),
                         Matrix<S>(sa.sums[0].middleCols(k * kChannels, kChannels))) < rounding);
  }
  CHECK(relative_error(sb.sums[4], by_heads(sa.sums[1])) < rounding);
}

TEST_CASE("a mixer's force, once recorded, allocates nothing", "[mixer_term]") {
  for (const char* kind : {"mha", "linattn", "light2nd1st", "fem_softmax"}) {
    CAPTURE(kind);
    MixerBlock<double> one(choice_of(kind));
    const Matrix<double> z = state(9);
    Matrix<double> f(z);
    one.dynamics.force(z, f);
    const auto before = allocations();
    one.dynamics.force(z, f);
    CHECK(allocations() == before);
  }
}

TEST_CASE("a window ends what a token sees, and kinds without one refuse it", "[mixer_term]") {
  MixerChoice choice = choice_of("mha");
  choice.window = 2;
  MixerBlock<double> one(choice);
  Matrix<double> z = state(10), f(z), moved(z);
  one.dynamics.force(z, f, Part::nonconservative);
  z.row(0) *= -1;
  one.dynamics.force(z, moved, Part::nonconservative);
  CHECK((moved - f).row(1).norm() > 1e-3);
  CHECK((moved - f).bottomRows(kTokens - 2).norm() == 0);
  choice = choice_of("fem_gla");
  choice.window = 2;
  CHECK_THROWS_WITH(mixer_spec(choice), Catch::Contains("window = 2") && Catch::Contains("fem_gla"));
}
