// SPDX-License-Identifier: Apache-2.0
#include "devices/spreads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "devices/device_draws.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

using Vector = Eigen::VectorXd;
using Square = Eigen::MatrixXd;

constexpr double least_share = 0.01;  // as of single spreads (device_array.cpp)
constexpr double rounding = 1e-9;     // of the largest variance, what a covariance written as text may be off

double logit_of(double p) { return std::log(p / (1 - p)); }
double share_of(double x) { return 1 / (1 + std::exp(-x)); }

double slope_coordinate(const std::string& model, double gamma) {
  return model == "linear_step" ? logit_of(std::clamp(gamma, 1e-4, 1 - 1e-4)) : std::log(std::max(gamma, 1e-4));
}

double slope_of(const std::string& model, double x) { return model == "linear_step" ? share_of(x) : std::exp(x); }

Square covariance_of(const DeviceSpec& spec) {
  const auto n = static_cast<Eigen::Index>(std::lround(std::sqrt(static_cast<double>(spec.joint_covariance.size()))));
  return Eigen::Map<const Square>(spec.joint_covariance.data(), n, n);
}

}  // namespace

Eigen::Index joint_size(const std::string& model) { return model == "linear_step" || model == "power_step" ? 6 : 4; }

Vector joint_coordinates(const DeviceSpec& spec) {
  Vector u(joint_size(spec.model));
  const double mean = spec.reference_pulse_S();
  u[0] = std::log(spec.g_max_S);
  u[1] = logit_of(std::max(spec.g_min_S / spec.g_max_S, 1e-6));
  u[2] = std::log(mean * (1 + std::min(spec.asymmetry, 0.0)));
  u[3] = std::log(mean * (1 - std::max(spec.asymmetry, 0.0)));
  if (u.size() == 6) {
    u[4] = slope_coordinate(spec.model, spec.shape_value("gamma_up"));
    u[5] = slope_coordinate(spec.model, spec.shape_value("gamma_down"));
  }
  return u;
}

void set_joint_coordinates(DeviceSpec& spec, const Vector& u) {
  spec.g_max_S = std::exp(u[0]);
  spec.g_min_S = spec.g_max_S * share_of(u[1]);
  const double up = std::exp(u[2]), down = std::exp(u[3]);
  spec.pulses = std::clamp(spec.window_S() * spec.reference_pulse / std::max(up, down), 2.0, 1e9);
  spec.asymmetry = down < up ? 1 - down / up : up / down - 1;
  if (u.size() != 6) return;
  spec.shape["gamma_up"] = slope_of(spec.model, u[4]);
  spec.shape["gamma_down"] = slope_of(spec.model, u[5]);
}

template <class S>
void draw_joint(const DeviceSpec& spec, const StaticNormals<S>& normals, DeviceCells<S>& cells) {
  const Vector middle = joint_coordinates(spec);
  const Square root = semidefinite_root(covariance_of(spec));
  std::vector<Matrix<S>> draws;
  for (Eigen::Index k = 0; k < middle.size(); ++k) {
    draws.push_back(normals(static_cast<StaticDraw>(static_cast<std::uint64_t>(StaticDraw::joint) + k)));
  }
  const double reference = spec.g_reference_S();
  const double above = least_share * (spec.g_max_S - reference), below = least_share * (reference - spec.g_min_S);
  const bool slopes = middle.size() == 6;
  if (slopes) cells.gamma_up = cells.gamma_down = cells.g;
  Vector normal(middle.size());
  for (Index i = 0; i < cells.g.size(); ++i) {
    for (Eigen::Index k = 0; k < normal.size(); ++k) {
      normal[k] = static_cast<double>(draws[static_cast<std::size_t>(k)].data()[i]);
    }
    const Vector u = middle + root * normal;
    const double upper = std::exp(u[0]);
    cells.upper.data()[i] = static_cast<S>(std::max(upper, reference + above));
    cells.lower.data()[i] = static_cast<S>(std::min(upper * share_of(u[1]), reference - below));
    cells.step_up.data()[i] = static_cast<S>(std::exp(u[2]));
    cells.step_down.data()[i] = static_cast<S>(std::exp(u[3]));
    if (!slopes) continue;
    cells.gamma_up.data()[i] = static_cast<S>(slope_of(spec.model, u[4]));
    cells.gamma_down.data()[i] = static_cast<S>(slope_of(spec.model, u[5]));
  }
}

void check_joint(const DeviceSpec& spec) {
  if (spec.joint_covariance.empty()) return;
  const auto n = static_cast<std::size_t>(joint_size(spec.model));
  const auto fail = [&](const std::string& what) {
    throw UserError(
        fmt::format("device.joint_covariance {} (nudge devices fit FILE of several devices writes it)", what));
  };
  if (spec.joint_covariance.size() != n * n) {
    fail(fmt::format("has {} numbers (must be {}: the covariance of {} numbers of {}, row by row)",
                     spec.joint_covariance.size(), n * n, n, spec.model));
  }
  const Square c = covariance_of(spec);
  const double largest = c.diagonal().maxCoeff();
  if ((c - c.transpose()).cwiseAbs().maxCoeff() > rounding * largest) fail("must be symmetric");
  if (symmetric_eigenvalues(c).minCoeff() < -rounding * std::max(largest, 1.0))
    fail("must have no negative eigenvalue");
  if (spec.model == "ideal") fail("together with device.model = ideal: it has no pulses to differ in");
  if (!(spec.g_min_S > 0)) fail("needs device.g_min > 0: bounds differ by factors");
  const bool mean_bounds = spec.shape.contains("mean_bounds") && spec.shape.at("mean_bounds") > 0.5;
  if (spec.step_spread > 0 || spec.step_log_spread > 0 || spec.asymmetry_spread > 0 || spec.upper_bound_spread > 0 ||
      spec.lower_bound_spread > 0 || (spec.shape.contains("gamma_spread") && spec.shape.at("gamma_spread") > 0) ||
      mean_bounds) {
    fail(
        "together with step_spread, step_log_spread, asymmetry_spread, upper_bound_spread, lower_bound_spread, "
        "linear_step.gamma_spread or linear_step.mean_bounds: both describe the spread of devices. Give one of them");
  }
}

template void draw_joint<float>(const DeviceSpec&, const StaticNormals<float>&, DeviceCells<float>&);
template void draw_joint<double>(const DeviceSpec&, const StaticNormals<double>&, DeviceCells<double>&);

namespace {

constexpr double deviations = 4;

/// Scatter of the lower bound as seen: the standard deviation, over devices and writes, of the conductance of a device at its lower bound.
/// It is relative to the window W = g_max − g_min: √((σ_lower ρ)² + (ω/pulses)² + σ_sym²). σ_lower is the spread of the lower bounds
/// (relative to g_reference − g_min = ρ W). ω is the write noise in mean pulses, σ_sym the error of a reference device (0 without one).
double lower_bound_scatter(const DeviceSpec& spec) {
  const auto reference_error = spec.shape.find("symmetry_spread");
  return std::hypot(spec.lower_bound_spread * spec.reference, spec.programming.write_noise / spec.pulses,
                    reference_error == spec.shape.end() ? 0.0 : reference_error->second);
}

double k_of(const DeviceSpec& spec) { return deviations * lower_bound_scatter(spec); }

}  // namespace

double least_g_min_S(const DeviceSpec& spec) {
  const double k = k_of(spec);
  return spec.g_max_S * k / (1 + k);
}

double cut_share(const DeviceSpec& spec) {
  const double sigma_S = lower_bound_scatter(spec) * spec.window_S();
  if (sigma_S == 0) return 0;
  return 0.5 * std::erfc(spec.g_min_S / (sigma_S * std::sqrt(2.0)));
}

std::string cut_warning(const DeviceSpec& spec) {
  // Relative 1e-6: a g_min that has been printed with seven digits is the one of the rule.
  if (spec.g_min_S >= (1 - 1e-6) * least_g_min_S(spec)) return "";
  return fmt::format(
      "device.g_min = {} cuts the spread of the lower bounds at 0 S in {:.2g} % of the devices. They do not follow "
      "device.lower_bound_spread and device.write_noise. device.g_min >= {} (with this g_max) keeps 4 standard "
      "deviations",
      format_quantity(spec.g_min_S, Unit::siemens, 4), 100 * cut_share(spec),
      format_quantity(least_g_min_S(spec), Unit::siemens, 4));
}

}  // namespace nudge
