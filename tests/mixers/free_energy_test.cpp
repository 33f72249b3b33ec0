// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "mixers/fem/free_energy_mixer.hpp"
#include "mixers/mixer.hpp"
#include "mixers/ops/reads.hpp"
#include "tests/mixers/derivative_checks.hpp"

using namespace nudge;
using test::random_matrix;

namespace {

using M = Matrix<double>;

double log_sum(const std::vector<double>& x) {
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const double each : x) sum += std::exp(each - top);
  return top + std::log(sum);
}

/// [μ | F] from the definition: all pairs (t, i), all cells, in logarithms.
M parallel_read(const M& log_a, const M& log_b, const M& g, const M& v, const M& beta, const double* log_direct,
                MemoryRead read) {
  M y(v.rows(), 2 * v.cols());
  for (Index t = 0; t < v.rows(); ++t) {
    std::vector<double> weight;
    for (Index i = 0; i <= t; ++i) {
      std::vector<double> parts;
      for (Index n = 0; n < g.cols(); ++n) {
        if (i == t && read == MemoryRead::previous) continue;
        double decay = 0;
        for (Index s = i + 1; s <= (read == MemoryRead::previous ? t - 1 : t); ++s) decay += g(s, n);
        parts.push_back(log_a(t, n) + log_b(i, n) + decay);
      }
      if (i == t && log_direct != nullptr) parts.push_back(*log_direct);
      weight.push_back(log_sum(parts));
    }
    const double total = log_sum(weight);
    for (Index c = 0; c < v.cols(); ++c) {
      double mean = 0;
      std::vector<double> tilted;
      for (Index i = 0; i <= t; ++i) {
        mean += std::exp(weight[static_cast<std::size_t>(i)] - total) * v(i, c);
        tilted.push_back(weight[static_cast<std::size_t>(i)] - total + beta(0, c) * v(i, c));
      }
      y(t, c) = mean;
      y(t, v.cols() + c) = log_sum(tilted) / beta(0, c);
    }
  }
  return y;
}

}  // namespace

TEST_CASE("decaying read: the recurrence is the parallel form") {
  // Both sum some hundred terms in logarithms up to some hundreds: 1e-16 · 300 · a few = 1e-13.
  for (const double strength : {0.1, 5.0, 60.0}) {
    const M log_a = random_matrix<double>(50, 3, 1);
    const M log_b = random_matrix<double>(50, 3, 2, strength);
    const M g = -strength * random_matrix<double>(50, 3, 3).cwiseAbs();
    const M v = random_matrix<double>(50, 2, 4, strength);
    const M beta = M::Constant(1, 2, 1.7);
    const double direct = 0.4;
    const M direct_m = M::Constant(1, 1, direct);
    for (const MemoryRead read : {MemoryRead::updated, MemoryRead::previous}) {
      Tape<double> tape;
      const auto y = decaying_read<double>(1, tape.input(log_a), tape.input(log_b), tape.input(g), tape.input(v),
                                           tape.input(beta), tape.input(direct_m), read);
      CHECK(test::relative_error(y.matrix(), parallel_read(log_a, log_b, g, v, beta, &direct, read)) < 1e-12);
      const auto mean = decaying_read<double>(1, tape.input(log_a), tape.input(log_b), tape.input(g), tape.input(v),
                                              std::nullopt, tape.input(direct_m), read);
      CHECK(test::relative_error(mean.matrix(), M(y.matrix().leftCols(2))) < 1e-14);
    }
  }
}

TEST_CASE("decaying read: groups read their own cells and channels") {
  const Index tokens = 40, groups = 3, cells = 2;
  const M log_a = random_matrix<double>(tokens, cells * groups, 1);
  const M log_b = random_matrix<double>(tokens, cells * groups, 2);
  const M g = -random_matrix<double>(tokens, cells * groups, 3).cwiseAbs();
  const M direct = random_matrix<double>(1, groups, 4);
  for (const Index width : {1, 4}) {  // channels of a group: one is what a state-space prior has
    const M v = random_matrix<double>(tokens, groups * width, 5);
    const M beta = M::Constant(1, groups * width, 1.3);
    Tape<double> tape;
    const auto y = decaying_read<double>(groups, tape.input(log_a), tape.input(log_b), tape.input(g), tape.input(v),
                                         tape.input(beta), tape.input(direct), MemoryRead::previous);
    for (Index k = 0; k < groups; ++k) {
      const auto cells_of = [&](const M& x) {
        M own(tokens, cells);
        for (Index n = 0; n < cells; ++n) own.col(n) = x.col(n * groups + k);
        return own;
      };
      const M expected = parallel_read(cells_of(log_a), cells_of(log_b), cells_of(g), v.middleCols(k * width, width),
                                       beta.leftCols(width), &direct(0, k), MemoryRead::previous);
      CHECK(test::relative_error(M(y.matrix().middleCols(k * width, width)), M(expected.leftCols(width))) < 1e-12);
      CHECK(test::relative_error(M(y.matrix().middleCols((groups + k) * width, width)), M(expected.rightCols(width))) <
            1e-12);
    }
  }
}

TEST_CASE("decaying read: 1e5 tokens and decays of 1e5 and beyond stay exact") {
  // g = −30: the older tokens weigh e^-30 < 1e-13; so μ is v_t and F v_t within that. Cumulative decay 3e6.
  const Index tokens = 100000;
  const M v = random_matrix<double>(tokens, 1, 4);
  Tape<double> tape;
  const auto zero = tape.constant(M::Zero(tokens, 1));
  const auto y = decaying_read<double>(1, zero, zero, tape.constant(M::Constant(tokens, 1, -30.0)), tape.constant(v),
                                       tape.constant(M::Constant(1, 1, 2.0)));
  REQUIRE(y.matrix().allFinite());
  const double gap = std::exp(-30.0) * 10 * std::exp(2.0 * 10);  // at most ten standard deviations apart
  CHECK((y.matrix().col(0) - v).cwiseAbs().maxCoeff() < gap);
  CHECK((y.matrix().col(1) - v).cwiseAbs().maxCoeff() < gap);
}

TEST_CASE("every O(T) mixer: any split of a sequence gives the rows of the whole") {
  // The same recurrence, but products over fewer rows at a time: rounding only.
  const Index tokens = 150;
  for (const char* name : {"fem_gla", "fem_aft", "fem_lrnn", "fem_ssmlti", "fem_ssmsel", "tdc"}) {
    for (const Modulation modulation : {Modulation::none, Modulation::before}) {
      CAPTURE(name);
      MixerOptions options;
      options.of<FreeEnergyOptions>().modulation = modulation;
      const auto& kind = mixer_kind<double>(name);
      const MixerSpec spec = kind.spec(options);
      const M x = random_matrix<double>(tokens, options.width, 1);
      std::vector<M> parameters;
      for (const Field& field : spec.parameters) {
        parameters.push_back(random_matrix<double>(field.rows(), field.cols(), 10 + parameters.size(), 0.4));
      }
      const auto run = [&](const M& piece, Streams<double>* streams) {
        Tape<double> tape;
        MixerCall<double> call{options, {}, {}, Mask::causal(piece.rows()), streams};
        call.inputs.add("x", tape.input(piece));
        for (std::size_t k = 0; k < parameters.size(); ++k) {
          call.parameters.add(spec.parameters[k].name, tape.parameter(parameters[k]));
        }
        kind.forward(call);
        return M(call.outputs[0].matrix());
      };
      const M whole = run(x, nullptr);
      for (const auto& split : std::vector<std::vector<Index>>{{150}, {1, 149}, {64, 64, 22}, {7, 1, 1, 100, 41}}) {
        Streams<double> streams;
        Index at = 0;
        for (const Index count : split) {
          const M y = run(x.middleRows(at, count), &streams);
          CHECK((y - whole.middleRows(at, count)).norm() < 1e-12 * whole.norm());
          at += count;
        }
      }
    }
  }
}

TEST_CASE("free energy lies between mean and maximum, and its slope is the divergence over β²") {
  const std::vector<double> p = {0.1, 0.2, 0.3, 0.4};
  const std::vector<double> v = {1.0, -0.5, 2.0, 0.3};
  for (const double lambda : {0.0, 1e-8, 0.3, 1.0 - 1e-8, 1.0}) {
    const HiddenTemperature h = hidden_temperature(p, v, 5.0, lambda);
    CHECK(h.gated >= h.mean);
    CHECK(h.free_energy <= 2.0);
    CHECK(h.free_energy >= 2.0 + std::log(0.3) / 5.0);
    // F(β*) is the gated value: bisection to the last bit, F through a log-sum-exp at β ≥ 1e-9, so 1e-16/1e-9.
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += p[i] * std::expm1(h.beta * v[i]);
    const double f = h.beta > 0 ? std::log1p(sum) / h.beta : h.mean;
    CHECK(f == Approx(h.gated).epsilon(1e-7));
    if (lambda > 0 && lambda < 1e-6) CHECK(h.beta == Approx(lambda * h.beta_slope).epsilon(1e-6));
  }
  CHECK(hidden_temperature(p, v, 5.0, 1.0).beta == 5.0);
  CHECK(hidden_temperature(p, v, 5.0, 0.0).beta == 0.0);
}

TEST_CASE("both parameter budgets hold 4 width² weights") {
  for (const Budget budget : {Budget::half, Budget::two_thirds}) {
    const Index width = 96;
    const MixerSpec spec = mixer_kind<double>("fem_softmax").spec(free_energy_budget(budget, width, 4));
    Index weights = 0;
    for (const Field& field : spec.parameters) weights += field.name[0] == 'W' ? field.rows() * field.cols() : 0;
    CHECK(weights == 4 * width * width);
  }
}

TEST_CASE("gated linear attention by products is its recurrence, with decays per head and without") {
  // Both sum some hundred positive terms; the products' decays are differences of sums up to 40: 1e-16·40·some.
  const Index tokens = 40;
  Tape<double> tape;
  const auto q = tape.input(random_matrix<double>(tokens, 6, 1));
  const auto k = tape.input(random_matrix<double>(tokens, 6, 2));
  const auto v = tape.input(random_matrix<double>(tokens, 4, 3));
  const auto beta = tape.input(M::Constant(1, 4, 1.3));
  const auto decay = tape.input(-random_matrix<double>(tokens, 2, 4).cwiseAbs());
  const auto none = tape.input(M::Zero(tokens, 2));
  const Mask mask = Mask::causal(tokens);
  for (const bool decays : {true, false}) {
    const auto slow = gla_prior<double>(q, k, decays ? decay : none, v, beta, 2, 1e-3, nullptr);
    const auto fast = gla_prior_quadratic<double>(q, k, decays ? &decay : nullptr, v, beta, 2, 1e-3, mask);
    CHECK(test::relative_error(fast.mean.matrix(), slow.mean.matrix()) < 1e-12);
    CHECK(test::relative_error(fast.free_energy.matrix(), slow.free_energy.matrix()) < 1e-12);
  }
}
