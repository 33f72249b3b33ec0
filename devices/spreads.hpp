// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <string>

#include "devices/device_spec.hpp"
#include "devices/registry.hpp"

namespace nudge {

/// How devices of one kind differ jointly (device.joint_covariance): each is a normal draw, with that covariance, around the spec's device in
///
///     ln g_upper,   logit(g_lower/g_upper),   ln s_up,   ln s_down,   and of linear_step and power_step their slopes up and down,
///
/// logit γ of linear_step and ln γ of power_step, so that 0 < g_lower < g_upper, pulses keep their direction and slopes their range. s are the
/// pulses at the reference, which is one conductance for all devices. Models whose pulses have volts take s as their speed.

/// How many numbers that are: 4, or 6.
Eigen::Index joint_size(const std::string& model);

/// The spec's own device, and the spec with another device in the middle.
Eigen::VectorXd joint_coordinates(const DeviceSpec& spec);
void set_joint_coordinates(DeviceSpec& spec, const Eigen::VectorXd& coordinates);

/// Draws bounds, pulses and slopes of every device. A bound that would pass the reference stays 1 % of its mean distance from it.
template <class S>
void draw_joint(const DeviceSpec& spec, const StaticNormals<S>& normals, DeviceCells<S>& cells);

/// Throws UserError for a covariance of another size, or that is none, and beside spreads of one number.
void check_joint(const DeviceSpec& spec);

/// Standard deviation over devices and writes of where a device at its lower bound is seen, relative to the window
/// W = g_max − g_min: √((σ_lower ρ)² + (ω/pulses)² + σ_sym²) with the spread of the lower bounds σ_lower (relative to
/// g_reference − g_min = ρ W), write noise ω in mean pulses and the error σ_sym of a reference device (0 without one).
double lower_bound_scatter(const DeviceSpec& spec);

/// The smallest g_min, in siemens, that leaves a distribution of lower bounds as published: sources state windows as weights
/// without a zero of conductance, and a conductance cannot be negative. A bound 4 standard deviations below the mean is at
/// zero, k = 4 lower_bound_scatter, g_min = k W, and with g_max given g_min = g_max k/(1 + k). Then 1 − Φ(4) = 3.2e-5 of the
/// devices are cut, which moves the mean by 7e-6 of the scatter.
double least_g_min_S(const DeviceSpec& spec);

/// Share of devices whose lower bound the rule g ≥ 0 cuts: Φ(−g_min/(W scatter)).
double cut_share(const DeviceSpec& spec);

/// A sentence of warning with what to do where g_min is below least_g_min_S; empty elsewhere.
std::string cut_warning(const DeviceSpec& spec);

}  // namespace nudge
