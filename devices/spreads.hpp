// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <string>

#include "devices/device_spec.hpp"
#include "devices/registry.hpp"

namespace nudge {

/// Joint distribution of devices of one kind (device.joint_covariance). Each is a normal draw with this covariance around the spec's
/// device, in
///
///     ln g_upper,   logit(g_lower/g_upper),   ln s_up,   ln s_down,   and of linear_step and power_step their slopes up and down,
///
/// logit γ of linear_step and ln γ of power_step. So 0 < g_lower < g_upper, pulses keep their direction and slopes their range. s are
/// the pulses at the reference, which is one conductance for all devices. Models whose pulses have volts take s as their speed.

/// Count of joint coordinates of a model: 4, or 6 with slopes.
Eigen::Index joint_size(const std::string& model);

/// Joint coordinates of the spec's own device; set_joint_coordinates() puts another device in the middle of the spec.
Eigen::VectorXd joint_coordinates(const DeviceSpec& spec);
void set_joint_coordinates(DeviceSpec& spec, const Eigen::VectorXd& coordinates);

/// Draws bounds, pulses and slopes of every device. A bound that would pass the reference stays 1 % of its mean distance from it.
template <class S>
void draw_joint(const DeviceSpec& spec, const StaticNormals<S>& normals, DeviceCells<S>& cells);

/// Checks the joint covariance. UserError for one of another size, for a matrix that is no covariance, and beside spreads of one number.
void check_joint(const DeviceSpec& spec);

/// Smallest g_min, in siemens, that leaves a distribution of lower bounds as published. Sources state windows as weights
/// without a zero of conductance, and a conductance cannot be negative. A bound 4 standard deviations below the mean is put
/// at zero: k = 4 lower_bound_scatter, g_min = k W, and with g_max given g_min = g_max k/(1 + k). Then 1 − Φ(4) = 3.2e-5 of
/// the devices are cut, which moves the mean by 7e-6 of the scatter.
double least_g_min_S(const DeviceSpec& spec);

/// Share of devices whose lower bound the rule g ≥ 0 cuts: Φ(−g_min/(W scatter)).
double cut_share(const DeviceSpec& spec);

/// Sentence of warning with advice where g_min is below least_g_min_S; empty elsewhere.
std::string cut_warning(const DeviceSpec& spec);

}  // namespace nudge
