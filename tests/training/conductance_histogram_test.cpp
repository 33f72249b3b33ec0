// SPDX-License-Identifier: Apache-2.0
// Conductances before and after training: known ones give known counts, replicas and both arrays are told apart, and resuming
// keeps the start.
#include <numeric>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/digital_matrix.hpp"
#include "circuits/linear_map_factory.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/run_in_double.hpp"
#include "training/config/config_table.hpp"
#include "training/train/conductance_histogram.hpp"
#include "training/train/train_run.hpp"

namespace nudge {
namespace {

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// Pairs without any error: G± = g_mid ± (g_max − g_min) w/2 for |w| ≤ 1.
CrossbarSpec exact_pairs() {
  CrossbarSpec spec;
  spec.device.model = "constant_step";
  spec.device.g_min_S = 10e-6;
  spec.device.g_max_S = 60e-6;
  spec.mapping.w_max = 1;
  return spec;
}

Matrix<double> weights(std::initializer_list<double> values) {
  Matrix<double> w(1, static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), w.data());
  return w;
}

}  // namespace

TEST_CASE("bins: a value on an edge is in the upper one, values beyond are in the outermost", "[train]") {
  const Matrix<double> first = weights({-5, 0, 0.5, 1, 1.5}), second = weights({2, 3, 99});
  const std::vector<const Matrix<double>*> both{&first, &second};
  CHECK(bin_counts<double>({0, 1, 2, 3}, both) == std::vector<double>{3, 2, 3});
}

TEST_CASE("known conductances give known counts, and what is written keeps the start", "[train]") {
  // 50 bins of 1 uS from 10 to 60 uS; G⁺ = 35 uS + 25 uS w, G⁻ mirrored, away from the edges of bins.
  Crossbar<double> array(exact_pairs(), weights({-0.98, 0.1, 0.1, 0.98}), 0, 1);
  ConductanceRecord<double> record;
  record.begin(array);
  REQUIRE(record.histograms().size() == 2);
  const ConductanceHistogram &negative = record.histograms()[0], &positive = record.histograms()[1];
  CHECK(negative.devices == "negative");
  REQUIRE(positive.edges_S.size() == 51);
  CHECK(positive.edges_S.front() == Approx(10e-6));
  CHECK(positive.edges_S.back() == Approx(60e-6));
  std::vector<double> expected(50, 0);
  expected[0] = 1;   // 10.5 uS
  expected[27] = 2;  // 37.5 uS
  expected[49] = 1;  // 59.5 uS
  CHECK(positive.before == expected);
  std::vector<double> mirrored(expected.rbegin(), expected.rend());
  CHECK(negative.before == mirrored);

  array.program(weights({0.1, 0.1, 0.1, 0.1}));
  const test::TemporaryDirectory dir;
  const auto write = [&](const ConductanceRecord<double>& one, const std::string& name) {
    H5Document document;
    one.write(document, "conductance/W", array);
    document.write(dir / name, Overwrite::must_not_exist);
  };
  write(record, "whole.h5");
  std::vector<double> gathered(50, 0);
  gathered[27] = 4;
  const H5Reader whole(dir / "whole.h5");
  CHECK(whole.reals<double>("conductance/W/positive/before") == expected);
  CHECK(whole.reals<double>("conductance/W/positive/after") == gathered);
  CHECK(whole.reals<double>("conductance/W/positive/level")[27] == Approx(37.5e-6));
  CHECK(whole.text_attribute("role", "conductance/W/positive/after") == "histogram");
  CHECK(whole.text_attribute("x", "conductance/W/positive/after") == "conductance/W/positive/level");
  // A run that goes on begins with other conductances, and keeps the start of the file.
  ConductanceRecord<double> resumed;
  resumed.begin(array);
  CHECK(resumed.histograms()[1].before == gathered);
  resumed.restore(whole, "conductance/W");
  write(resumed, "resumed.h5");
  const H5Reader again(dir / "resumed.h5");
  for (const char* name : {"edges", "before", "after"}) {
    const std::string path = std::string("conductance/W/positive/") + name;
    CHECK(again.reals<double>(path) == whole.reals<double>(path));
  }
}

TEST_CASE("histograms count all devices of replicas and of both arrays of a rule, exact matrices have none",
          "[train]") {
  CrossbarSpec spec = exact_pairs();
  spec.device.step_spread = 0.1;
  spec.device.upper_bound_spread = 0.1;
  const Matrix<double> w = weights({-0.5, 0, 0.5});
  spec.tokens.use = TokenUse::replicated;
  spec.tokens.count = 4;
  const auto replicas = make_linear_map<double>(spec, w, 0, 1);
  ConductanceRecord<double> record;
  record.begin(*replicas);
  REQUIRE(record.histograms().size() == 2);
  CHECK(sum(record.histograms()[0].before) == 12);
  spec.tokens = {};
  spec.programming.update = UpdateScheme::c_ttv2;
  const auto two = make_linear_map<double>(spec, w, 0, 1);
  record.begin(*two);
  REQUIRE(record.histograms().size() == 4);
  CHECK(record.histograms()[0].devices == "fast_negative");
  CHECK(record.histograms()[3].devices == "slow_positive");
  DigitalMatrix<double> digital(w);
  record.begin(digital);
  CHECK(record.histograms().empty());
  H5Document nothing;
  record.write(nothing, "conductance/W", digital);
}

TEST_CASE("a run that is stopped and resumed has the histograms of an unbroken one", "[train]") {
  const test::TemporaryDirectory dir;
  const Config config = parse_program_config(
      "tiny.toml",
      "threads = 1\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n[train]\nsteps = 20\nbatch = 3\n"
      "evaluate_every = 9\nevaluation_batches = 2\nlearning_rate = 1e-2\n[relaxation]\nfree_steps = 8\nnudged_steps = "
      "8\n"
      "[device]\nmodel = 'soft_bounds'\nupdate = 'pulsed'\nupper_bound_spread = 0.1\n",
      {});
  train(config, dir / "straight.h5");
  train(config, dir / "broken.h5", [](const TrainProgress& p) { return p.done < 7; });
  resume(dir / "broken.h5", nullptr);
  const H5Reader straight(dir / "straight.h5"), broken(dir / "broken.h5");
  for (const std::string array : {"Winput", "Wo", "Wh"}) {
    for (const std::string devices : {"positive", "negative"}) {
      const std::string at = "conductance/" + array + "/" + devices + "/";
      const auto before = straight.reals<double>(at + "before"), after = straight.reals<double>(at + "after");
      CHECK(broken.reals<double>(at + "before") == before);
      CHECK(broken.reals<double>(at + "after") == after);
      CHECK(before != after);  // 20 steps move devices
      CHECK(sum(before) == sum(after));
      CHECK(sum(before) == straight.reals<double>("device/" + array + "/devices").front() / 2);
    }
  }
  CHECK(straight.text_attribute("role", "parameters/Wo") == "array");
  CHECK(straight.text_attribute("role", "parameters/tok") == "table");
}

}  // namespace nudge
