// SPDX-License-Identifier: Apache-2.0
// gradcheck.record: what steps of nudged phases add to the gradient, beside those of backprop through time (Ernoult et al. 2019,
// arXiv:1905.13633, theorem 1).
#include <algorithm>
#include <cmath>

#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/config/run_parts.hpp"
#include "training/gradcheck/gradcheck_file.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

constexpr Index kSteps = 30;

/// A small reciprocal network whose free phase stands still to rounding before the steps that are compared.
Config recorded(const std::string& kind, const std::vector<std::string>& more) {
  // The share of a step suits resistors, whose loads are above the leak.
  std::vector<std::string> all = {"gradcheck.record=[1, 0]", "gradcheck.estimators=['ep']",
                                  "relaxation.nudged_steps=30", "relaxation.step_fraction=0.3",
                                  "gradcheck.finite_difference_entries=0"};
  all.insert(all.end(), more.begin(), more.end());
  return small(kind, all);
}

double largest(const std::vector<double>& values) {
  double out = 0;
  for (const double v : values) out = std::max(out, std::abs(v));
  return out;
}

PhaseRecord record_of(const Config& config) { return gradcheck(config).record.value(); }

}  // namespace

TEST_CASE("steps of a nudged phase are those of bptt, to the order of beta that its sides have",
          "[gradcheck][record]") {
  struct Case {
    std::string estimator, sides;
    double order;
  };
  for (const std::string kind : {"hopfield", "resistive"}) {
    for (const Case& one :
         {Case{"ep", "positive", 1}, Case{"ep", "centered", 2}, Case{"ep_contrastive", "positive", 1}}) {
      CAPTURE(kind, one.estimator, one.sides);
      const auto at = [&](double beta) {
        return record_of(recorded(kind, {"gradcheck.estimators=['" + one.estimator + "']", "nudge.sides=" + one.sides,
                                         "beta=" + std::to_string(beta)}));
      };
      const PhaseRecord coarse = at(0.04), fine = at(0.02);
      REQUIRE(largest(fine.bptt) > 0);
      const double ratio = largest(coarse.distance) / largest(fine.distance);
      // The next order of beta = 0.04 is below a tenth of the leading one: the states move by some percent.
      CHECK(std::log2(ratio) == Approx(one.order).margin(0.15));
      CHECK(largest(fine.distance) < 0.1 * largest(fine.bptt));
    }
  }
}

TEST_CASE("steps add up to the gradient of the estimator and to that of bptt", "[gradcheck][record]") {
  // One sample, and a nudged phase as long as the free one: nothing of bptt is cut off.
  for (const char* estimator : {"ep", "ep_contrastive", "aep_tracked", "aep_transposed"}) {
    CAPTURE(estimator);
    const Config config =
        recorded("hopfield", {"train.batch=1", "gradcheck.record=[0]", "beta=0.01", "relaxation.free_steps=30",
                              std::string("gradcheck.estimators=['") + estimator + "']"});
    const PhaseRecord record = record_of(config);
    const RunParts parts = run_parts(config);
    const auto network = make_network<double>(config, parts.plan, Weights::configured);
    const auto gradient = [&](const std::string& name) {
      BatchGradient<double> learner(*network, gradient_options<double>(config, name));
      Gradient<double> out(network->parameter_shapes());
      learner.compute(parts.task->training(0), 0, out);
      return out;
    };
    const Gradient<double> own = gradient(estimator), bptt = gradient("bptt");
    REQUIRE(record.groups.size() == equilibrium_groups(*parts.plan).size());
    for (std::size_t g = 0; g < record.groups.size(); ++g) {
      const ParameterGroup group = equilibrium_groups(*parts.plan)[g];
      const Matrix<double> whole = bptt[group.parameter].middleCols(group.columns.begin, group.columns.count);
      const Matrix<double> found = own[group.parameter].middleCols(group.columns.begin, group.columns.count);
      double update = 0, steps = 0;
      for (Index t = 0; t < kSteps; ++t) {
        const std::size_t at = g * kSteps + static_cast<std::size_t>(t);
        update += record.update[at];
        steps += record.bptt[at];
      }
      // Sums of 30 differences of gradients, each rounded to 1e-16/beta of their states.
      CHECK(steps == Approx(whole.norm()).epsilon(1e-10));
      CHECK(update == Approx(whole.cwiseProduct(found).sum() / whole.norm()).epsilon(1e-10));
    }
  }
}

TEST_CASE("a record is in the file, with its dimensions", "[gradcheck][record]") {
  const Config config = recorded("hopfield", {"gradcheck.estimators=['ep', 'implicit', 'aep_transposed']"});
  const TemporaryDirectory dir;
  const GradcheckReport report = gradcheck(config);
  write_gradcheck_file(report, config, "", 0, dir / "check.h5");
  const H5Reader file(dir / "check.h5");
  CHECK(file.texts("record/estimator") == std::vector<std::string>{"ep", "aep_transposed"});
  CHECK(file.integers("record/sample") == std::vector<std::int64_t>{1, 0});
  const auto groups = static_cast<Index>(report.record->groups.size());
  CHECK(file.shape("record/update") == H5Shape{2, 2, groups, kSteps});
  CHECK(file.shape("record/nudged") == H5Shape{2, 2, 2, kSteps + 1, 1, report.record->units});
  CHECK(file.meaning("record/bptt").dimensions == std::vector<std::string>{"sample", "group", "step"});
  CHECK_FALSE(file.meaning("record/free").description.empty());
  // Both estimators begin where the free phase has ended.
  const std::vector<double> free = file.reals<double>("record/free"), nudged = file.reals<double>("record/nudged");
  const auto units = static_cast<std::size_t>(report.record->units);
  const auto last = free.begin() + static_cast<std::ptrdiff_t>((file.shape("record/free")[1] - 1) * units);
  CHECK(std::equal(nudged.begin(), nudged.begin() + static_cast<std::ptrdiff_t>(units), last));
}

TEST_CASE("what cannot be recorded is refused, with what to do", "[gradcheck][record]") {
  const auto refused = [](const std::string& kind, const std::vector<std::string>& more, const std::string& why) {
    CAPTURE(kind, more);
    CHECK_THROWS_WITH(gradcheck(recorded(kind, more)), Catch::Contains("gradcheck.record") && Catch::Contains(why));
  };
  refused("netlist", {"relaxation.solver=direct", "estimator=ep"}, "relaxation.solver must be euler");
  refused("thermal", {"relaxation.solver=sample", "estimator=finite_nudge", "gradcheck.estimators=['finite_nudge']"},
          "relaxation.solver must be euler");
  refused("resistive", {"relaxation.solver=coordinate"}, "relaxation.solver must be euler");
  refused("hopfield", {"relaxation.schedule=sweep"}, "relaxation.schedule");
  refused("hopfield", {"nudge.form=oscillating"}, "nudge.form = static");
  refused("hopfield", {"gradcheck.record=[0, 2]"}, "below train.batch = 2");
  refused("hopfield", {"gradcheck.estimators=['implicit']"}, "one that nudges");
}
