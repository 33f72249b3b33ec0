// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "mixers/attention/gradient_descent.hpp"
#include "mixers/attention/heads.hpp"
#include "mixers/fem/free_energy_mixer.hpp"
#include "mixers/mixer.hpp"
#include "sim/base/errors.hpp"
#include "tests/mixers/derivative_checks.hpp"

using namespace nudge;
using test::random_matrix;

namespace {

constexpr Index kTokens = 6;

template <class S>
Matrix<S> start(const Field& field, std::uint64_t seed, double deviation) {
  const Index rows = field.rows() < 0 ? kTokens : field.rows();
  Matrix<S> m = random_matrix<S>(rows, field.cols(), seed, deviation);
  m.array() += static_cast<S>(field.mean);
  return m;
}

/// Options with which a kind is tested: its defaults, and for some kinds variants.
std::vector<MixerOptions> variants(const std::string& name) {
  MixerOptions base;
  if (name == "linattn" || name == "glinattn") {
    base.heads = 1;
    base.of<AttentionOptions>().head_width = base.width;
  }
  base.of<FreeEnergyOptions>().epsilon =
      0.1;  // gla's features 1e-6 apart from a kink of relu bend too much for a difference with h = 1e-5
  std::vector<MixerOptions> all = {base};
  const auto variant = [&](auto change) {
    all.push_back(base);
    change(all.back());
  };
  if (name.rfind("loop", 0) == 0) variant([](MixerOptions& o) { o.of<DescentOptions>().refresh = false; });
  if (name.rfind("fem", 0) == 0) {
    variant([](MixerOptions& o) { o.of<FreeEnergyOptions>().modulation = Modulation::before; });
    variant([](MixerOptions& o) { o.of<FreeEnergyOptions>().modulation = Modulation::after; });
    variant([](MixerOptions& o) { o.of<FreeEnergyOptions>().log_sum_exp = false; });
    variant([](MixerOptions& o) { o.of<FreeEnergyOptions>().inner_gate = false; });
    variant([](MixerOptions& o) { o.of<FreeEnergyOptions>().outer_gate = false; });
  }
  if (name == "fem_softmax") variant([](MixerOptions& o) { o.rope = true; });
  if (name == "fem_gla") {
    variant([](MixerOptions& o) { o.of<FreeEnergyOptions>().decays = o.of<FreeEnergyOptions>().keys; });
    variant([](MixerOptions& o) { o.of<FreeEnergyOptions>().decays = 0; });
    variant([](MixerOptions& o) { o.of<FreeEnergyOptions>().quadratic = true; });
    variant([](MixerOptions& o) {
      o.of<FreeEnergyOptions>().quadratic = true;
      o.of<FreeEnergyOptions>().decays = 0;
    });
  }
  if (name == "mha" || name == "light2nd1st") variant([](MixerOptions& o) { o.rope = true; });
  return all;
}

template <class S>
std::vector<Matrix<S>> leaves(const MixerSpec& spec) {
  std::vector<Matrix<S>> all;
  std::uint64_t seed = 1;
  for (const Field& field : spec.inputs) all.push_back(start<S>(field, seed++, 1.0));
  for (const Field& field : spec.parameters) all.push_back(start<S>(field, seed++, field.mean != 0 ? 0.1 : 0.4));
  return all;
}

template <class S>
std::vector<Value<S>> forward(const MixerKind<S>& kind, const MixerOptions& options, const MixerSpec& spec,
                              const std::vector<Value<S>>& x, const Mask& mask = Mask::causal(kTokens)) {
  MixerCall<S> call{options, {}, {}, mask};
  std::size_t at = 0;
  for (const Field& field : spec.inputs) call.inputs.add(field.name, x[at++]);
  for (const Field& field : spec.parameters) call.parameters.add(field.name, x[at++]);
  kind.forward(call);
  return call.outputs;
}

}  // namespace

TEST_CASE("every mixer: adjoint, parameter gradients, central difference") {
  for (const auto& kind : mixer_kinds<double>()) {
    int number = 0;
    for (const MixerOptions& options : variants(kind.name)) {
      CAPTURE(kind.name, number++);
      const MixerSpec spec = kind.spec(options);
      std::vector<Mask> masks = {Mask::causal(kTokens)};
      if (!spec.only_causal) {
        masks.push_back(Mask::full(kTokens, kTokens));
        masks.push_back(Mask::causal_window(kTokens, 2));
      }
      for (const Mask& mask : masks) {
        test::check_derivatives({leaves<double>(spec), [&](const std::vector<Value<double>>& x) {
                                   return forward(kind, options, spec, x, mask);
                                 }});
      }
    }
  }
}

TEST_CASE("every mixer: outputs as the spec says, causal, and float near double") {
  for (const auto& kind : mixer_kinds<double>()) {
    for (const MixerOptions& options : variants(kind.name)) {
      CAPTURE(kind.name);
      const MixerSpec spec = kind.spec(options);
      auto values = leaves<double>(spec);
      const auto run = [&](const auto& with, const auto& matrices, auto& tape) {
        std::vector<std::decay_t<decltype(tape.input(matrices[0]))>> x;
        for (const auto& m : matrices) x.push_back(tape.input(m));
        return forward(with, options, spec, x);
      };
      Tape<double> tape;
      const auto y = run(kind, values, tape);
      REQUIRE(y.size() == spec.outputs.size());
      for (std::size_t k = 0; k < y.size(); ++k) {
        CHECK(y[k].rows() == kTokens);
        CHECK(y[k].cols() == spec.outputs[k].cols());
      }
      // float: rounding 6e-8 of numbers up to about ten, through some ten operations: 1e-4 is generous, a wrong path is
      // order one.
      std::vector<Matrix<float>> single;
      for (const auto& m : values) single.push_back(m.cast<float>());
      Tape<float> float_tape;
      const auto z = run(mixer_kind<float>(kind.name), single, float_tape);
      CHECK(test::relative_error(z[0].matrix(), y[0].matrix()) < 1e-4);
      // Changing the last token leaves all rows before it alone, to rounding of the blocked products.
      for (std::size_t k = 0; k < spec.inputs.size(); ++k) values[k].row(kTokens - 1) *= -2.0;
      Tape<double> changed;
      const auto late = run(kind, values, changed);
      const Index before = kTokens - 1;
      CHECK((late[0].matrix() - y[0].matrix()).topRows(before).norm() < 1e-13 * y[0].matrix().norm());
      CHECK((late[0].matrix() - y[0].matrix()).row(before).norm() > 1e-3);
    }
  }
}

TEST_CASE("attention steps are gradient descent on their energy") {
  // One step against a fixed context is exactly −η ∂F/∂z, F the sum of the tokens' energies. Tolerance: rounding.
  MixerOptions options;
  for (const PairEnergy kind : {PairEnergy::elastic, PairEnergy::inner}) {
    Tape<double> tape;
    const auto z = tape.input(random_matrix<double>(kTokens, options.width, 1));
    const auto context = tape.constant(random_matrix<double>(kTokens, options.width, 2));
    const auto w1 = tape.constant(
        random_matrix<double>(options.heads * options.of<AttentionOptions>().head_width, options.width, 3, 0.4));
    const auto w2 = tape.constant(
        random_matrix<double>(options.heads * options.of<AttentionOptions>().head_width, options.width, 4, 0.4));
    const auto step = energy_step(kind, z, context, w1, w2, options, Mask::causal(kTokens));
    tape.add_cotangent(step.energy, Matrix<double>::Ones(kTokens, 1));
    tape.pull_back();
    const Matrix<double> moved = step.z.matrix() - z.matrix();
    CHECK((moved + options.of<DescentOptions>().eta * tape.cotangent(z)).norm() < 1e-13 * moved.norm());
  }
}

TEST_CASE("a fixed context makes the energy fall") {
  MixerOptions options;
  options.of<DescentOptions>().refresh = false;
  options.observe = true;
  options.iterations = 8;
  options.of<DescentOptions>().eta = 0.2;
  for (const char* name : {"loop_inner", "loop_elastic"}) {
    const auto& kind = mixer_kind<double>(name);
    const MixerSpec spec = kind.spec(options);
    Tape<double> tape;
    MixerCall<double> call{options, {}, {}, Mask::causal(kTokens)};
    const auto values = leaves<double>(spec);
    call.inputs.add("z", tape.input(values[0]));
    call.parameters.add("W1", tape.input(values[1]));
    call.parameters.add("W2", tape.input(values[2]));
    kind.forward(call);
    REQUIRE(call.observed.all().size() == 8);
    for (std::size_t k = 1; k < 8; ++k) {
      const Matrix<double>& now = call.observed.all()[k].second.matrix();
      const Matrix<double>& last = call.observed.all()[k - 1].second.matrix();
      CHECK((now - last).maxCoeff() < 1e-12);
    }
  }
}

TEST_CASE("mixers refuse wrong options, naming them") {
  const auto refuses = [](const char* kind, auto change, const std::string& word) {
    MixerOptions options;
    change(options);
    CHECK_THROWS_WITH(mixer_kind<double>(kind).spec(options), Catch::Contains(word));
  };
  refuses(
      "gd_inner", [](MixerOptions& o) { o.of<DescentOptions>().temperature = 0; }, "temperature = 0");
  refuses(
      "light2nd", [](MixerOptions& o) { o.of<DescentOptions>().ridge = -1; }, "ridge = -1");
  refuses(
      "mha", [](MixerOptions& o) { o.heads = 0; }, "heads = 0");
  for (const char* kind : {"mha", "mha2nd", "light2nd1st", "nag_stack"}) {
    refuses(
        kind,
        [](MixerOptions& o) {
          o.of<AttentionOptions>().head_width = 3;
          o.rope = true;
        },
        "head_width = 3 is odd");
  }
  refuses(
      "fem_softmax", [](MixerOptions& o) { o.heads = 3; }, "heads = 3");
  refuses(
      "fem_gla",
      [](MixerOptions& o) {
        o.of<FreeEnergyOptions>().keys = 6;
        o.of<FreeEnergyOptions>().values = 6;
      },
      "odd");
  refuses(
      "fem_softmax",
      [](MixerOptions& o) {
        o.of<FreeEnergyOptions>().keys = 6;
        o.rope = true;
      },
      "odd");
  CHECK_THROWS_AS(mixer_kind<double>("mhaa"), UserError);
}
