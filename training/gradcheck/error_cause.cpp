// SPDX-License-Identifier: Apache-2.0
#include "training/gradcheck/error_cause.hpp"

#include <fmt/format.h>

#include "devices/device_config.hpp"
#include "sim/base/errors.hpp"
#include "training/check/gradient_forecast.hpp"

namespace nudge {

std::string error_cause(const Config& config, const RunParts& run, const std::string& estimator, double beta) {
  Config one = config;
  try {
    one.set_from_text("estimator", estimator);
    if (beta > 0) one.set_from_text("beta", fmt::format("{:.17g}", beta));
    if (!on_devices(one)) return "";
    const GradientForecast found = forecast_gradient(one, run, LookAt::quick_parts);
    if (found.parts.empty()) return "";
    const ErrorPart& first = found.parts.front();
    constexpr double told = 0.001;  // a cosine that the table tells
    return first.cosine > found.cosine + told ? fmt::format("{}: {:.3f} without", first.name, first.cosine) : "";
  } catch (const NumericalFailure&) {  // a nudge beyond the minimum of a circuit without one of its parts
    return "";
  }
}

}  // namespace nudge
