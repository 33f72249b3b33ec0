// SPDX-License-Identifier: Apache-2.0
// What is done against ageing: a gain that follows it, and devices that are written anew.
#include <cmath>

#include "circuits/crossbar/crossbar.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

Matrix<double> weights() {
  Matrix<double> w(12, 7);
  for (Index i = 0; i < w.size(); ++i) w.data()[i] = std::sin(static_cast<double>(i));
  return w;
}

CrossbarSpec drifting() {
  CrossbarSpec spec;
  spec.device.retention.drift_exponent = 0.05;
  spec.device.retention.drift_start_s = 1;
  return spec;
}

double reading(const Crossbar<double>& array, const std::string& name) {
  for (const MapReading& one : array.readings()) {
    if (one.name == name) return one.value;
  }
  return std::nan("");
}

}  // namespace

TEST_CASE("calibration: a loss that all devices share is undone, in several waits and behind wires", "[circuits]") {
  for (const double ohm : {0.0, 2.0}) {
    CrossbarSpec spec = drifting();
    spec.programming.calibration = 3;
    spec.wires = {ohm, ohm};
    Crossbar<double> array(spec, weights(), 3, 1);
    const Matrix<double> before = array.weights();
    for (const double wait : {10.0, 1e3, 1e5}) array.advance_time(wait, static_cast<std::uint64_t>(wait));
    // Without wires all is one factor, exactly. Behind them less current drops less: (G R N² ~ 25 µS · 2 Ohm · 144 = 0.7 %) of the change, 45 %.
    CHECK((array.weights() - before).cwiseAbs().maxCoeff() < (ohm > 0 ? 5e-3 : 1e-9));
    CHECK(array.siemens_per_weight() ==
          Approx(array.w_max() > 0 ? 24.75e-6 / array.w_max() * std::pow(1e5 + 1010, -0.05) : 0).epsilon(0.01));
    // Reads cost what they read: 3 of all devices twice after the write and after each of three waits.
    CHECK(reading(array, "verify_reads") == 5 * 3 * 2 * 12 * 7);
    // Written again, the gain begins anew.
    array.program(weights());
    CHECK(array.siemens_per_weight() == Approx(24.75e-6 / array.w_max()).epsilon(1e-12));
    // The amplifiers' loads are over the conductance of their feedback, which has grown smaller.
    CHECK((array.weights() - before).cwiseAbs().maxCoeff() < 1e-9);
  }
}

TEST_CASE("calibration: a spread without a common loss leaves the gain near 1, noisy reads move it by their noise",
          "[circuits]") {
  CrossbarSpec spec;
  spec.device.retention.decay_spread_S = 0.5e-6;
  spec.device.retention.decay_start_s = 1;
  spec.programming.calibration = 20;
  Matrix<double> w(40, 30);
  for (Index i = 0; i < w.size(); ++i) w.data()[i] = std::sin(1.3 * static_cast<double>(i));
  Crossbar<double> array(spec, w, 3, 1);
  const double k = array.siemens_per_weight();
  array.advance_time(1e3, 1);
  // <Y0, X D>/<Y0, Y0>, D the change: per device 0.5 µS, of a pair √2 as much over k = 12 µS: 0.058, against weights of rms 0.7 in 1200 numbers:
  // standard deviation 0.058/0.7/√1200 = 2.4e-3 of the projection on W itself, √(1 + 1200/600) times that on 20 inputs: 4e-3. Five of them.
  CHECK(std::abs(array.siemens_per_weight() / k - 1) < 0.02);
  CHECK(array.siemens_per_weight() != k);
}

TEST_CASE("calibration: noise of its reads as large as what they read moves the gain by its spread and not one way",
          "[circuits]") {
  CrossbarSpec spec = drifting();
  spec.device.retention.drift_exponent = 1e-6;
  spec.device.read_noise = 0.2;
  spec.programming.calibration = 1000;
  Matrix<double> w(40, 30);
  for (Index i = 0; i < w.size(); ++i) w.data()[i] = std::sin(1.3 * static_cast<double>(i));
  Crossbar<double> array(spec, w, 3, 1);
  const double k = array.siemens_per_weight();
  array.advance_time(1e3, 1);
  // Noise power over power of an output: 80 devices of sigma against 40 weights.
  const double sigma = spec.device.read_sigma_S(spec.device.g_reference_S()) / std::sqrt(spec.programming.read_time);
  const double noise = 80 * sigma * sigma / (k * k) * 30 / w.squaredNorm();
  REQUIRE(noise > 0.3);
  // Numerator and denominator are sums of 1000 x 30 products of relative variance at most 2 r + r²: five of both together. With its own
  // noise in it, the numerator alone would be 1 + r.
  const double spread = 5 * std::sqrt(2 * (2 * noise + noise * noise) / 30000);
  CHECK(spread < noise / 3);
  CHECK(std::abs(k / array.siemens_per_weight() - 1) < spread);
}

TEST_CASE("calibration and refresh: a resumed array goes on to the same bits", "[circuits]") {
  CrossbarSpec spec = drifting();
  spec.device.programming_error = 0.01;
  spec.device.read_noise = 0.01;
  spec.programming.calibration = 4;
  spec.programming.refresh_s = 70;
  const auto step = [](Crossbar<double>& c, std::uint64_t k) {
    c.apply_update(Matrix<double>::Constant(12, 7, k % 2 ? 1e-2 : -1e-2));
    c.advance_time(30, k);
  };
  Crossbar<double> whole(spec, weights(), 3, 1), resumed(spec, weights(), 3, 1);
  for (std::uint64_t k = 0; k < 4; ++k) step(whole, k);
  const auto from = whole.state(), to = resumed.state();
  REQUIRE(from.size() == to.size());
  for (std::size_t a = 0; a < from.size(); ++a) *to[a].values = *from[a].values;
  resumed.state_restored();
  CHECK((resumed.weights() == whole.weights()));
  for (std::uint64_t k = 4; k < 9; ++k) {
    step(whole, k);
    step(resumed, k);
    CHECK((resumed.weights() == whole.weights()));
  }
  CHECK(whole.writes().programmings == resumed.writes().programmings);
  CHECK(whole.writes().programmings == 1 + 9 * 30 / 70);
}

TEST_CASE("refresh: devices are as old as their last rewriting", "[circuits]") {
  CrossbarSpec spec = drifting();
  spec.programming.refresh_s = 1000;
  Crossbar<double> array(spec, weights(), 3, 1);
  const Matrix<double> meant = array.weights();
  array.advance_time(400, 0);
  CHECK((array.weights() - std::pow(400, -0.05) * meant).cwiseAbs().maxCoeff() < 1e-9);
  array.advance_time(2650, 1);  // 3050 s: rewritten at 1000, 2000 and 3000
  CHECK((array.weights() - std::pow(50, -0.05) * meant).cwiseAbs().maxCoeff() < 1e-9);
  CHECK(array.writes().programmings == 4);
  CHECK_THROWS_WITH(array.advance_time(1e9, 2), Contains("at most 16384 rewritings"));
}
