// SPDX-License-Identifier: Apache-2.0
#include "training/gradcheck/error_cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "sim/base/errors.hpp"
#include "training/check/gradient_forecast.hpp"

namespace nudge {

namespace {

/// A part of the error, and how its cosine was found: "without", "at half of it".
struct Cause {
  std::string name;
  double cosine = 0;
  const char* how = "without";
};

/// The parts of a forecast, phases of sixteen times the steps, and nudges of other sizes. Nothing where the network is too large.
std::vector<Cause> causes_of(const Config& config, const RunParts& run, double beta, const GradientForecast& found) {
  std::vector<Cause> causes;
  if (!found.looked) return causes;
  for (const ErrorPart& part : found.parts) causes.push_back({part.name, part.cosine});
  if (const auto slow = longer(config, 16)) causes.push_back({"short phases", first_cosine(*slow, run)});
  if (!(beta > 0)) return causes;
  const std::string large = fmt::format("too large a beta = {:.2g}", beta);
  const std::string small = fmt::format("too small a beta = {:.2g}", beta);
  for (const auto& [name, factor, how] :
       {std::tuple(large, 0.5, "at half of it"), std::tuple(large, 0.1, "at a tenth of it"),
        std::tuple(small, 10.0, "at ten times")}) {
    Config moved = config;
    moved.set_from_text("beta", fmt::format("{:.17g}", factor * beta));
    causes.push_back({name, first_cosine(moved, run), how});
  }
  return causes;
}

}  // namespace

std::string error_cause(const Config& config, const RunParts& run, const std::string& estimator, double beta,
                        double cosine) {
  Config one = config;
  try {
    one.set_from_text("estimator", estimator);
    if (beta > 0) one.set_from_text("beta", fmt::format("{:.17g}", beta));
    const GradientForecast found = forecast_gradient(one, run, LookAt::quick_parts);
    const double with = std::isnan(found.first) ? cosine : found.first;
    const std::vector<Cause> causes = causes_of(one, run, beta, found);
    const auto gain = [with](const Cause& cause) {
      const double won = cause.cosine - with;
      return std::isnan(won) ? -std::numeric_limits<double>::infinity() : won;  // its phases do not settle
    };
    const auto first = std::max_element(causes.begin(), causes.end(),
                                        [&](const Cause& a, const Cause& b) { return gain(a) < gain(b); });
    if (first == causes.end()) return "";
    constexpr double most = 0.5, some = 0.1;  // of the error
    const double share = gain(*first) / (1 - with);
    if (!(share > some)) return "nothing that was tried takes away a tenth of it";
    return fmt::format("{}{}: {:.3f} {}, {:.3f} with", share > most ? "" : "several parts, among them ", first->name,
                       first->cosine, first->how, with);
  } catch (const NumericalFailure&) {  // a nudge beyond the minimum of a circuit without one of its parts
    return "";
  }
}

}  // namespace nudge
