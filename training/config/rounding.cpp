// SPDX-License-Identifier: Apache-2.0
#include "training/config/rounding.hpp"

#include <fmt/format.h>

#include <limits>

#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"

namespace nudge {
namespace {

constexpr double kMeasured = 2.5;   // of (0.8..4.2), see the header
constexpr double kNoticed = 0.1;    // of the gradient: a warning
constexpr double kNothingLeft = 1;  // rounding is larger than what it hides

double unit_of(const std::string& precision) {
  return precision == "double" ? std::numeric_limits<double>::epsilon()
                               : static_cast<double>(std::numeric_limits<float>::epsilon());
}

std::string number(double value) { return format_quantity(value, Unit::none, 2); }

/// The smallest beta whose gradient has at most a tenth of rounding.
std::string least_beta(const Config& config) {
  return number(kMeasured * unit_of(run_options(config).precision) / kNoticed);
}

/// Of the beta that is set; 0 where it is chosen.
double error_of(const Config& config) {
  const double beta = phase_options(config).phases.beta;
  return beta == 0 ? 0 : rounding_error(run_options(config).precision, beta);
}

std::string what_rounds(const Config& config) {
  return fmt::format("rounding of precision = {} changes the gradient by about {}", run_options(config).precision,
                     number(error_of(config)));
}

}  // namespace

double rounding_error(const std::string& precision, double beta) { return kMeasured * unit_of(precision) / beta; }

std::string rounding_warning(const Config& config) {
  if (!(error_of(config) > kNoticed)) return "";
  return fmt::format("beta = {}: {}; at least {}{} keeps it below a tenth", config.as_text("beta"), what_rounds(config),
                     least_beta(config), run_options(config).double_precision() ? "" : ", or precision = double,");
}

std::string beta_advice(const Config& config) {
  return error_of(config) > kNoticed ? fmt::format("a larger beta ({} or more)", least_beta(config)) : "a smaller beta";
}

ConfigRule beta_above_rounding() {
  return {{"beta", "precision", "nudge.below_rounding"}, [](const Config& c) {
            if (phase_options(c).phases.below_rounding || !(error_of(c) > kNothingLeft)) return std::string();
            return fmt::format("must be at least {}, or auto: {}; nudge.below_rounding = true runs it anyway",
                               least_beta(c), what_rounds(c));
          }};
}

}  // namespace nudge
