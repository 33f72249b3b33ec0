// SPDX-License-Identifier: Apache-2.0
// Whole trainings of netlists with the imperfections of time, which are resumed, and one whose circuit loses its operating point.
#include <cmath>

#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data_files.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/weighing.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Settings = std::vector<std::string>;

namespace {

constexpr double kA = 0.5, kB = 0.2, kShift = 0.1;

/// A weighted mean of two voltages and of a stored one, whose resistors and stored voltage learn kA a + kB b + kShift.
class Mean {
 public:
  Mean() {
    table_ = write_bytes(folder_ / "mean.csv", mean_csv(kA, kB, kShift));
    netlist_ = write_bytes(folder_ / "mean.cir",
                           "mean\nVa a 0 0\nVb b 0 0\nVc c 0 0.5\nR1 a x 100k\nR2 b x 100k\nR3 x 0 1meg\nR4 c x "
                           "500k\nR5 x y 100k\nR6 y 0 1meg\n");
  }

  Config config(Settings more) const {
    Settings all = mean_settings(netlist_, table_);
    all.insert(all.end(), {"netlist.learn=['r*', 'vc']", "estimator=coupled_learning", "beta=0.1", "train.steps=120",
                           "train.learning_rate=3e-2"});
    all.insert(all.end(), more.begin(), more.end());
    return parse_program_config("t", "", all);
  }

  /// Root mean square error on the test part; stopped and resumed to the same file.
  double error(const Settings& more) const {
    CAPTURE(more);
    const auto whole = folder_ / "whole.h5", parts = folder_ / "parts.h5";
    std::filesystem::remove(whole);
    std::filesystem::remove(parts);
    const Config chosen = config(more);
    const TrainSummary summary = train(chosen, whole);
    CHECK(summary.failure.empty());
    CHECK(summary.of("nonfinite") == 0);  // every state was found
    train(chosen, parts, [](const TrainProgress& p) { return p.done < 50; });
    CHECK(resume(parts, nullptr).of("test_rmse") == summary.of("test_rmse"));
    CHECK(differing_objects(whole, parts) == std::vector<std::string>{});
    return summary.of("test_rmse");
  }

 private:
  TemporaryDirectory folder_;
  std::string table_, netlist_;
};

}  // namespace

TEST_CASE("netlist training: of a file that is missing that is said, not that energies are",
          "[netlist][netlist_training]") {
  const Mean mean;
  CHECK_THROWS_WITH(mean.config({"netlist.file=none.cir"}),
                    Catch::Contains("none.cir") && Catch::Contains("no such file"));
}

TEST_CASE("netlist training: delay, clock and leak each cost what they should", "[netlist][netlist_training]") {
  const Mean mean;
  const double ideal = mean.error({});
  const double frozen =
      train(mean.config({"train.learning_rate=1e-12", "train.steps=1"}), std::nullopt).of("test_rmse");
  CHECK(ideal < 0.1 * frozen);

  // 10 pF at x and y and 10 uS about: the slower mode loses a factor of e in some 2.5 us. What x still goes on in the time of a clamp coupled
  // learning takes for a signal that is 1/η as large.
  const std::string farad = "netlist.node_capacitance=10 pF";
  const double late = mean.error({farad, "netlist.delay=2 us"});
  CHECK(late > 5 * ideal);
  CHECK(late < frozen);
  CHECK(mean.error({farad, "netlist.clock=2 us"}) == late);  // read at its end
  // e^{-16}: settled. IDA's steps of 1e-7 over η are 1e-6 of a volt.
  CHECK(mean.error({farad, "netlist.delay=40 us"}) == Approx(ideal).margin(1e-4));

  // The stored voltage loses 1 − e^{−0.1} in the 16 periods of a step.
  const double leaking = mean.error({farad, "netlist.clock=40 us", "netlist.gate_leak_time=6.4 ms"});
  CHECK(leaking > 2 * ideal);
  CHECK(leaking < frozen);
}

TEST_CASE("netlist training: noise of the currents within Euler's steps", "[netlist][netlist_training]") {
  const Mean mean;
  // kT/C of 1 fF is 2 mV at the output; over 2β of a centered nudge of .1 and 8 samples, 5 mV of error signal a step.
  const Settings euler{"relaxation.solver=euler",      "relaxation.step=0.2",
                       "relaxation.free_steps=40",     "estimator=ep",
                       "relaxation.nudged_steps=40",   "netlist.node_capacitance=1 fF",
                       "circuit.time_constant=100 ps", "device.model=ideal",
                       "crossbar.w_max=2.5",           "hardware.level=ideal"};
  const auto with_noise = [&](const char* on) {
    Settings all = euler;
    all.push_back(std::string("circuit.thermal_noise=") + on);
    return mean.error(all);
  };
  const double quiet = with_noise("false"), noisy = with_noise("true");
  const double frozen =
      train(mean.config({"train.learning_rate=1e-12", "train.steps=1"}), std::nullopt).of("test_rmse");
  CHECK(quiet < 0.1 * frozen);
  CHECK(noisy > quiet);
  CHECK(noisy < 0.5 * frozen);
}

TEST_CASE("netlist training: a circuit that loses its operating point stops with the node and keeps its file",
          "[netlist][netlist_training]") {
  // A follower holds the other end of rf at v(y), so that r1 alone says what v(y) is: a, whatever r1 is. Weight decay halves its conductance
  // every step until 43 of them leave 1e-13 of rf's, and rounding in its place.
  const TemporaryDirectory folder;
  std::string csv = "a,y\n";
  for (int i = 0; i < 40; ++i)
    csv += std::to_string(std::sin(1.3 * i)) + "," + std::to_string(std::sin(1.3 * i)) + "\n";
  const Config config = parse_program_config(
      "t", "",
      {"network.kind=netlist",
       "task.kind=regression",
       "precision=double",
       "estimator=adjoint",
       "netlist.file=" + write_bytes(folder / "follower.cir",
                                     "follower\nVa a 0 0\nR1 a y 1k\nE1 f 0 y 0 1\nRf f y 1k\n.options rshunt=1e20\n"),
       "data.file=" + write_bytes(folder / "follower.csv", csv),
       "netlist.inputs=['va']",
       "netlist.outputs=['y']",
       "netlist.learn=['r1']",
       "data.labels=y",
       "data.scaling=none",
       "relaxation.solver=direct",
       "gradcheck.estimators=['ep']",
       "task.references=off",
       "train.optimizer=sgd",
       "train.learning_rate=0.5",
       "train.warmup=0",
       "train.weight_decay=1",
       "train.batch=4",
       "train.steps=200",
       "train.evaluate_every=0"});
  const TrainSummary summary = train(config, folder / "run.h5");
  CHECK(summary.done > 40);
  CHECK(summary.done < 110);  // 50 steps in a row that are not finite
  CHECK_THAT(summary.failure, Catch::Contains("stopped") && Catch::Contains("singular at v(f)"));
  const H5Reader file(folder / "run.h5");
  CHECK(file.reals<double>("train/loss").size() == summary.done);
  CHECK(file.reals<double>("parameters/g").front() < 1e-12);
  const auto events = file.texts("events/text");
  CHECK(std::any_of(events.begin(), events.end(),
                    [](const std::string& text) { return text.find("no solution: ") == 0; }));
  CHECK_THAT(resume(folder / "run.h5", nullptr).failure, Catch::Contains("stopped"));
}

TEST_CASE("netlist training: gates that leak until nothing conducts stop with what was left out",
          "[netlist][netlist_training]") {
  const TemporaryDirectory folder;
  const std::string examples = std::string(NUDGE_SOURCE_DIR) + "/examples/";
  const Config config = parse_program_config("t", "",
                                             {"network.kind=netlist",
                                              "task.kind=regression",
                                              "precision=double",
                                              "estimator=adjoint",
                                              "netlist.file=" + examples + "transistor_xor.cir",
                                              "netlist.inputs=['va', 'vb']",
                                              "netlist.input_scale=0.45",
                                              "netlist.outputs=['p,m']",
                                              "netlist.learn=['x*.vg']",
                                              "netlist.conductance=10 uS",
                                              "netlist.gate_leak=0.01",
                                              "circuit.read_voltage=0.1 V",
                                              "data.file=" + examples + "xor.csv",
                                              "data.labels=y",
                                              "data.scaling=none",
                                              "relaxation.solver=direct",
                                              "gradcheck.estimators=['ep']",
                                              "task.references=off",
                                              "train.learning_rate=1e-3",
                                              "train.batch=8",
                                              "train.steps=400",
                                              "train.evaluate_every=0"});
  const TrainSummary summary = train(config, folder / "run.h5");
  CHECK(summary.done < 400);
  CHECK_THAT(summary.failure, Catch::Contains("are left out: their adjoints are"));
}
