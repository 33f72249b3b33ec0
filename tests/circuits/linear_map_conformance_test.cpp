// SPDX-License-Identifier: Apache-2.0
// What every LinearMap must do; loops over the digital matrix, a crossbar of every registered device model, and every
// mapping.
#include <cmath>
#include <limits>

#include "circuits/linear_map_factory.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "devices/registry.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

constexpr Index kIn = 37;
constexpr Index kOut = 53;
constexpr Index kRows = 11;

std::vector<CrossbarSpec> specs() {
  std::vector<CrossbarSpec> out(1);
  out[0].device.model = digital_model;
  std::vector<std::pair<std::string, MappingKind>> kinds;
  for (const DeviceModel& model : device_models()) kinds.emplace_back(model.name, MappingKind::differential);
  kinds.emplace_back("soft_bounds", MappingKind::reference_column);
  kinds.emplace_back("soft_bounds", MappingKind::offset);
  for (const auto& [model, mapping] : kinds) {
    CrossbarSpec spec;
    spec.device.model = model;
    spec.mapping.kind = mapping;
    spec.device.programming_error = 0.03;
    spec.device.step_spread = 0.2;
    spec.device.upper_bound_spread = 0.1;
    spec.device.asymmetry = 0.2;
    spec.device.update = PulseMode::pulsed;
    spec.device.update_noise = 0.3;
    out.push_back(spec);
  }
  CrossbarSpec scaled = out.back();
  scaled.mapping.scale = ScalePolicy::column;
  out.push_back(scaled);
  CrossbarSpec written = out[out.size() - 2];
  written.device.model = "soft_bounds";
  written.programming.scheme = ProgrammingScheme::open_loop_pulses;
  written.programming.update = UpdateScheme::write_verify;
  out.push_back(written);
  written.programming.scheme = ProgrammingScheme::write_verify;
  written.rule.columns = kOut;  // so that one update is seen
  written.rule.rate = 1;
  for (const RuleKind& kind : rule_kinds()) {
    written.programming.update = kind.update;
    written.mapping.kind = kind.one_sided ? MappingKind::one_sided : MappingKind::offset;
    out.push_back(written);
  }
  return out;
}

template <class S>
Matrix<S> pattern(Index rows, Index cols, double shift) {
  Matrix<S> out(rows, cols);
  for (Index i = 0; i < out.size(); ++i) {
    out.data()[i] = static_cast<S>(std::sin(shift + 1.7 * static_cast<double>(i + 1)));
  }
  return out;
}

template <class S>
std::unique_ptr<LinearMap<S>> make(const CrossbarSpec& spec, double shift = 0.1) {
  return make_linear_map<S>(spec, pattern<S>(kIn, kOut, shift), 4, 77);
}

}  // namespace

TEMPLATE_TEST_CASE("forward and transposed read the same matrix", "[circuits]", float, double) {
  using S = TestType;
  for (const CrossbarSpec& spec : specs()) {
    CAPTURE(spec.device.model);
    const auto map = make<S>(spec);
    REQUIRE(map->inputs() == kIn);
    REQUIRE(map->outputs() == kOut);
    for (const Columns columns : {map->all_columns(), Columns{5, 17}}) {
      const Matrix<S> x = pattern<S>(kRows, kIn, 1.0);
      const Matrix<S> y = pattern<S>(kRows, columns.count, 2.0);
      ReadContext read;
      Matrix<S> xw(kRows, columns.count);
      Matrix<S> yw(kRows, kIn);
      map->forward(x, xw, columns, Store::assign, read);
      map->transposed(y, yw, columns, Store::assign, read);
      // Each array that is read has a number for it.
      const RuleKind* rule = find_rule(spec.programming.update);
      const int arrays = rule != nullptr && rule->share != nullptr ? arrays_per_matrix(spec) : 1;
      CHECK(static_cast<int>(read.read) == 2 * arrays);
      const Matrix<double> w = map->weights().middleCols(columns.begin, columns.count).template cast<double>();
      // A product of length L is within L u Σ|x||w| of the exact one (Higham, Accuracy and Stability, eq. 3.5), L ≤ 53.
      const double u = static_cast<double>(std::numeric_limits<S>::epsilon());
      const double bound = 53 * u * 53;
      CHECK((xw.template cast<double>() - x.template cast<double>() * w).cwiseAbs().maxCoeff() <= bound);
      CHECK((yw.template cast<double>() - y.template cast<double>() * w.transpose()).cwiseAbs().maxCoeff() <= bound);
      // Adjointness ⟨y, xW⟩ = ⟨yWᵀ, x⟩, each side with the error above per term.
      const double left = y.template cast<double>().cwiseProduct(xw.template cast<double>()).sum();
      const double right = x.template cast<double>().cwiseProduct(yw.template cast<double>()).sum();
      CHECK(std::abs(left - right) <= 2 * bound * kRows * kOut);
      // Store::add: one more rounding of numbers below 100.
      const Matrix<S> before = pattern<S>(kRows, columns.count, 3.0);
      Matrix<S> sum = before;
      map->forward(x, sum, columns, Store::add, read);
      CHECK((sum - before - xw).cwiseAbs().maxCoeff() <= static_cast<S>(bound + 100 * u));
    }
  }
}

TEMPLATE_TEST_CASE("a scaled change is the change times its scale", "[circuits]", float, double) {
  using S = TestType;
  for (const CrossbarSpec& spec : specs()) {
    CAPTURE(spec.device.model);
    const auto one = make<S>(spec), other = make<S>(spec);
    const Matrix<S> before = one->weights();
    const Matrix<S> direction = pattern<S>(kIn, kOut, 4.0);
    one->apply({.direction = &direction, .scale = S(-0.05)});
    other->apply_update(S(-0.05) * direction);
    CHECK((one->weights() != before));
    // Numbers take it in one rounding instead of two, of sums below 2.
    CHECK((one->weights() - other->weights()).cwiseAbs().maxCoeff() <= S(4) * std::numeric_limits<S>::epsilon());
  }
}

TEMPLATE_TEST_CASE("a map restored from its state continues with the same bits", "[circuits]", float, double) {
  using S = TestType;
  for (const CrossbarSpec& spec : specs()) {
    CAPTURE(spec.device.model);
    const auto map = make<S>(spec);
    const Matrix<S> delta = S(0.05) * pattern<S>(kIn, kOut, 4.0);
    map->apply_update(delta);
    map->program(map->weights());
    map->apply_update(delta);
    const auto other = make<S>(spec, 0.7);  // as a resumed run builds it: same spec, id and seed, other weights
    const auto saved = map->state();
    const auto restored = other->state();
    REQUIRE(saved.size() == restored.size());
    for (std::size_t i = 0; i < saved.size(); ++i) {
      CHECK(saved[i].name == restored[i].name);
      CHECK(!saved[i].unit.empty());
      CHECK(!saved[i].description.empty());
      REQUIRE(saved[i].values->allFinite());
      *restored[i].values = *saved[i].values;
    }
    other->state_restored();
    CHECK((other->weights() == map->weights()));
    for (const auto& m : {map.get(), other.get()}) {
      m->apply_update(delta);
      m->program(m->weights());
      m->apply_update(delta);
    }
    CHECK((other->weights() == map->weights()));
    CHECK((*other->state().back().values == *map->state().back().values));
  }
}
