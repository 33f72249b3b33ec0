// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/training/study_model.hpp"
#include "training/check/gradient_agreement.hpp"
#include "training/config/config_table.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/learning/estimators/registry.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

const char* const kSmall =
    "precision = 'double'\nhardware.level = 'ideal'\n[model]\nchannels = 16\ntokens = 8\nmemories = 24\nheads = "
    "2\nattention_scale = 1.0\n"
    "[relaxation]\nfree_steps = 80\nnudged_steps = 80\n[train]\nbatch = 3\n[gradcheck]\nfinite_difference_entries = "
    "3\n";

Config small(const std::vector<std::string>& settings = {}) {
  return parse_program_config("small.toml", kSmall, settings);
}

double cosine(const GradcheckReport& report, const std::string& estimator, const std::string& group) {
  const GradcheckRow* row = report.find(estimator, group);
  REQUIRE(row != nullptr);
  return row->agreement.cosine;
}

}  // namespace

TEST_CASE("gradcheck compares every estimator with the exact adjoint in every group") {
  const GradcheckReport report = gradcheck(small({"gradcheck.estimators=all", "gradcheck.batches=2"}));
  CHECK(
      report.rows.size() ==
      9 * (estimator_names().size() -
           5));  // 8 groups and all; three that need energies, two of netlists and that of a bath do not fit, differences are one more
  CHECK(report.reference_converged());
  CHECK(report.finite());
  CHECK(report.references.size() == 2);
  CHECK(report.references[0].residual <= 1e-12);
  // Settled (0.8^80 = 2e-8), beta = 1e-5: errors of 1e-4 at most (a gate that flips), 1 - cos below 1e-7.
  for (const char* name :
       {"aep", "aep_anchored", "aep_tracked", "aep_transposed", "linear_adjoint", "implicit", "bptt"}) {
    INFO(name);
    CHECK(cosine(report, name, "all") > 1 - 1e-6);
    CHECK(cosine(report, name, "Wq") > 1 - 1e-6);
  }
  CHECK(cosine(report, "ep", "all") < 0.99);
  CHECK(cosine(report, "ep", "Wh") > 1 - 1e-9);  // the read-out learns directly, nudged or not
  CHECK(report.stability.abscissa < 0);
  CHECK(report.stability.asymmetry > 0.01);
  CHECK(report.settled == 1.0);
  CHECK(report.verdict.find("settled") == 0);
}

TEST_CASE("finite differences of the settled cost confirm the exact adjoint") {
  const GradcheckReport report = gradcheck(small());
  CHECK(report.difference_entries == 24);
  CHECK(report.difference_settled);
  for (const char* group : {"tok", "pos", "Wm", "Wq", "Wk", "Wv", "Wo", "Wh", "all"}) {
    INFO(group);
    // delta^(2/3) = 1e-8 of the step's derivation, times 1e4 for groups whose entries are small against the cost's scale.
    const GradcheckRow* row = report.find("finite_difference", group);
    REQUIRE(row != nullptr);
    CHECK(row->agreement.relative_l2 < 1e-4);
  }
}

TEST_CASE("the gradcheck of a crossbar compares with the gradient of its own weights") {
  // Programming error is static, the same in every phase: the estimate agrees with the exact gradient of the device. (1 % of
  // the window; 10 % would move W_m past its bound and the state would run away.)
  const GradcheckReport report = gradcheck(small({"device.model=soft_bounds", "device.programming_error=1 %",
                                                  "device.read_noise=0", "gradcheck.estimators=aep_transposed"}));
  CHECK(cosine(report, "aep_transposed", "all") > 1 - 1e-6);
}

TEST_CASE("the gradient of the device and that of the nominal weights differ by the programming error") {
  const std::vector<std::string> settings = {"device.model=soft_bounds",     "device.programming_error=1 %",
                                             "crossbar.scale=renew",         "gradcheck.train_steps=2",
                                             "gradcheck.weights=programmed", "gradcheck.estimators=aep_transposed",
                                             "gradcheck.reference=device"};
  const double device = cosine(gradcheck(small(settings)), "aep_transposed", "all");
  auto nominal_settings = settings;
  nominal_settings.back() = "gradcheck.reference=nominal";
  const double nominal = cosine(gradcheck(small(nominal_settings)), "aep_transposed", "all");
  CHECK(device > 1 - 1e-6);  // the rule follows what the devices hold
  // 1 % of the window is some 10 % of a weight (circuits/README.md), so the gradient of the meant weights is another one.
  CHECK(nominal < 1 - 1e-4);
  CHECK(nominal > 0.5);
  auto exact = nominal_settings;
  exact[1] = "device.programming_error=0";
  CHECK(cosine(gradcheck(small(exact)), "aep_transposed", "all") > 1 - 1e-6);
  CHECK_THROWS_WITH(small({"gradcheck.reference=nominal"}), Catch::Contains("gradcheck.weights = programmed"));
}

TEST_CASE("training on exact numbers has an exact correction path") {
  std::vector<std::string> settings = {"device.model=soft_bounds", "gradcheck.train_steps=3",
                                       "gradcheck.weights=programmed", "gradcheck.estimators=aep_transposed"};
  const double bare = gradcheck(small(settings)).loss;
  settings.emplace_back("correction.gain_error=0.5");
  settings.emplace_back("correction.noise=0.5");
  CHECK(gradcheck(small(settings)).loss == bare);  // the same trained weights, to the bit
}

TEST_CASE("a reference that cannot converge is reported, not hidden") {
  const GradcheckReport report = gradcheck(small({"gradcheck.estimators=aep", "gradcheck.finite_difference_entries=0",
                                                  "model.tokens=40", "gradcheck.adjoint_iterations=1"}));
  CHECK(report.references[0].adjoint == "implicit");  // 640 unknowns: GMRES, which one iteration cannot finish
  CHECK_FALSE(report.reference_converged());
  CHECK(report.difference_entries == 0);
}

TEST_CASE("where there is no fixed point, none is perturbed") {
  // Steps of 1.99 τ and no damping: Euler steps overshoot, the state goes round. Every entry of a finite difference would do so for 6000
  // steps, twice.
  std::vector<std::string> settings{"task.kind=classification", "network.kind=convolutional", "convolutional.maps=[2]",
                                    "hopfield.hidden=[5]",      "relaxation.step=1.99",       "train.batch=2",
                                    "gradcheck.estimators=aep"};
  const GradcheckReport report = gradcheck(parse_program_config("unsettled.toml", "precision = 'double'\n", settings));
  CHECK(report.references[0].settled == 0);
  CHECK(report.references[0].residual > 1e-6);
  CHECK(report.difference_sequences > 0);
  CHECK(report.difference_entries == 0);
  CHECK_FALSE(report.difference_settled);
  CHECK(report.find("finite_difference", "all") == nullptr);
  CHECK(report.find("aep", "all") != nullptr);
}

TEST_CASE("the same bits for any number of threads") {
  const GradcheckReport one = gradcheck(small({"threads=1"}));
  const GradcheckReport three = gradcheck(small({"threads=3"}));
  REQUIRE(one.rows.size() == three.rows.size());
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    CHECK(one.rows[i].agreement.relative_l2 == three.rows[i].agreement.relative_l2);
  }
  CHECK(one.stability.abscissa == three.stability.abscissa);
}

TEST_CASE("training first moves the point of comparison") {
  const Config config = small({"gradcheck.train_steps=3", "gradcheck.estimators=aep_anchored"});
  const GradcheckReport trained = gradcheck(config);
  const GradcheckReport fresh = gradcheck(small({"gradcheck.estimators=aep_anchored"}));
  CHECK(trained.loss < fresh.loss);
  CHECK(trained.reference_converged());
}

TEST_CASE("estimators are compared once, and all leaves out what does not fit") {
  CHECK(gradcheck_estimators(small({"gradcheck.estimators=[\"bptt\", \"aep\"]"}), 1) ==
        std::vector<std::string>{"bptt", "aep"});
  CHECK(gradcheck_estimators(small({"gradcheck.estimators=[\"aep\", \"all\"]"}), 1).size() ==
        estimator_names().size() - 6);
  // The block's attention has no energy, so that ep_contrastive and energy_alternating do not fit it, and does not solve its own equations.
  const Config all = small({"gradcheck.estimators=all"});
  CHECK(gradcheck_estimators(all, 4096).size() == estimator_names().size() - 6);
  CHECK(gradcheck_estimators(all, 4097).size() == estimator_names().size() - 8);  // nor what is solved densely
}

TEST_CASE("the verdict is that of the measured phases, unless no circuit stays at the equilibrium") {
  StabilityReport report;
  Equilibrium phases;
  phases.samples = 4;
  phases.settled = 1;
  phases.lost = phases.none = phases.unstable = phases.dead = 0;
  phases.residual = 2e-6;
  phases.steps = 10;
  CHECK(stability_verdict(report, phases).find("no verdict") == 0);
  report.leading = {{{-0.7, 0}, 0, true}};
  report.abscissa = -0.7;
  report.decay =
      0.99;  // a parallel step would leave .9 of the slowest mode: the sweeps of this phase have settled all the same
  CHECK(stability_verdict(report, phases) == "settled: residual 2e-06 after 10 steps");
  phases.settled = 0.5;
  phases.residual = 0.1;
  phases.decay = 0.1;
  phases.abscissa = -0.7;
  phases.missing_steps = 2;
  CHECK_THAT(stability_verdict(report, phases),
             Catch::StartsWith("free phase too short") && Catch::Contains("12 steps"));
  report.leading = {{{-0.01, 0.5}, 0, true}, {{-0.01, -0.5}, 0, true}};
  report.abscissa = -0.01;
  CHECK(stability_verdict(report, phases).find("Hopf") != std::string::npos);
  report.decay = 1.01;
  phases.abscissa = Equilibrium::unknown;  // else the phases' own sentence says it
  CHECK(stability_verdict(report, phases).find("overshoot") != std::string::npos);
  report.abscissa = 0.1;
  CHECK(stability_verdict(report, phases).find("unstable:") == 0);
  report.slow_amplifiers = true;
  CHECK_THAT(stability_verdict(report, phases),
             Catch::Contains("too slow: start elsewhere"));  // no key is known to act
  phases.keys = {"circuit.amplifier_bandwidth"};
  CHECK_THAT(stability_verdict(report, phases), Catch::Contains("raise circuit.amplifier_bandwidth"));
}

TEST_CASE("what longer phases show is no contradiction of the verdict on the phases") {
  Equilibrium
      phases;  // three of four samples rest; the fourth circles about an equilibrium that Newton's method finds stable
  phases.samples = 4;
  phases.settled = 0.75;
  phases.lost = phases.none = phases.unstable = phases.dead = 0;
  phases.residual = 0.08;
  phases.steps = 2000;
  phases.decay = 0.9;
  phases.abscissa = -0.25;
  StabilityReport report;
  report.at.samples = 4;
  report.at.lost = 0.25;
  report.at.residual = 0.12;
  report.at.steps = 6000;
  report.at.ended = Status::oscillating;
  CHECK_THAT(stability_verdict(report, phases), Catch::StartsWith("no equilibrium found: residual 0.08") &&
                                                    Catch::Contains("where it goes up and down") &&
                                                    !Catch::Contains("raise relaxation.free_steps"));
  // Longer phases at an equilibrium whose Jacobian is singular, as of phases that all may turn.
  phases.settled = 1;
  report.at.ended = Status::converged;
  CHECK_THAT(stability_verdict(report, phases), Catch::StartsWith("settled: ") &&
                                                    Catch::Contains("the Jacobian is nearly singular") &&
                                                    !Catch::Contains("no equilibrium"));
}

TEST_CASE("a phase that has settled by sweeps is not called short for what parallel steps would do") {
  // Units that load each other: parallel steps of 1 tau leave a hundredth of the slowest mode after ten, sweeps 1e-6.
  const GradcheckReport found = gradcheck(parse_program_config(
      "digits.toml",
      "precision = 'double'\nthreads = 1\nestimator = 'ep_contrastive'\n"
      "[network]\nkind = 'hopfield'\n[hopfield]\nhidden = [12]\n[task]\nkind = 'classification'\n"
      "[relaxation]\nschedule = 'sweep'\nstep = 1.0\nfree_steps = 10\nnudged_steps = 10\n[train]\nbatch = 4\n"
      "[gradcheck]\nestimators = ['ep_contrastive']\nfinite_difference_entries = 0\n"));
  CHECK(found.equilibrium.settled == 1);
  CHECK_THAT(found.verdict, Catch::StartsWith("settled: residual"));
}

TEST_CASE("checks that differ in devices alone program the same trained network, trained once") {
  const std::vector<std::string> start = {"gradcheck.weights=programmed", "gradcheck.train_steps=3", "train.batch=2",
                                          "device.model=soft_bounds"};
  const auto with = [&start](std::vector<std::string> more) {
    more.insert(more.begin(), start.begin(), start.end());
    return small(more);
  };
  GradcheckScope scope{{"aep_transposed"}, false, false};
  const auto l2 = [&scope](const Config& config) {
    return gradcheck(config, scope).find("aep_transposed", "all")->agreement.relative_l2;
  };
  const Config clean = with({});
  const Config drifted = with({"device.drift_exponent=0.05", "gradcheck.age=1000 s", "correction.delay=1"});
  const double clean_alone = l2(clean);
  const double drifted_alone = l2(drifted);
  TrainedStarts starts;
  scope.starts = &starts;
  CHECK(l2(drifted) == drifted_alone);  // the same bits: the start does not know the devices
  CHECK(l2(clean) == clean_alone);
  CHECK(starts.trained() == 1);
  CHECK(l2(with({"train.learning_rate=1e-2"})) != clean_alone);
  CHECK(starts.trained() == 2);
  CHECK(drifted_alone != clean_alone);
}
