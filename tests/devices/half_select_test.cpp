// SPDX-License-Identifier: Apache-2.0
// What cells receive that are not selected, against counting by hand and against closed forms of the differential equation.
#include "devices/pulse_effects.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "devices/device_array.hpp"
#include "sim/base/errors.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// Thresholds so low that half a pulse moves it, no window: x moves at constant speed k (v/v_th − 1)^alpha.
DeviceSpec sensitive(WriteBias bias) {
  DeviceSpec spec;
  spec.model = "vteam";
  spec.g_min_S = 1e-6;
  spec.g_max_S = 2e-6;
  spec.shape = {{"threshold_up", 0.2}, {"threshold_down", -0.25}, {"window", 0},        {"alpha_up", 2},
                {"alpha_down", 2},     {"pulse_up", 1},           {"pulse_down", -1.2}, {"pulse_width", 1e-8}};
  spec.lines.bias = bias;
  return spec;
}

double state(const DeviceSpec& spec, double g) {
  return (1 / g - 1 / spec.g_min_S) / (1 / spec.g_max_S - 1 / spec.g_min_S);
}

/// What one pulse of a part of the voltage moves the state by.
double way(const DeviceSpec& spec, double volts) {
  const bool up = volts > 0;
  const double threshold = spec.shape_value(up ? "threshold_up" : "threshold_down");
  const double over = volts / threshold - 1;
  if (over <= 0) return 0;
  return (up ? 1 : -1) * spec.shape_value(up ? "k_up" : "k_down") * over * over * spec.shape_value("pulse_width");
}

}  // namespace

TEST_CASE("writing every cell of an array once half-selects each N + M - 2 times", "[devices]") {
  const Matrix<double> once = Matrix<double>::Ones(5, 7);
  CHECK(disturb_counts(once, {WriteBias::half}).along == Matrix<double>::Constant(5, 7, 10));
  CHECK(disturb_counts(once, {WriteBias::half}).opposite.isZero(0));
  const auto third = disturb_counts(once, {WriteBias::third});
  CHECK(third.along == Matrix<double>::Constant(5, 7, 10));
  CHECK(third.opposite == Matrix<double>::Constant(5, 7, 4 * 6));  // every cell of other rows and columns
  // Lines end with their tiles of 3 x 4: the corner tile has 2 x 3 cells.
  const auto tiles = disturb_counts(once, {WriteBias::third, 3, 4});
  CHECK(tiles.along(0, 0) == 3 + 4 - 2);
  CHECK(tiles.along(4, 6) == 2 + 3 - 2);
  CHECK(tiles.opposite(4, 6) == 1 * 2);
  // Against counting pulse by pulse.
  Matrix<double> n(3, 4);
  n << 2, 0, 1, 5, 0, 0, 3, 0, 1, 4, 0, 2;
  Matrix<double> along = Matrix<double>::Zero(3, 4), opposite = along;
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 4; ++j) {
      for (Index a = 0; a < 3; ++a) {
        for (Index b = 0; b < 4; ++b) {
          if ((a == i) != (b == j)) along(a, b) += n(i, j);
          if (a != i && b != j) opposite(a, b) += n(i, j);
        }
      }
    }
  }
  CHECK(disturb_counts(n, {WriteBias::third}).along == along);
  CHECK(disturb_counts(n, {WriteBias::third}).opposite == opposite);
}

TEST_CASE("cells of the selected lines move by pulses of half or a third of the voltage", "[devices]") {
  for (const WriteBias bias : {WriteBias::isolated, WriteBias::half, WriteBias::third}) {
    const DeviceSpec spec = sensitive(bias);
    DeviceArray<double> array(spec, 4, 5, {});
    array.cells().g.setConstant(1.4e-6);
    const double x0 = state(spec, 1.4e-6);
    Matrix<double> counts = Matrix<double>::Zero(4, 5);
    counts(1, 2) = 3;
    counts(3, 0) = -2;
    array.pulse(counts, 0);
    const double part = bias == WriteBias::half ? 0.5 : 1.0 / 3;
    for (Index i = 0; i < 4; ++i) {
      for (Index j = 0; j < 5; ++j) {
        double x = x0;
        if (counts(i, j) > 0) x += 3 * way(spec, 1);
        if (counts(i, j) < 0) x += 2 * way(spec, -1.2);
        const auto lines = [&](Index a, Index b) { return (a == i ? 1 : 0) + (b == j ? 1 : 0); };
        if (bias != WriteBias::isolated) {
          if (lines(1, 2) == 1) x += 3 * way(spec, part);
          if (lines(3, 0) == 1) x += 2 * way(spec, -1.2 * part);
        }
        if (bias == WriteBias::third) {
          if (lines(1, 2) == 0) x += 3 * way(spec, -part);       // minus a third of the up pulse
          if (lines(3, 0) == 0) x += 2 * way(spec, 1.2 * part);  // and of the down pulse
        }
        // The speed does not depend on the state: a table of it is exact to rounding, of the state over its range.
        CHECK(state(spec, array.conductance()(i, j)) == Approx(x).margin(1e-9));
      }
    }
    CHECK(array.cells().writes.sum() == 5);  // no wear of those that were not selected
  }
}

TEST_CASE("half-selected cells heat too, and single devices disturb as whole arrays do", "[devices]") {
  DeviceSpec spec = sensitive(WriteBias::half);
  spec.shape["threshold_up"] = 0.6;  // half a pulse moves nothing: conductances stay what they are
  DeviceArray<double> array(spec, 3, 3, {});
  array.cells().g.setConstant(1.5e-6);
  array.pulse(std::vector<Index>{4}, Matrix<double>::Ones(1, 1), 0);
  const double own = 0.5 * (1.5e-6 + array.conductance()(1, 1)) * 1e-8;
  CHECK(array.pulse_heat().total_J() == Approx(own + 4 * 0.25 * 1.5e-6 * 1e-8).epsilon(1e-12));
  CHECK(array.pulse_heat().total_s() == Approx(1e-8).epsilon(1e-12));
  CHECK(array.conductance()(0, 0) == 1.5e-6);
  spec.shape["threshold_up"] = 0.2;
  DeviceArray<double> one(spec, 3, 3, {}), all(spec, 3, 3, {});
  Matrix<double> counts = Matrix<double>::Zero(3, 3);
  counts(1, 1) = 2;
  one.pulse(std::vector<Index>{4}, Matrix<double>::Constant(1, 1, 2), 0);
  all.pulse(counts, 0);
  CHECK(one.conductance() == all.conductance());
  CHECK(one.conductance()(0, 1) > one.conductance()(0, 0));
}

TEST_CASE("other amplitudes and widths are those of the differential equation", "[devices]") {
  const DeviceSpec spec = sensitive(WriteBias::isolated);
  DeviceArray<double> array(spec, 1, 2, {});
  array.cells().g.setConstant(1.4e-6);
  Matrix<double> counts(1, 2);
  counts << 2, -3;
  array.pulse({0, 1}, counts, 0, {1, 0.3, 1.5});
  const double x0 = state(spec, 1.4e-6);
  CHECK(state(spec, array.conductance()(0, 0)) == Approx(x0 + 2 * 1.5 * way(spec, 1.3)).margin(1e-9));
  CHECK(state(spec, array.conductance()(0, 1)) == Approx(x0 + 3 * 1.5 * way(spec, -1.5)).margin(1e-9));
  CHECK(array.pulse_heat().total_s() == Approx(5 * 1.5e-8).epsilon(1e-12));
}

TEST_CASE("disturb needs volts and no gate", "[devices]") {
  DeviceSpec spec;
  spec.lines.bias = WriteBias::half;
  CHECK_THROWS_WITH(spec.validate(), Contains("have no volts"));
  spec = sensitive(WriteBias::third);
  CHECK_NOTHROW(spec.validate());
  spec.selector.kind = SelectorKind::transistor;
  CHECK_THROWS_WITH(spec.validate(), Contains("gate off"));
}
