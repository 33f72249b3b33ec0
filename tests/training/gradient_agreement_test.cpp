// SPDX-License-Identifier: Apache-2.0
#include "training/check/gradient_agreement.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <limits>

#include "sim/io/h5_reader.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/config/config_table.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/sweep/sweep.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

Matrix<double> row(std::initializer_list<double> values) {
  Matrix<double> m(1, static_cast<Index>(values.size()));
  Index i = 0;
  for (const double v : values) m(0, i++) = v;
  return m;
}

/// The linear network of examples/sweep_reciprocity.toml, small: no attention, so Wq ... Wo have no gradient.
const char* const kReciprocity =
    "precision = 'double'\nestimator = 'ep_anchored'\n[model]\nchannels = 8\ntokens = 6\nmemories = 0\nheads = 2\n"
    "attention_gain = 0\ncoupling_scale = 0.5\ncoupling_antisymmetric = 2\n[relaxation]\nstep = 0.2\nfree_steps = 200\n"
    "nudged_steps = 200\n[damping]\ncontrol = false\n[train]\nbatch = 2\nsteps = 2\nevaluate_every = 0\n"
    "evaluation_batches = 1\n[gradcheck]\nfinite_difference_entries = 2\n";

}  // namespace

TEST_CASE("agreement of two gradients: cosine, relative distance, signs") {
  const Agreement a = agreement<double>(row({3, 4, 0}), row({4, 3, 0}));
  CHECK(a.has_gradient);
  CHECK(a.cosine == Approx(24.0 / 25));
  CHECK(a.relative_l2 == Approx(std::sqrt(2.0) / 5));
  CHECK(a.sign_agreement == 1);
  CHECK(agreement<double>(row({0, 0}), row({1, 1})).cosine == 0);  // nothing estimated of something
  CHECK(agreement<double>(row({0, 0}), row({1, 1})).relative_l2 == 1);
}

TEST_CASE("a group without gradient is empty, whatever is estimated for it") {
  for (const double estimated : {0.0, 1e-3}) {
    const Agreement a = agreement<double>(row({estimated, 0}), row({0, 0}), 2.0);
    CHECK_FALSE(a.has_gradient);
    CHECK(std::isnan(a.cosine));
    CHECK(std::isnan(a.sign_agreement));
    CHECK(a.relative_l2 == Approx(estimated / 2));
  }
  // 1e-16 of the whole is rounding (10 eps = 2.2e-15); 1e-12 is not.
  CHECK_FALSE(agreement<double>(row({1e-16, 0}), row({-1e-16, 0}), 1.0).has_gradient);
  CHECK(agreement<double>(row({1e-12, 0}), row({-1e-12, 0}), 1.0).cosine == -1);
  const Agreement broken = agreement<double>(row({std::numeric_limits<double>::quiet_NaN(), 0}), row({0, 0}), 1.0);
  CHECK(broken.has_gradient);  // a failure is not an empty group
  CHECK(std::isnan(broken.relative_l2));
}

TEST_CASE("gradcheck leaves groups without gradient empty and reports all parameters together") {
  const GradcheckReport report = gradcheck(parse_program_config("a.toml", kReciprocity, {"gradcheck.batches=2"}));
  CHECK(report.finite());
  for (const char* group : {"Wq", "Wk", "Wv", "Wo"}) {
    const GradcheckRow* row = report.find("aep_anchored", group);
    REQUIRE(row != nullptr);
    CHECK_FALSE(row->agreement.has_gradient);
    CHECK(row->counted == 0);
    CHECK_FALSE(report.find("finite_difference", group)->agreement.has_gradient);
  }
  CHECK(report.find("aep_anchored", "Wc")->counted == 2);
  CHECK(report.find("aep_anchored", "all")->agreement.cosine > 1 - 1e-6);
}

TEST_CASE("the cosine of a sweep and of a training is that of all equilibrium parameters, not a mean of groups") {
  const TemporaryDirectory folder;
  const std::string text = std::string(kReciprocity) + "[sweep.grid]\n'model.coupling_antisymmetric' = [2]\n";
  const Sweep checked = run_sweep({"a.toml", text, {"sweep.run=gradcheck"}}, {folder / "g.h5", false});
  REQUIRE(checked.count_ok() == 1);
  const GradcheckReport report =
      gradcheck(parse_program_config("a.toml", kReciprocity), {{"ep_anchored"}, false, false});
  const double all = report.find("ep_anchored", "all")->agreement.cosine;
  CHECK(checked.points[0].metrics[0] == all);
  // Plain EP on a strongly non-reciprocal network: the four empty groups and the read-out counted as 1 before, which
  // hid most of the error.
  double flattered = 0;
  int groups = 0;
  for (const GroupCosine& one : checked.points[0].groups) {
    flattered += std::isnan(one.cosine) ? 1 : one.cosine;
    ++groups;
  }
  CHECK(groups == 8);  // tok, pos, Wm, Wc, Wq, Wk, Wv, Wo, Wh without Wm: there is no memory
  CHECK(all < flattered / groups - 0.05);
  const H5Reader file(folder / "g.h5");
  CHECK(std::isnan(file.reals<double>("points_cosine/Wq").front()));
  CHECK(file.reals<double>("points_cosine/Wc").front() < 1);
  const Sweep trained = run_sweep({"a.toml", text, {"sweep.run=train"}}, {folder / "t.h5", false});
  REQUIRE(trained.count_ok() == 1);
  CHECK(trained.points[0].metrics[2] < flattered / groups - 0.05);
  const TrainSummary run =
      train(parse_program_config("a.toml", kReciprocity, {"train.cosine_every=1"}), folder / "run.h5");
  const H5Reader run_file(folder / "run.h5");
  CHECK(run.of("cosine") == run_file.reals<double>("train/cosine_all").back());
  const auto groups_named = run_file.texts("train/cosine_groups");
  const auto cosines = run_file.reals<double>("train/cosine");
  const auto present = run_file.reals<double>("train/cosine_has_gradient");
  REQUIRE(cosines.size() == 2 * groups_named.size());
  for (std::size_t i = 0; i < cosines.size(); ++i) CHECK(std::isfinite(cosines[i]) == (present[i] == 1));
}
