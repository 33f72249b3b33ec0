// SPDX-License-Identifier: Apache-2.0
// What every device model must do; loops over the registry, so a new model is tested by being listed.
#include <cmath>
#include <limits>

#include "devices/device_array.hpp"
#include "devices/presets.hpp"
#include "devices/registry.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

DeviceSpec plain(const std::string& model) {
  DeviceSpec spec;
  spec.model = model;
  spec.pulses = 200;
  spec.asymmetry = 0.3;
  return spec;
}

DeviceSpec rough(const std::string& model) {
  DeviceSpec spec = plain(model);
  spec.update = PulseMode::pulsed;
  spec.update_noise = 0.5;
  spec.step_spread = 0.3;
  spec.asymmetry_spread = 0.1;
  spec.upper_bound_spread = 0.3;
  spec.lower_bound_spread = 0.3;
  spec.programming_error = 0.1;
  return spec;
}

/// Numbers spread over (−1, 1), without a random generator.
template <class S>
Matrix<S> pattern(Index rows, Index cols) {
  Matrix<S> out(rows, cols);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = static_cast<S>(std::sin(1.7 * static_cast<double>(i + 1)));
  return out;
}

template <class S>
DeviceArray<S> spread_over_window(const DeviceSpec& spec, Index rows, Index cols, int threads = 1,
                                  std::uint64_t seed = 5) {
  DeviceArray<S> array(spec, rows, cols, {seed, 3, 0}, threads);
  const auto middle = static_cast<S>(0.5 * (spec.g_min_S + spec.g_max_S));
  array.program((middle + static_cast<S>(0.45 * spec.window_S()) * pattern<S>(rows, cols).array()).matrix(), 0);
  return array;
}

}  // namespace

TEST_CASE("every device model is documented", "[devices]") {
  REQUIRE(device_models().size() >= 5);
  for (const DeviceModel& model : device_models()) {
    CAPTURE(model.name);
    for (const std::string& text : {model.summary, model.equation, model.source, model.limits, model.not_modelled}) {
      CHECK(!text.empty());
    }
    std::vector<DeviceParameter> rows = device_parameters();
    rows.insert(rows.end(), model.shape.begin(), model.shape.end());
    for (const DeviceParameter& row : rows) {
      CAPTURE(row.name);
      CHECK(!row.unit.empty());
      CHECK(!row.doc.empty());
      CHECK(!row.source.empty());
      CHECK(row.contains(row.default_value));
    }
    DeviceSpec spec;
    spec.model = model.name;
    CHECK_NOTHROW(spec.validate());
  }
}

namespace {

void check_bounds(const DeviceSpec& spec, Index size) {
  auto array = spread_over_window<float>(spec, size, size);
  const Matrix<float> delta = pattern<float>(size, size);
  for (std::uint64_t step = 0; step < 20; ++step) {
    // Requests up to three windows, in alternating directions: many devices stand at a bound and are pushed into it.
    array.update(delta, static_cast<float>((step / 2 % 2 ? -3 : 3) * spec.window_S()), step);
    const auto& cells = array.cells();
    REQUIRE(cells.g.allFinite());
    REQUIRE((cells.g.array() >= cells.lower.array()).all());
    REQUIRE((cells.g.array() <= cells.upper.array()).all());
    REQUIRE((cells.lower.array() >= 0).all());
  }
}

}  // namespace

TEST_CASE("conductances stay inside the bounds of each device", "[devices]") {
  for (const DeviceModel& model : device_models()) {
    CAPTURE(model.name);
    DeviceSpec spec = rough(model.name);
    if (!model.make(spec)->bounded()) continue;
    check_bounds(spec, 45);
    // Pulses that scatter by several times their size, and devices with hardly a window.
    spec.update_noise = 4;
    spec.lower_bound_spread = 0.5;
    check_bounds(spec, 100);
  }
  for (const DevicePreset& preset : device_presets()) {
    CAPTURE(preset.name);
    if (device_model(preset.spec.model).make(preset.spec)->bounded()) check_bounds(preset.spec, 64);
  }
}

TEST_CASE("without noise a device is deterministic, monotone and moves the right way", "[devices]") {
  for (const DeviceModel& model : device_models()) {
    CAPTURE(model.name);
    const DeviceSpec spec = plain(model.name);
    const Matrix<double> ones = Matrix<double>::Ones(20, 20);
    Matrix<double> before_last;
    for (int k = -6; k <= 6; ++k) {
      auto first = spread_over_window<double>(spec, 20, 20, 1, 5);
      auto second = spread_over_window<double>(spec, 20, 20, 1, 6);
      const Matrix<double> start = first.conductance();
      first.update(ones, 0.15 * k * spec.window_S(), 0);
      second.update(ones, 0.15 * k * spec.window_S(), 1);
      CHECK((first.conductance() == second.conductance()));
      const Matrix<double> moved = first.conductance() - start;
      if (k == 0) CHECK(moved.isZero(0));
      if (k > 0) CHECK(moved.minCoeff() >= 0);
      if (k < 0) CHECK(moved.maxCoeff() <= 0);
      if (k > -6) CHECK((first.conductance() - before_last).minCoeff() >= 0);
      before_last = first.conductance();
    }
  }
}

TEST_CASE("two requests in one direction equal their sum", "[devices]") {
  // The closed forms are flows: n pulses and then m pulses are n + m pulses. Tolerance: some 20 roundings of numbers of
  // the size of the window, times the condition of the closed form (below 100 here).
  for (const DeviceModel& model : device_models()) {
    CAPTURE(model.name);
    const DeviceSpec spec = plain(model.name);
    const Matrix<double> delta = pattern<double>(20, 20);
    auto twice = spread_over_window<double>(spec, 20, 20);
    auto once = spread_over_window<double>(spec, 20, 20);
    twice.update(delta, 0.1 * spec.window_S(), 0);
    twice.update(delta, 0.3 * spec.window_S(), 1);
    once.update(delta, 0.4 * spec.window_S(), 0);
    const double difference = (twice.conductance() - once.conductance()).cwiseAbs().maxCoeff();
    CHECK(difference <= 2000 * std::numeric_limits<double>::epsilon() * spec.window_S());
  }
}

TEST_CASE("float follows double", "[devices]") {
  // One update through the closed form: some 20 roundings, condition below 100 (as above).
  for (const DeviceModel& model : device_models()) {
    CAPTURE(model.name);
    const DeviceSpec spec = plain(model.name);
    auto coarse = spread_over_window<float>(spec, 20, 20);
    auto fine = spread_over_window<double>(spec, 20, 20);
    for (std::uint64_t step = 0; step < 3; ++step) {
      coarse.update(pattern<float>(20, 20), static_cast<float>(0.2 * spec.window_S()), step);
      fine.update(pattern<double>(20, 20), 0.2 * spec.window_S(), step);
    }
    const double difference = (coarse.conductance().cast<double>() - fine.conductance()).cwiseAbs().maxCoeff();
    CHECK(difference <= 2000 * static_cast<double>(std::numeric_limits<float>::epsilon()) * spec.window_S());
  }
}

TEST_CASE("an update gives the same bits for any number of threads", "[devices]") {
  for (const DeviceModel& model : device_models()) {
    CAPTURE(model.name);
    const DeviceSpec spec = rough(model.name);
    auto one = spread_over_window<float>(spec, 70, 90, 1);
    auto three = spread_over_window<float>(spec, 70, 90, 3);
    CHECK((one.conductance() == three.conductance()));
    const Matrix<float> delta = pattern<float>(70, 90);
    const auto a = one.update(delta, static_cast<float>(0.1 * spec.window_S()), 4);
    const auto b = three.update(delta, static_cast<float>(0.1 * spec.window_S()), 4);
    CHECK((one.conductance() == three.conductance()));
    CHECK(a.up == b.up);
    CHECK(a.down == b.down);
  }
}

TEST_CASE("a request that is not finite shows as NaN and nothing else breaks", "[devices]") {
  for (const DeviceModel& model : device_models()) {
    CAPTURE(model.name);
    auto array = spread_over_window<double>(plain(model.name), 3, 3);
    Matrix<double> delta = Matrix<double>::Zero(3, 3);
    delta(1, 1) = std::numeric_limits<double>::quiet_NaN();
    array.update(delta, 1e-6, 0);
    CHECK(std::isnan(array.conductance()(1, 1)));
    CHECK(std::isfinite(array.conductance()(0, 0)));
  }
}

TEST_CASE("time passes alike for every model: finite, within bounds of zero and above, same bits for any threads",
          "[devices]") {
  for (const DeviceModel& model : device_models()) {
    CAPTURE(model.name);
    DeviceSpec spec = rough(model.name);
    spec.retention.drift_exponent = 0.05;
    spec.retention.drift_spread = 0.02;
    spec.retention.decay_spread_S = 1e-7;
    spec.retention.leak_time_s = 1e3;
    spec.telegraph = {0.3, 0.05, 0.1, 1e-3, 1e-3, 0.5};
    spec.flicker.noise = 0.01;
    spec.programming.write_noise = 2;
    spec.programming.fit_S = {1e-7, 1e-7};
    spec.faults = {0.01, 0.01, 0.01};
    auto one = spread_over_window<float>(spec, 40, 50, 1);
    auto three = spread_over_window<float>(spec, 40, 50, 3);
    const Matrix<float> delta = pattern<float>(40, 50);
    for (std::uint64_t step = 0; step < 12; ++step) {
      one.update(delta, static_cast<float>((step % 2 ? -0.2 : 0.2) * spec.window_S()), step);
      three.update(delta, static_cast<float>((step % 2 ? -0.2 : 0.2) * spec.window_S()), step);
      one.advance_time(std::pow(10.0, static_cast<double>(step) - 6), step);
      three.advance_time(std::pow(10.0, static_cast<double>(step) - 6), step);
      REQUIRE(one.conductance().allFinite());
      REQUIRE((one.conductance() == three.conductance()));
      if (!model.make(spec)->bounded()) continue;
      REQUIRE((one.conductance().array() >= 0).all());
      REQUIRE((one.cells().g.array() <= one.cells().upper.array()).all());
    }
    const Matrix<float> before = one.conductance();
    one.advance_time(0, 99);
    CHECK((one.conductance() == before));
  }
}
