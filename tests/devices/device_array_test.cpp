// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "devices/device_array.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

constexpr Index n = 200;

/// Standard deviation of a sample of n² relative to `expected`, minus one, in standard errors √(1/2n²).
double excess(const Eigen::ArrayXXd& sample, double expected) {
  const double variance = (sample - sample.mean()).square().sum() / static_cast<double>(sample.size() - 1);
  return (std::sqrt(variance) / expected - 1) * std::sqrt(2.0 * static_cast<double>(sample.size()));
}

}  // namespace

TEST_CASE("programming error: its standard deviation, and new errors at each programming", "[devices][statistics]") {
  DeviceSpec spec;
  spec.programming_error = 0.02;
  DeviceArray<double> array(spec, n, n, {9, 1, 0});
  const Matrix<double> target = Matrix<double>::Constant(n, n, 12e-6);  // 23 standard deviations from both bounds
  array.program(target, 0);
  const Matrix<double> first = array.conductance();
  // 5 standard errors: false alarm 6e-7.
  CHECK(std::abs(excess((first - target).array(), 0.02 * spec.window_S())) < 5);
  CHECK(std::abs((first - target).mean()) < 5 * 0.02 * spec.window_S() / n);
  array.program(target, 0);
  CHECK((array.conductance() == first));
  array.program(target, 1);
  const Matrix<double> second = array.conductance();
  // Independent errors: the difference has √2 the standard deviation.
  CHECK(std::abs(excess((second - first).array(), std::sqrt(2.0) * 0.02 * spec.window_S())) < 5);
}

TEST_CASE("programming clips to the window", "[devices]") {
  DeviceSpec spec;
  DeviceArray<double> array(spec, 1, 2, {9, 1, 0});
  Matrix<double> target(1, 2);
  target << 1e-3, -1e-3;
  array.program(target, 0);
  CHECK(array.conductance()(0, 0) == Approx(spec.g_max_S).epsilon(1e-14));
  CHECK(array.conductance()(0, 1) == Approx(spec.g_min_S).epsilon(1e-14));
}

TEST_CASE("device-to-device spreads have their standard deviations", "[devices][statistics]") {
  DeviceSpec spec;
  spec.g_min_S = 20e-6;
  spec.g_max_S = 40e-6;
  spec.reference = 0.4;
  spec.step_spread = 0.1;
  spec.asymmetry_spread = 0.05;
  spec.upper_bound_spread = 0.08;
  spec.lower_bound_spread = 0.06;
  spec.asymmetry = 0.2;
  const DeviceArray<double> array(spec, n, n, {9, 1, 0});
  const auto& cells = array.cells();
  // No value is cut off: the floor of 1 % of the mean is more than 7 standard deviations away. 5 standard errors each.
  CHECK(std::abs(excess(cells.upper.array(), 0.08 * 12e-6)) < 5);
  CHECK(std::abs(excess(cells.lower.array(), 0.06 * 8e-6)) < 5);
  const double s = cells.mean_step;
  CHECK(s == Approx(20e-6 / 1000));
  const double step_std = std::hypot(0.1, 0.05) * s;
  CHECK(std::abs(excess(cells.step_up.array(), step_std)) < 5);
  CHECK(std::abs(excess((cells.step_up + cells.step_down).array(), 2 * 0.1 * s)) < 5);
  CHECK(std::abs(excess((cells.step_up - cells.step_down).array(), 2 * 0.05 * s)) < 5);
  CHECK(std::abs(cells.step_up.mean() - s) < 5 * step_std / n);
  CHECK(std::abs(cells.step_down.mean() - 0.8 * s) < 5 * step_std / n);
}

TEST_CASE("log-normal pulse sizes have median 1 and their logarithmic spread", "[devices][statistics]") {
  DeviceSpec spec;
  spec.step_log_spread = 0.7;
  const DeviceArray<double> array(spec, n, n, {9, 1, 0});
  const auto logarithm = (array.cells().step_up.array() / array.cells().mean_step).log().eval();
  // The floor of 1 % is 6.6 standard deviations away. 5 standard errors: false alarm 6e-7 each.
  CHECK(std::abs(excess(logarithm, 0.7)) < 5);
  CHECK(std::abs(logarithm.mean()) < 5 * 0.7 / n);
}

TEST_CASE("arrays with other identities are other devices", "[devices]") {
  DeviceSpec spec;
  spec.step_spread = 0.1;
  const DeviceArray<float> a(spec, 4, 4, {9, 1, 0});
  const DeviceArray<float> same(spec, 4, 4, {9, 1, 0});
  CHECK((a.cells().step_up == same.cells().step_up));
  for (const ArrayIdentity& other : {ArrayIdentity{8, 1, 0}, ArrayIdentity{9, 2, 0}, ArrayIdentity{9, 1, 1}}) {
    const DeviceArray<float> b(spec, 4, 4, other);
    CHECK((a.cells().step_up.array() != b.cells().step_up.array()).all());
  }
}

TEST_CASE("stuck devices of a map stay where they were measured, the others do not know of them", "[devices]") {
  DeviceSpec spec;
  spec.programming_error = 0.02;
  spec.step_spread = 0.2;
  spec.faults.low = 0.5;  // of those that are drawn the map takes some over
  Matrix<double> map = Matrix<double>::Constant(4, 5, std::numeric_limits<double>::quiet_NaN());
  map(0, 0) = 0;
  map(1, 3) = 7e-6;
  map(3, 4) = 90e-6;  // beyond the window of 25 uS
  DeviceArray<double> free(spec, 4, 5, {9, 1, 0}), stuck(spec, 4, 5, {9, 1, 0}, 1, &map);
  const auto compare = [&] {
    for (Index i = 0; i < map.size(); ++i) {
      const bool is_free = std::isnan(map.data()[i]);
      CHECK(stuck.conductance().data()[i] == (is_free ? free.conductance().data()[i] : map.data()[i]));
    }
  };
  compare();
  for (DeviceArray<double>* array : {&free, &stuck}) array->program(Matrix<double>::Constant(4, 5, 12e-6), 0);
  compare();
  for (DeviceArray<double>* array : {&free, &stuck}) array->update(Matrix<double>::Constant(4, 5, 1e-6), -1, 1);
  compare();
  CHECK(stuck.conductance()(0, 0) == 0);
  CHECK(stuck.conductance()(3, 4) == 90e-6);
}
