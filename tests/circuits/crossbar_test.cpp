// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/crossbar.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <limits>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/digital_matrix.hpp"
#include "circuits/linear_map_factory.hpp"
#include "devices/device_config.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/config.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

template <class S>
Matrix<S> normals(Index rows, Index cols, std::uint32_t which) {
  Matrix<S> out(rows, cols);
  fill_normal<S>({11, Purpose::synthetic_data, which}, 0, 0, {out.data(), static_cast<std::size_t>(out.size())});
  return out;
}

CrossbarSpec with(const std::string& model) {
  CrossbarSpec spec;
  spec.device.model = model;
  return spec;
}

}  // namespace

TEMPLATE_TEST_CASE("ideal devices reproduce the digital matrix to rounding", "[circuits]", float, double) {
  using S = TestType;
  const Matrix<S> w = normals<S>(60, 40, 0);
  Crossbar<S> crossbar(with("ideal"), w, 0, 1);
  DigitalMatrix<S> digital(w);
  const auto worst = [&] {
    return static_cast<double>((crossbar.weights() - digital.weights()).cwiseAbs().maxCoeff());
  };
  // A conductance is stored with a relative error of eps/2, which is at most eps/2 · 1.02 w_max/2 · 2 of weight for the
  // pair; each programming or update adds four such roundings, and the window here is at most doubled by them.
  const double unit = 8 * static_cast<double>(std::numeric_limits<S>::epsilon() * crossbar.w_max());
  CHECK(worst() <= unit);
  for (std::uint64_t step = 0; step < 5; ++step) {
    const Matrix<S> delta = S(0.1) * normals<S>(60, 40, static_cast<std::uint32_t>(step + 1));
    crossbar.apply_update(delta);
    digital.apply_update(delta);
  }
  CHECK(worst() <= 6 * unit);
  const Matrix<S> target = S(3) * normals<S>(60, 40, 20);
  crossbar.program(target);
  digital.program(target);
  CHECK(worst() <= 2 * unit);
  const Matrix<S> x = normals<S>(9, 60, 30);
  Matrix<S> a(9, 40);
  Matrix<S> b(9, 40);
  ReadContext read;
  crossbar.forward(x, a, {0, 40}, Store::assign, read);
  digital.forward(x, b, {0, 40}, Store::assign, read);
  // 60 inputs below 5 in size, each with the weight error above.
  CHECK(static_cast<double>((a - b).cwiseAbs().maxCoeff()) <= 60 * 5 * 2 * unit);
}

TEST_CASE("the scale: headroom, fixed w_max, keep and renew", "[circuits]") {
  Matrix<double> w(1, 2);
  w << 0.5, -0.25;
  CrossbarSpec spec = with("constant_step");
  Crossbar<double> keep(spec, w, 0, 1);
  CHECK(keep.w_max() == Approx(1.0));
  CHECK(keep.plus().conductance()(0, 0) == Approx(12.625e-6 + 0.25 * 24.75e-6));
  CHECK(keep.minus().conductance()(0, 0) == Approx(12.625e-6 - 0.25 * 24.75e-6));
  keep.program(4 * w);
  CHECK(keep.weights()(0, 0) == Approx(1.0));  // clipped: 2 does not fit
  CHECK(keep.weights()(0, 1) == Approx(-1.0));
  spec.mapping.scale = ScalePolicy::renew;
  Crossbar<double> renew(spec, w, 0, 1);
  renew.program(4 * w);
  CHECK(renew.w_max() == Approx(4.0));
  CHECK(renew.weights()(0, 0) == Approx(2.0));
  spec.mapping.w_max = 3;
  CHECK(Crossbar<double>(spec, w, 0, 1).w_max() == Approx(3.0));
  CHECK(Crossbar<double>(with("soft_bounds"), Matrix<double>::Zero(2, 2), 0, 1).w_max() == Approx(1.0));
}

TEST_CASE("programming error of weights", "[circuits][statistics]") {
  CrossbarSpec spec = with("soft_bounds");
  spec.device.programming_error = 0.01;
  spec.mapping.headroom = 1.5;  // the window ends 16 standard deviations beyond the largest weight
  const Matrix<double> w = normals<double>(200, 200, 0);
  const Crossbar<double> crossbar(spec, w, 0, 1);
  const Eigen::ArrayXXd error = (crossbar.weights() - w).array();
  // w = (G⁺ − G⁻) w_max/window with independent errors: std √2 · 0.01 w_max. 40000 samples, 5 standard errors.
  const double expected = std::sqrt(2.0) * 0.01 * crossbar.w_max();
  CHECK(std::abs(std::sqrt(error.square().mean()) / expected - 1) <= 5 / std::sqrt(2.0 * 40000));
  CHECK(std::abs(error.mean()) <= 5 * expected / 200);
}

TEST_CASE("updates are split on the pair and bounded", "[circuits]") {
  CrossbarSpec spec = with("soft_bounds");
  spec.device.asymmetry = 0.4;
  spec.device.pulses = 100;
  Matrix<double> w(1, 1);
  w << 0.25;
  Crossbar<double> crossbar(spec, w, 0, 1);
  const double plus = crossbar.plus().conductance()(0, 0);
  const double minus = crossbar.minus().conductance()(0, 0);
  const double window = spec.device.window_S();
  // w_max = 0.5: one pulse (window/100) on each device is asked for by δ = 2/100 · w_max = 0.01.
  crossbar.apply_update(Matrix<double>::Constant(1, 1, 0.01));
  const double up = window / 100 * (spec.device.g_max_S - plus) / (window / 2);
  const double down = 0.6 * window / 100 * (minus - spec.device.g_min_S) / (window / 2);
  CHECK(crossbar.plus().conductance()(0, 0) - plus == Approx(up).epsilon(1e-9));
  CHECK(minus - crossbar.minus().conductance()(0, 0) == Approx(down).epsilon(1e-9));
  CHECK(crossbar.pulses().up == 1);
  CHECK(crossbar.pulses().down == 1);
  crossbar.apply_update(Matrix<double>::Constant(1, 1, 100));
  CHECK(crossbar.weights()(0, 0) <= crossbar.w_max() * (1 + 1e-12));
  CHECK(crossbar.weights()(0, 0) >= 0.99 * crossbar.w_max());

  SECTION("alternating updates drive the weight to the symmetry point of the pair, zero") {
    for (std::uint64_t step = 0; step < 4000; ++step) {
      crossbar.apply_update(Matrix<double>::Constant(1, 1, step % 2 ? -0.01 : 0.01));
    }
    // After the last down pulse G⁺ is one step below, G⁻ one step above the symmetry point: within a pulse of weight.
    CHECK(std::abs(crossbar.weights()(0, 0)) <= 0.01);
  }
}

TEST_CASE("the same seed and id give the same devices for any number of threads", "[circuits]") {
  CrossbarSpec spec = with("soft_bounds");
  spec.device.programming_error = 0.02;
  spec.device.step_spread = 0.2;
  spec.device.update_noise = 0.5;
  spec.device.update = PulseMode::pulsed;
  const Matrix<float> w = normals<float>(60, 70, 0);
  const Matrix<float> delta = 0.02F * normals<float>(60, 70, 1);
  Crossbar<float> one(spec, w, 3, 9);
  spec.threads = 3;
  Crossbar<float> three(spec, w, 3, 9);
  Crossbar<float> other(spec, w, 4, 9);
  for (auto* crossbar : {&one, &three, &other}) crossbar->apply_update(delta);
  CHECK((one.weights() == three.weights()));
  CHECK((one.weights() != other.weights()));
}

TEST_CASE("bad input to a crossbar", "[circuits]") {
  const Matrix<double> w = Matrix<double>::Ones(2, 2);
  CrossbarSpec spec = with("soft_bounds");
  SECTION("window") {
    spec.device.g_min_S = 1;
    CHECK_THROWS_WITH(Crossbar<double>(spec, w, 0, 1), Contains("device.g_min") && Contains("must be <"));
    CHECK_THROWS_AS(validate_linear_map(spec), UserError);
  }
  SECTION("headroom and w_max") {
    spec.mapping.headroom = 0.5;
    CHECK_THROWS_WITH(Crossbar<double>(spec, w, 0, 1), Contains("crossbar.headroom = 0.5"));
    spec.mapping.headroom = 2;
    spec.mapping.w_max = -1;
    CHECK_THROWS_WITH(Crossbar<double>(spec, w, 0, 1), Contains("crossbar.w_max = -1"));
  }
  SECTION("weights that are not finite") {
    Matrix<double> bad = w;
    bad(1, 0) = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH(Crossbar<double>(spec, bad, 5, 1), Contains("crossbar 5") && Contains("(1, 0)"));
    Crossbar<double> crossbar(spec, w, 5, 1);
    CHECK_THROWS_AS(crossbar.program(bad), UserError);
    CHECK(crossbar.weights()(1, 0) == Approx(1));
  }
  SECTION("unknown model") {
    spec.device.model = "linearstep";
    CHECK_THROWS_WITH(make_linear_map<double>(spec, w, 0, 1), Contains("did you mean linear_step?"));
    spec.device.model = digital_model;
    CHECK_NOTHROW(validate_linear_map(spec));
  }
}

TEST_CASE("the crossbar of a configuration", "[circuits]") {
  ConfigSchema schema;
  schema.table = device_param_rows();
  for (const ParamRow& row : crossbar_section().rows()) schema.table.push_back(row);
  const CrossbarSpec spec = crossbar_spec(
      parse_config(schema, "run.toml",
                   "[device]\nmodel = 'ideal'\n[crossbar]\nheadroom = 3\nscale = 'renew'\nmapping = 'offset'\n"
                   "transposed_adc_bits = 6\nforward_offset = '2 mV'\n"
                   "[circuit]\nread_voltage = '100 mV'\nshot_noise = true\n"));
  CHECK(spec.device.model == "ideal");
  CHECK(spec.mapping.headroom == 3);
  CHECK(spec.mapping.w_max == 0);
  CHECK(spec.mapping.scale == ScalePolicy::renew);
  CHECK(spec.mapping.kind == MappingKind::offset);
  CHECK(spec.periphery.transposed.adc.bits == 6);
  CHECK(spec.periphery.forward.adc.bits == 0);
  CHECK(spec.periphery.forward.amplifier.offset_V == 2e-3);
  CHECK(spec.circuit.read_voltage_V == 0.1);
  CHECK(spec.circuit.shot_noise);
}
