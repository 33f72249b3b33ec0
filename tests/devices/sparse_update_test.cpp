// SPDX-License-Identifier: Apache-2.0
// Updates in which most devices get no pulse take those that do alone. They must move as in an update in which all get one.
#include <cmath>
#include <limits>

#include "devices/device_array.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

// Two chunks of 1024 devices and a part of one; every tenth device gets pulses, up and down, 1 to 4.
constexpr Index rows = 50, cols = 53;

bool is_active(Index i) { return i % 10 == 3; }

Matrix<double> some_pulses() {
  Matrix<double> counts = Matrix<double>::Zero(rows, cols);
  for (Index i = 0; i < counts.size(); ++i) {
    if (is_active(i)) counts.data()[i] = static_cast<double>((i / 10) % 2 == 0 ? 1 + i % 4 : -1 - i % 4);
  }
  return counts;
}

DeviceSpec make(const std::string& model) {
  DeviceSpec spec;
  spec.model = model;
  spec.g_min_S = 10e-6;
  spec.g_max_S = 30e-6;
  spec.pulses = 100;
  spec.step_spread = 0.3;
  spec.asymmetry_spread = 0.1;
  spec.upper_bound_spread = spec.lower_bound_spread = 0.05;
  return spec;
}

}  // namespace

TEST_CASE("few pulses move their devices as pulses of all do, and no other", "[devices]") {
  const Matrix<double> few = some_pulses();
  const Matrix<double> all = (few.array() == 0).select(1.0, few);
  for (const char* model : {"constant_step", "linear_step", "soft_bounds", "power_step", "exponential_step"}) {
    CAPTURE(model);
    DeviceArray<double> sparse(make(model), rows, cols, {1, 2, 0}), dense(make(model), rows, cols, {1, 2, 0});
    for (DeviceArray<double>* array : {&sparse, &dense}) array->program(Matrix<double>::Constant(rows, cols, 18e-6), 0);
    const Matrix<double> before = sparse.conductance();
    const PulseCount sent = sparse.pulse(few, 0);
    dense.pulse(all, 0);
    CHECK(static_cast<double>(sent.up) == few.array().max(0).sum());
    CHECK(static_cast<double>(sent.down) == -few.array().min(0).sum());
    CHECK((sparse.cells().writes.array() == few.array().abs()).all());
    double apart = 0, still = 0;
    for (Index i = 0; i < few.size(); ++i) {
      const double other = is_active(i) ? dense.conductance().data()[i] : before.data()[i];
      (is_active(i) ? apart : still) =
          std::max(is_active(i) ? apart : still, std::abs(sparse.conductance().data()[i] - other));
    }
    CHECK(still == 0);
    // The formula is one; vectors of other lengths round exp and log1p in another way, a few units of the last place of 20 uS.
    CHECK(apart < 1e-14 * 20e-6);
  }
}

TEST_CASE("the noise of few pulses has the size of that of many, and is drawn anew", "[devices][statistics]") {
  for (const char* model : {"constant_step", "exponential_step", "piecewise"}) {
    CAPTURE(model);
    DeviceSpec spec = make(model);
    DeviceArray<double> quiet(spec, rows, cols, {1, 2, 0});
    spec.update_noise = 0.3;
    spec.update_noise_floor = 0.4;
    quiet.program(Matrix<double>::Constant(rows, cols, 18e-6), 0);
    DeviceArray<double> noisy(spec, rows, cols, {1, 2, 0}), again(spec, rows, cols, {1, 2, 0});
    noisy.cells().g = again.cells().g = quiet.cells().g;
    const Matrix<double> few = some_pulses(), before = quiet.conductance();
    quiet.pulse(few, 0);
    noisy.pulse(few, 0);
    again.pulse(few, 1);
    double squares = 0, product = 0;
    int n = 0;
    for (Index i = 0; i < few.size(); ++i) {
      if (!is_active(i)) continue;
      const double mean = quiet.conductance().data()[i];
      // In a pulse: .3 of the change by it, and .4 steps of the device.
      const double step = few.data()[i] > 0 ? noisy.cells().step_up.data()[i] : noisy.cells().step_down.data()[i];
      const double change = (mean - before.data()[i]) / std::sqrt(std::abs(few.data()[i]));
      const double size = std::hypot(0.3 * change, 0.4 * step * std::sqrt(std::abs(few.data()[i])));
      const double one = (noisy.conductance().data()[i] - mean) / size;
      squares += one * one;
      product += one * (again.conductance().data()[i] - mean) / size;
      ++n;
    }
    // Mean square of n normal numbers: standard error √(2/n) = .087; mean product of two: 1/√n. 5 of them. Steps bend by a hundredth over
    // four pulses of a hundred in a window, which the first has room for.
    CHECK(squares / n == Approx(1).margin(5 * std::sqrt(2.0 / n)));
    CHECK(std::abs(product / n) < 5 / std::sqrt(n));
  }
}

TEST_CASE("few pulses: dead devices stay, those without a number show it", "[devices]") {
  DeviceSpec spec = make("soft_bounds");
  spec.endurance = 2;
  spec.endurance_failure = EnduranceFailure::stuck;
  DeviceArray<double> array(spec, rows, cols, {1, 2, 0});
  array.program(Matrix<double>::Constant(rows, cols, 18e-6), 0);
  const Matrix<double> few = some_pulses();
  array.pulse(few, 0);
  CHECK((array.cells().writes.array() == few.array().abs().min(2)).all());
  const Matrix<double> last = array.conductance();
  const PulseCount sent = array.pulse(few, 1);
  CHECK(static_cast<double>(sent.up) == few.array().max(0).sum());
  for (Index i = 0; i < few.size(); ++i) {
    if (std::abs(few.data()[i]) > 1) CHECK(array.conductance().data()[i] == last.data()[i]);
  }
  Matrix<double> broken = few;
  broken.data()[3] = std::numeric_limits<double>::quiet_NaN();
  DeviceArray<double> ill(make("soft_bounds"), rows, cols, {1, 2, 0});
  ill.program(Matrix<double>::Constant(rows, cols, 18e-6), 0);
  ill.pulse(broken, 0);
  CHECK(std::isnan(ill.conductance().data()[3]));
  CHECK(ill.conductance().array().isNaN().count() == 1);
  CHECK(ill.cells().writes.data()[3] == 0);
}
