// SPDX-License-Identifier: Apache-2.0
// Devices with states of their own: short_long_term against its closed form, the same law as a device that a program lends, and what every
// part of an array has to do with them.
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>

#include "devices/device_array.hpp"
#include "devices/own_device.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

constexpr double kShare = 0.4, kTime_s = 20, kNoise = 0.1;

DeviceSpec fading() {
  DeviceSpec spec;
  spec.model = "short_long_term";
  spec.g_min_S = 1e-6;
  spec.g_max_S = 21e-6;
  spec.pulses = 100;
  spec.shape = {{"short_share", kShare}, {"short_time", kTime_s}, {"short_noise", kNoise}};
  return spec;
}

/// Soft bounds with a share that fades, written as a program's own: n pulses from g leave (1 − q)ⁿ of the way to the bound, q = s/(bound −
/// reference).
class OwnFading final : public OwnDeviceLaw {
 public:
  explicit OwnFading(const DeviceSpec& spec) : spec_(spec) {}
  std::vector<CellState> states() const override { return {{"recent", "S", "what fades", 0}}; }
  Matrix<double> pulsed(const Matrix<double>& g, const Matrix<double>& pulses, States& own) override {
    Matrix<double> after = g;
    for (Index i = 0; i < g.size(); ++i) {
      const double bound = pulses(i) > 0 ? spec_.g_max_S : spec_.g_min_S;
      const double q = spec_.window_S() / spec_.pulses / std::abs(bound - spec_.g_reference_S());
      after(i) = bound + (g(i) - bound) * std::pow(1 - q, std::abs(pulses(i)));
    }
    own[0] += kShare * (after - g);
    return after;
  }
  bool waits() const override { return true; }
  double least_wait_s() const override { return 1e-4 * kTime_s; }
  Matrix<double> waited(const Matrix<double>& g, double seconds, double /*temperature_K*/, States& own) override {
    const Matrix<double> lost = -std::expm1(-seconds / kTime_s) * own[0];
    own[0] -= lost;
    return g - lost;
  }
  bool reads_noisy() const override { return true; }
  Matrix<double> read_noise_S(const Matrix<double>& /*g*/, States own) override { return kNoise * own[0].cwiseAbs(); }

 private:
  DeviceSpec spec_;
};

Matrix<double> some(Index rows, Index cols, double scale) {
  Matrix<double> out(rows, cols);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = scale * std::sin(1.0 + 2.3 * static_cast<double>(i));
  return out;
}

}  // namespace

TEST_CASE("short_long_term: what stays and what fades follow their closed form, however time is cut", "[devices]") {
  const DeviceSpec spec = fading();
  DeviceArray<double> array(spec, 1, 1, {});
  array.program(Matrix<double>::Constant(1, 1, 6e-6), 0);
  CHECK(array.cells().own[0](0, 0) == 0);
  array.pulse(Matrix<double>::Constant(1, 1, 7), 1);
  const double moved = array.conductance()(0, 0) - 6e-6;
  REQUIRE(moved > 1e-6);
  array.advance_time(5, 0);
  array.pulse(Matrix<double>::Constant(1, 1, -3), 2);
  const double second = array.conductance()(0, 0) - (6e-6 + moved - kShare * moved * -std::expm1(-5 / kTime_s));
  double waited = 0;
  for (std::uint64_t k = 1; k <= 1000; ++k) {
    array.advance_time(0.013, k);  // above 1e-4 of T: nothing waits
    waited += 0.013;
  }
  const double kept = kShare * (moved * std::exp(-(5 + waited) / kTime_s) + second * std::exp(-waited / kTime_s));
  // 1000 roundings of 1e-16 of a conductance each.
  CHECK(array.cells().own[0](0, 0) == Approx(kept).margin(1e-13 * spec.g_max_S));
  CHECK(array.conductance()(0, 0) ==
        Approx(6e-6 + (1 - kShare) * (moved + second) + kept).margin(1e-13 * spec.g_max_S));
  CHECK(array.state_read_variance_S2()(0, 0) == Approx(kNoise * kNoise * kept * kept).epsilon(1e-9));
}

TEST_CASE("short_long_term: heat makes the share fade faster, by Arrhenius", "[devices]") {
  DeviceSpec hot = fading();
  hot.shape["activation"] = 0.6;
  hot.temperature_K = 350;
  const double faster = arrhenius_factor(0.6, 300, 350);
  REQUIRE(faster > 20);
  DeviceArray<double> warm(hot, 1, 1, {}), cold(fading(), 1, 1, {});
  for (DeviceArray<double>* array : {&warm, &cold}) {
    array->pulse(Matrix<double>::Constant(1, 1, 20), 1);
    array->advance_time(array == &warm ? 3 : 3 * faster, 0, Gathering::none);
  }
  CHECK(warm.conductance()(0, 0) == Approx(cold.conductance()(0, 0)).epsilon(1e-12));
}

TEST_CASE("a device of a program's own is the built-in one, where both have the same law", "[devices]") {
  const DeviceSpec built_in = fading();
  DeviceSpec own = built_in;
  own.model = own_device_name;
  own.shape.clear();
  CHECK_THROWS_WITH(DeviceArray<double>(own, 2, 2, {}), Catch::Contains("the device is code of the program"));
  std::optional<DeviceArray<double>> first, second;
  {
    const LentDevice lent(std::make_shared<OwnFading>(own));
    CHECK_THROWS_AS(LentDevice(std::make_shared<OwnFading>(own)), std::logic_error);
    second.emplace(own, 9, 7, ArrayIdentity{3, 1, 0});
  }
  first.emplace(built_in, 9, 7, ArrayIdentity{3, 1, 0});
  for (DeviceArray<double>* array : {&*first, &*second}) {
    array->program(Matrix<double>::Constant(9, 7, 8e-6), 0);
    array->update(some(9, 7, 3e-6), 1, 1);
    array->advance_time(4, 0);
    array->pulse({3, 11, 40}, some(1, 3, 5), 2);
    array->advance_time(0.5, 1);
  }
  // The two round a power of 1 − q differently: a few units of 1e-16 of a conductance.
  CHECK((first->conductance() - second->conductance()).cwiseAbs().maxCoeff() < 1e-14 * built_in.g_max_S * 100);
  CHECK((first->cells().own[0] - second->cells().own[0]).cwiseAbs().maxCoeff() < 1e-14 * built_in.g_max_S * 100);
  CHECK(first->cells().own[0].cwiseAbs().maxCoeff() > 1e-7);
  const Matrix<double> a = first->state_read_variance_S2(), b = second->state_read_variance_S2();
  CHECK((a - b).cwiseAbs().maxCoeff() < 1e-10 * a.maxCoeff());
}

TEST_CASE("states of devices: in checkpoints, with other parts, and none of devices that are stuck", "[devices]") {
  DeviceSpec spec = fading();
  spec.flicker.noise = 0.01;
  spec.telegraph.share = 0.5;
  spec.telegraph.amplitude = 0.1;
  spec.faults.low = 0.2;
  spec.retention.drift_exponent = 0.02;
  DeviceArray<float> straight(spec, 8, 8, {5, 1, 0}, 2), resumed(spec, 8, 8, {5, 1, 0});
  const Matrix<float> delta = some(8, 8, 2e-6).cast<float>();
  const auto before = [&](DeviceArray<float>& array) {
    array.program(Matrix<float>::Constant(8, 8, 9e-6F), 0);
    array.update(delta, 1, 1);
    array.advance_time(2.5, 0);
  };
  const auto after = [&](DeviceArray<float>& array) {
    array.update(delta, -1, 2);
    for (std::uint64_t k = 1; k < 20; ++k) array.advance_time(0.3, k);
  };
  before(straight);
  std::vector<std::pair<std::string, Matrix<float>>> saved = {{"g", straight.cells().g},
                                                              {"writes", straight.cells().writes}};
  for (const SlowArray<float>& one : straight.slow_state()) saved.emplace_back(one.name, *one.values);
  resumed.cells().g = saved[0].second;
  resumed.cells().writes = saved[1].second;
  std::size_t at = 2;
  for (const SlowArray<float>& one : resumed.slow_state()) *one.values = saved.at(at++).second;
  resumed.state_restored();
  bool there = false;
  for (const auto& [name, values] : saved) there = there || (name == "short_term" && !values.isZero(0));
  CHECK(there);
  after(straight);
  after(resumed);
  CHECK(straight.conductance() == resumed.conductance());
  CHECK(straight.cells().own[0] == resumed.cells().own[0]);
  Index stuck = 0;
  for (Index i = 0; i < 64; ++i) {
    if (straight.cells().g.data()[i] != straight.cells().lower.data()[i]) continue;
    ++stuck;
    CHECK(straight.cells().own[0].data()[i] == 0);
  }
  CHECK(stuck > 4);
}

namespace {

/// Chip outside the program: one array of six devices, of which pulses move all but the last by 1e-7 S.
class Chip final : public OwnDeviceLaw {
 public:
  std::vector<CellState> states() const override { return {{"place", "1", "number of the device", 0}}; }
  Matrix<double> pulsed(const Matrix<double>& g, const Matrix<double>& pulses, States& own) override {
    for (Index i = 0; i < g.size(); ++i) due(0, static_cast<Index>(own[0](i))) += pulses(i);
    return g;
  }
  bool waits() const override { return true; }
  double least_wait_s() const override { return 0; }
  Matrix<double> waited(const Matrix<double>& g, double seconds, double /*temperature_K*/, States& /*own*/) override {
    conductance.array() -= 1e-9 * seconds;
    return g;
  }
  bool reads_noisy() const override { return false; }
  Matrix<double> read_noise_S(const Matrix<double>& g, States /*own*/) override { return g; }
  bool outside() const override { return true; }
  Matrix<double> held(std::uint32_t array, const Matrix<double>& /*g*/, States& own) override {
    arrays.push_back(array);
    for (Index i = 0; i < conductance.size(); ++i) own[0](i) = static_cast<double>(i);
    conductance.leftCols(5) += 1e-7 * due.leftCols(5);
    due.setZero();
    return conductance;
  }
  Matrix<double> restored(std::uint32_t array, const Matrix<double>& g, States& own) override {
    conductance = g;
    return held(array, g, own);
  }

  Matrix<double> conductance = Matrix<double>::Constant(1, 6, 5e-6), due = Matrix<double>::Zero(1, 6);
  std::vector<std::uint32_t> arrays;
};

}  // namespace

TEST_CASE("the conductances of a chip outside the program are those that it has", "[devices]") {
  const auto chip = std::make_shared<Chip>();
  const LentDevice lent(chip);
  DeviceSpec spec = fading();
  spec.model = own_device_name;
  spec.shape = {};
  DeviceArray<double> array(spec, 2, 3, {.seed = 1, .entity = 3, .side = 1});
  CHECK(chip->arrays.back() == 7);
  CHECK(array.conductance() == Matrix<double>::Constant(2, 3, 5e-6));
  array.program(Matrix<double>::Constant(2, 3, 9e-6), 0);  // what is asked for without pulses does not happen
  CHECK(array.conductance() == Matrix<double>::Constant(2, 3, 5e-6));
  Matrix<double> counts = Matrix<double>::Constant(1, 3, 4);
  counts(0, 1) = -2;
  array.pulse({0, 2, 5}, counts, 1);  // a part of the devices: their places go with them
  Matrix<double> there = Matrix<double>::Constant(2, 3, 5e-6);
  there(0, 0) += 1e-7 * 4;
  there(0, 2) -= 1e-7 * 2;
  CHECK(array.conductance() == there);
  array.advance_time(3, 0);
  there.array() -= 1e-9 * 3;
  CHECK(array.conductance() == there);
  array.cells().g.setConstant(7e-6);  // as a checkpoint does
  array.state_restored();
  CHECK(chip->conductance == Matrix<double>::Constant(1, 6, 7e-6));
  CHECK(array.conductance() == Matrix<double>::Constant(2, 3, 7e-6));
}
