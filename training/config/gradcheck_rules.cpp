// SPDX-License-Identifier: Apache-2.0
// What the keys of [gradcheck] require of each other and of the run.
#include <fmt/format.h>

#include <algorithm>

#include "training/config/assembly.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rows.hpp"
#include "training/config/run_options.hpp"
#include "training/learning/estimators/registry.hpp"

namespace nudge {
namespace {

ConfigRule compares_something() {
  return {{"gradcheck.estimators"},
          [](const Config& c) { return c.texts("gradcheck.estimators").empty() ? "must name one, or all" : ""; }};
}

/// Of those that were asked for by name; the defaults and `all` leave out what does not fit.
ConfigRule compared_fit() {
  return {{"gradcheck.estimators"}, [](const Config& c) {
            if (c.at_default("gradcheck.estimators")) return std::string();
            for (const std::string& name : c.texts("gradcheck.estimators")) {
              const std::string misfit = estimator_misfit(c, name);
              if (!misfit.empty()) return fmt::format("names {}, which does not fit: {}; or take all", name, misfit);
            }
            return std::string();
          }};
}

ConfigRule nominal_needs_programmed() {
  return {{"gradcheck.reference", "gradcheck.weights"}, [](const Config& c) {
            const bool unknown =
                c.text("gradcheck.reference") == "nominal" && c.text("gradcheck.weights") != "programmed";
            return unknown ? "must be circuit or device unless gradcheck.weights = programmed" : "";
          }};
}

ConfigRule age_needs_programmed() {
  return {{"gradcheck.age", "gradcheck.weights"}, [](const Config& c) {
            return c.real("gradcheck.age") > 0 && c.text("gradcheck.weights") != "programmed"
                       ? "must be 0 unless gradcheck.weights = programmed: nothing else is left alone for a time"
                       : "";
          }};
}

/// Beside every step of a nudged phase stands one of bptt, which unrolls Euler steps of all nodes.
ConfigRule recorded_in_steps() {
  return {
      {"gradcheck.record", "gradcheck.estimators", "relaxation.solver", "relaxation.schedule", "network.kind",
       "nudge.form", "train.batch"},
      [](const Config& c) {
        const GradcheckOptions check = gradcheck_section().read(c);
        if (check.record.empty()) return std::string();
        if (const std::string misfit = estimator_misfit(c, "bptt"); !misfit.empty()) {
          return "must be [], as bptt cannot stand beside the steps: " + misfit;
        }
        const PhaseOptions phases = phase_options(c);
        if (phases.sweeps()) return std::string("must be [] unless relaxation.schedule = parallel");
        if (phases.phases.oscillation.on()) return std::string("must be [] unless nudge.form = static");
        if (*std::max_element(check.record.begin(), check.record.end()) >= c.integer("train.batch")) {
          return fmt::format("must be samples of the first batch, below train.batch = {}", c.integer("train.batch"));
        }
        const bool nudges = std::any_of(check.estimators.begin(), check.estimators.end(), [&](const auto& name) {
          const EstimatorKind* kind = find_estimator(name);
          return name == "all" || (kind != nullptr && kind->correlates_states() && estimator_misfit(c, name).empty());
        });
        return std::string(nudges ? "" : "must be [] unless gradcheck.estimators has one that nudges, as ep does");
      }};
}

}  // namespace

std::vector<ConfigRule> gradcheck_rules() {
  return {compares_something(), compared_fit(), nominal_needs_programmed(), age_needs_programmed(),
          recorded_in_steps()};
}

}  // namespace nudge
