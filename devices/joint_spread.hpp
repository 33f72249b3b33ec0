// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include "devices/step_model.hpp"

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

}  // namespace nudge
