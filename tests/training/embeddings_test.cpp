// SPDX-License-Identifier: Apache-2.0
// model.embeddings = devices: tables of symbols and positions on arrays.
#include <cmath>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/tiny_run.hpp"
#include "training/config/assembly.hpp"
#include "training/config/run_parts.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/models/block/block_plan.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

/// Devices without errors; `more` behind.
Config on_devices(const Settings& more = {}) {
  Settings all{"device.model=soft_bounds", "model.embeddings=devices", "device.programming_error=0",
               "device.read_noise=0",      "precision=double",         "estimator=implicit"};
  all.insert(all.end(), more.begin(), more.end());
  return tiny_config(all);
}

std::unique_ptr<Network<double>> network_of(const Config& config) {
  return make_network<double>(config, run_parts(config).plan, Weights::configured);
}

Gradient<double> gradient_of(const Config& config, BatchReport* report = nullptr) {
  const RunParts parts = run_parts(config);
  const auto network = make_network<double>(config, parts.plan, Weights::configured);
  BatchGradient<double> learner(*network, gradient_options<double>(config, ""));
  Gradient<double> gradient(network->parameter_shapes());
  const BatchReport one = learner.compute(parts.task->training(0), 0, gradient);
  if (report != nullptr) *report = one;
  return gradient;
}

}  // namespace

TEST_CASE("a table on devices is read line by line", "[train]") {
  const auto network = network_of(on_devices());
  const std::vector<int> symbols{3, 0, 3, 7, 1, 2};
  Matrix<double> x(6, 8);
  network->embed(symbols, x);
  for (Index t = 0; t < 6; ++t) {
    const Matrix<double> expected =
        network->map(BlockParameter::tok).weights().row(symbols[static_cast<std::size_t>(t)]) +
        network->map(BlockParameter::pos).weights().row(t);
    // Sums of one product and zeros, and of two rows: rounding of numbers below 3.
    CHECK((x.row(t) - expected).cwiseAbs().maxCoeff() < 1e-14);
  }
}

TEST_CASE("tables on exact devices have the gradient of tables of numbers", "[train]") {
  const Settings kind = GENERATE(Settings{}, Settings{"network.kind=stack"},
                                 Settings{"network.kind=transformer", "transformer.positions=learned"});
  CAPTURE(kind);
  Settings digital = kind;
  digital.emplace_back("model.embeddings=digital");
  const Gradient<double> devices = gradient_of(on_devices(kind)), numbers = gradient_of(on_devices(digital));
  REQUIRE(devices.size() == numbers.size());
  for (int p = 0; p < devices.size(); ++p) {
    CAPTURE(p);
    REQUIRE(numbers[p].norm() > 0);
    // The same sums in another order, after a settling whose input differs by rounding: 1e-16 times what 8 steps and the
    // adjoint solve (1e-12) amplify.
    CHECK((devices[p] - numbers[p]).norm() < 1e-9 * numbers[p].norm());
  }
}

TEST_CASE("the gradient of tables on curved devices is that of central differences", "[train]") {
  const Settings settings{"relaxation.free_steps=80",      "relaxation.nudged_steps=80",
                          "gradcheck.estimators=implicit", "device.iv_sinh=0.5 V",
                          "device.programming_error=2 %",  "gradcheck.finite_difference_entries=3"};
  const GradcheckReport report = gradcheck(on_devices(settings));
  for (const char* group : {"tok", "pos"}) {
    CAPTURE(group);
    const GradcheckRow* row = report.find("finite_difference", group);
    REQUIRE(row != nullptr);
    CHECK(row->agreement.relative_l2 < 1e-4);  // derived in gradcheck_test.cpp
    const GradcheckRow* exact = report.find("implicit", group);
    REQUIRE(exact != nullptr);
    CHECK(exact->agreement.relative_l2 < 1e-9);  // the same derivative, of the circuit itself
  }
}

TEST_CASE("a read of a table has the noise of one line", "[train]") {
  const Config config = on_devices({"device.read_noise=1 %"});
  const auto network = network_of(config);
  const CrossbarSpec spec = crossbar_spec(config);
  // σ of a device is 1 % of the window per √τ, the read lasts 1 τ; w = (G⁺ − G⁻)/k with k = window/w_max: √2 · 1 % · w_max. Two
  // tables in one input: their variances add.
  const auto w_max = [&](int parameter) {
    return spec.mapping.headroom * network->map(parameter).weights().cwiseAbs().maxCoeff();
  };
  const double tok = std::sqrt(2.0) * 0.01 * w_max(BlockParameter::tok),
               pos = std::sqrt(2.0) * 0.01 * w_max(BlockParameter::pos);
  const std::vector<int> symbols{3, 0, 3, 7, 1, 2};
  Matrix<double> exact(6, 8), x(6, 8);
  network->embed(symbols, exact);
  double squares = 0, product = 0;
  constexpr int reads = 2000;
  for (int n = 0; n < reads; ++n) {
    ReadContext read;
    read.seed = 5;
    read.step = static_cast<std::uint64_t>(n);
    network->embed(symbols, x, read);
    squares += (x - exact).squaredNorm();
    product += (x.row(0) - exact.row(0)).dot(x.row(2) - exact.row(2));
  }
  const double numbers = reads * 48, variance = tok * tok + pos * pos;
  // χ² of 96000 numbers: relative deviation √(2/96000) = .0046; 5 of them is a false alarm of 6e-7.
  CHECK(squares / numbers == Approx(variance).epsilon(5 * std::sqrt(2 / numbers)));
  // Two reads of one line have noise of their own: correlation below 5/√16000.
  CHECK(std::abs(product) / (reads * 8 * variance) < 5 / std::sqrt(reads * 8.0));
}

TEST_CASE("a read of a table is counted as one line driven and every column sensed", "[train]") {
  BatchReport with, without;
  gradient_of(on_devices(), &with);
  gradient_of(on_devices({"model.embeddings=digital"}), &without);
  const auto difference = [&](auto of) {
    const ReadTotals a = with.reads.total(), b = without.reads.total();
    return static_cast<double>(of(a)) - static_cast<double>(of(b));
  };
  // 3 sequences of 6 tokens and two tables; 8 columns.
  CHECK(difference([](const ReadTotals& t) { return t.reads; }) == 36);
  CHECK(difference([](const ReadTotals& t) { return t.driven; }) == 36);
  CHECK(difference([](const ReadTotals& t) { return t.sensed; }) == 36 * 8);
  // Numbers: 48 are fetched or added per table and sequence, and as many gradients added up.
  CHECK(without.reads.at(ReadClass::stored).operations - with.reads.at(ReadClass::stored).operations == 3 * 2 * 48);
  // Both tables are read at the same time, the tokens by turns: 6 τ more per sequence.
  CHECK(with.read_time - without.read_time == Approx(6).epsilon(1e-12));
  const double heat = difference([](const ReadTotals& t) { return t.array_J; });
  CHECK(heat > 0);
}

TEST_CASE("the heat of a line is V² G t of its devices", "[train]") {
  const Config config = on_devices();
  const auto network = network_of(config);
  const CrossbarSpec spec = crossbar_spec(config);
  ReadMeter meter;
  ReadContext read;
  read.meter = &meter;
  Matrix<double> x(6, 8);
  network->embed(std::vector<int>{3, 0, 3, 7, 1, 2}, x, read);
  // Pairs around the middle of the window without errors: G⁺ + G⁻ is twice the middle wherever the weight stands.
  const double pair = spec.device.g_min_S + spec.device.g_max_S;
  const double volts = spec.circuit.read_voltage_V;
  CHECK(meter.at(ReadClass::stored).array_J ==
        Approx(2 * 6 * 8 * pair * volts * volts * spec.circuit.time_constant_s).epsilon(1e-9));
}

TEST_CASE("tables on devices learn by pulses", "[train]") {
  const TemporaryDirectory dir;
  const Settings update = GENERATE(Settings{}, Settings{"crossbar.update=coincidence", "train.optimizer=sgd",
                                                        "train.momentum=0", "train.gradient_clip=0"});
  CAPTURE(update);
  Settings settings{"device.pulses=200", "train.null=off", "device.update=pulsed", "estimator=aep_transposed"};
  settings.insert(settings.end(), update.begin(), update.end());
  const Config config = on_devices(settings);
  train(config, dir / "run.h5", stop_after(20));
  const auto before = network_of(config);
  const H5Reader file(dir / "run.h5");
  for (const std::string table : {"tok", "pos"}) {
    CAPTURE(table);
    CHECK(file.text_attribute("role", "parameters/" + table) == "array");
    CHECK(file.reals<double>("device/" + table + "/pulses_up").back() > 0);
    const Matrix<double>& w = before->map(table == "tok" ? 0 : 1).weights();
    CHECK_FALSE(file.matrix<double>("parameters/" + table, H5Shape{w.rows(), w.cols()}) == w);
  }
  // Resumed to the bits of an unbroken run: noise of the tables' reads, pulses and devices come back.
  train(config, dir / "straight.h5");
  resume(dir / "run.h5", nullptr);
  CHECK(H5Reader(dir / "run.h5").reals<double>("train/loss") ==
        H5Reader(dir / "straight.h5").reals<double>("train/loss"));
}

TEST_CASE("tables of nothing cannot stand on devices", "[train]") {
  CHECK_THROWS_WITH(tiny_config({"model.embeddings=devices", "device.model=soft_bounds", "network.kind=hopfield",
                                 "task.kind=classification"}),
                    Contains("model.embeddings") && Contains("its inputs are features"));
}
