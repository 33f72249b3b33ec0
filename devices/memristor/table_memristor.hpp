// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "devices/device_spec.hpp"
#include "devices/memristor/memristor.hpp"

namespace nudge {

/// A memristor given by numbers: rate and current at ascending voltages (rows) and at equally spaced states from 0 to 1 (columns), linear
/// between states. Between voltages the current is linear, and the rate too where it is 0 or changes sign; else its logarithm is, as speeds
/// grow exponentially with the voltage. Beyond the voltages both stay what they are at the end.
struct TableMemristor final : Memristor {
  std::vector<double> volts;
  std::vector<double> rate_Hz, current_A;  ///< row by row: volts.size() rows of `states`
  std::size_t states = 0;

  double rate(double x, double v) const override;
  double current(double x, double v) const override;
};

/// What was evaluated of a circuit model with one state: at these voltages and states (both ascending, states in the model's own unit), row by
/// row, dstate/dt in that unit per second and the current in A.
struct StateTable {
  std::vector<double> volts, states;
  std::vector<double> rate, current_A;
};

/// States between the same ends at which the conductance at `read_V` is about equally spaced, as far as the table tells: where it bends, a table
/// that is evaluated there is finer. The conductance must rise or fall all the way.
std::vector<double> even_states(const StateTable& table, double read_V);

/// The device (model memristor_table) that behaves so: its state is turned into u = (g − g_min)/(g_max − g_min), g the current over the
/// voltage `read_V`, so that the conductance is linear in it; on `points` equally spaced u. UserError where g is not monotonic in the state, has
/// no window, or a number is not finite.
DeviceSpec tabulated_device(const StateTable& table, double read_V, int points = 65);

}  // namespace nudge
