// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "devices/memristor/memristor.hpp"

namespace nudge {

/// What is asked of a Verilog-A model.
struct ModelQuestion {
  std::string file;
  std::string module = {};  ///< empty: the only one
  std::string state = {};   ///< a node, or the parameter that the state begins with; empty: the only node with a charge
  std::map<std::string, double> parameters = {};  ///< in place of their defaults
  std::vector<double> volts, states;              ///< both ascending
  double step_s = 1e-12;                          ///< of a model that moves its state itself
  std::string python = "python3";
  double wait_s = 120;  ///< longest silence of Python: its program says something at every voltage
};

/// Current and speed of the model at all of these voltages and states, by the Python package openvaf-py (an interpreter of what OpenVAF compiles) in
/// a process of its own: apps/import/evaluate_model.py. UserError where Python or the package is missing, or answers more than the
/// table can be, or nothing for wait_s; and for what cannot be had: random numbers, arrays of parameters, idt(), no state or several.
StateTable model_table(const ModelQuestion& question);

/// The program that is run, as it is in the source.
std::string_view evaluate_model_script();

}  // namespace nudge
