// SPDX-License-Identifier: Apache-2.0
// Time passes for a crossbar: its weights follow its devices, and a checkpoint keeps their slow state.
#include <cmath>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/digital_matrix.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

Matrix<double> weights() {
  Matrix<double> w(12, 7);
  for (Index i = 0; i < w.size(); ++i) w.data()[i] = std::sin(static_cast<double>(i));
  return w;
}

}  // namespace

TEST_CASE("advance_time: a drifting pair shrinks its weight by the drift of both devices", "[circuits]") {
  CrossbarSpec spec;
  spec.device.retention.drift_exponent = 0.05;
  spec.device.retention.drift_start_s = 1;
  Crossbar<double> crossbar(spec, weights(), 3, 1);
  const Matrix<double> before = crossbar.weights();
  crossbar.advance_time(0.5, 0);
  CHECK((crossbar.weights() == before));
  crossbar.advance_time(1e4 - 0.5, 1);
  // Both devices of a pair lose the factor 1e4^-0.05, so does their difference, to rounding (12 uS over weights of 1e-3).
  CHECK((crossbar.weights() - std::pow(1e4, -0.05) * before).cwiseAbs().maxCoeff() < 1e-10);
}

TEST_CASE("advance_time: the slow state of both arrays is in the checkpoint", "[circuits]") {
  CrossbarSpec spec;
  spec.device.retention.drift_exponent = 0.05;
  spec.device.retention.drift_spread = 0.01;
  spec.device.retention.drift_start_s = 1e-3;
  spec.device.telegraph = {0.5, 0.05, 0, 1e-3, 1e-3, 0};
  spec.device.flicker.noise = 0.01;
  spec.device.programming.write_noise = 5;
  const auto step = [](Crossbar<double>& c, std::uint64_t k) {
    c.apply_update(Matrix<double>::Constant(12, 7, k % 2 ? 1e-2 : -1e-2));
    c.advance_time(1e-3 * static_cast<double>(k), k);
  };
  Crossbar<double> whole(spec, weights(), 3, 1);
  Crossbar<double> resumed(spec, weights(), 3, 1);
  for (std::uint64_t k = 0; k < 5; ++k) step(whole, k);
  const auto from = whole.state();
  const auto to = resumed.state();
  REQUIRE(from.size() == to.size());
  REQUIRE(from.size() > 12);
  for (std::size_t a = 0; a < from.size(); ++a) {
    CHECK(from[a].name == to[a].name);
    *to[a].values = *from[a].values;
  }
  resumed.state_restored();
  CHECK((resumed.weights() == whole.weights()));
  for (std::uint64_t k = 5; k < 10; ++k) {
    step(whole, k);
    step(resumed, k);
  }
  CHECK((resumed.weights() == whole.weights()));
}

TEST_CASE("advance_time: reads take devices to their target, waiting does not, however the time is cut", "[circuits]") {
  CrossbarSpec spec;
  spec.device.retention.read_disturb_time_s = 2;
  spec.device.retention.read_disturb_target = 0.25;
  Crossbar<double> whole(spec, weights(), 1, 1), cut(spec, weights(), 1, 1);
  const Matrix<double> before = whole.plus().conductance();
  whole.advance_time(5, 0);
  CHECK((whole.plus().conductance() == before));
  whole.advance_time({5, 1}, 1);
  for (std::uint64_t k = 0; k < 1000; ++k) cut.advance_time({5e-3, 1e-3}, k);
  const double target = spec.device.g_min_S + 0.25 * spec.device.window_S();
  const Matrix<double> expected = (target + (before.array() - target) * std::exp(-0.5)).matrix();
  // A product of 1000 exponentials errs by 1000 roundings.
  CHECK(whole.plus().conductance().isApprox(expected, 1e-13));
  CHECK(cut.plus().conductance().isApprox(expected, 1e-12));
}

TEST_CASE("advance_time: reads do not throw devices back that stand beyond their window", "[circuits]") {
  CrossbarSpec spec;
  spec.device.model = "ideal";  // has no bounds
  spec.device.retention.read_disturb_time_s = 2;
  Crossbar<double> array(spec, weights(), 1, 1);
  array.apply_update(Matrix<double>::Constant(12, 7, 100));
  const Matrix<double> before = array.plus().conductance();
  REQUIRE(before.maxCoeff() > 1.1 * spec.device.g_max_S);
  array.advance_time({1, 1}, 0);
  const double target = spec.device.g_max_S;
  CHECK(array.plus().conductance().isApprox((target + (before.array() - target) * std::exp(-0.5)).matrix(), 1e-13));
}

TEST_CASE("advance_time: exact weights do not change", "[circuits]") {
  DigitalMatrix<double> digital(weights());
  digital.advance_time(1e9, 0);
  CHECK((digital.weights() == weights()));
}
