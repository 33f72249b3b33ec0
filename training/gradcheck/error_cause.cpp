// SPDX-License-Identifier: Apache-2.0
#include "training/gradcheck/error_cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/errors.hpp"
#include "training/check/gradient_forecast.hpp"

namespace nudge {

namespace {

constexpr const char *too_large = "too large a beta", *too_small = "too small a beta";

/// The parts of a forecast, and nudges of half and of ten times the size.
GradientForecast error_parts(const Config& config, const RunParts& run, double beta) {
  GradientForecast found = forecast_gradient(config, run, LookAt::quick_parts);
  if (!(beta > 0) || !found.looked) return found;
  for (const auto& [name, other] : {std::pair(too_large, beta / 2), std::pair(too_small, 10 * beta)}) {
    Config moved = config;
    moved.set_from_text("beta", fmt::format("{:.17g}", other));
    found.parts.push_back({fmt::format("{} = {:.2g}", name, beta), first_cosine(moved, run), 0});
  }
  return found;
}

}  // namespace

std::string error_cause(const Config& config, const RunParts& run, const std::string& estimator, double beta) {
  Config one = config;
  try {
    one.set_from_text("estimator", estimator);
    if (beta > 0) one.set_from_text("beta", fmt::format("{:.17g}", beta));
    const GradientForecast found = error_parts(one, run, beta);
    const auto gain = [&found](const ErrorPart& part) {
      const double won = part.cosine - found.first;
      return std::isnan(won) ? -std::numeric_limits<double>::infinity() : won;  // its phases do not settle
    };
    const auto first = std::max_element(found.parts.begin(), found.parts.end(),
                                        [&](const ErrorPart& a, const ErrorPart& b) { return gain(a) < gain(b); });
    if (first == found.parts.end() || std::isnan(found.first)) return "";
    constexpr double most = 0.5, some = 0.1;  // of the error
    const double share = gain(*first) / (1 - found.first);
    if (!(share > some)) return "nothing that was tried takes away a tenth of it";
    const char* how = first->name.starts_with(too_large)   ? "at half of it"
                      : first->name.starts_with(too_small) ? "at ten times"
                                                           : "without";
    return fmt::format("{}{}: {:.3f} {}, {:.3f} with", share > most ? "" : "several parts, among them ", first->name,
                       first->cosine, how, found.first);
  } catch (const NumericalFailure&) {  // a nudge beyond the minimum of a circuit without one of its parts
    return "";
  }
}

}  // namespace nudge
