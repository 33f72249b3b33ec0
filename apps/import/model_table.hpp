// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "devices/memristor/memristor.hpp"

namespace nudge {

/// Request for a table of a Verilog-A model.
struct ModelQuestion {
  std::string file;
  std::string module = {};  ///< name of the module; empty: the only one
  /// State: a node, or the parameter that the state begins with; empty: the only node with a charge.
  std::string state = {};
  std::map<std::string, double> parameters = {};  ///< parameters in place of their defaults
  std::vector<double> volts, states;              ///< voltages and states of the table, both ascending
  double step_s = 1e-12;                          ///< time step of a model that moves its state itself
  std::string python = "python3";
  double wait_s = 120;  ///< longest silence of Python: its program says something at every voltage
};

/// Computes current and speed of the model at all these voltages and states. It runs the Python package openvaf-py (an
/// interpreter of what OpenVAF compiles) in a process of its own: apps/import/evaluate_model.py. UserError where Python
/// or the package is missing, answers more than the table can be, or says nothing for wait_s. UserError also for
/// unsupported models: random numbers, arrays of parameters, idt(), no state or several.
StateTable model_table(const ModelQuestion& question);

/// Text of the Python program that model_table() runs, as it is in the source.
std::string_view evaluate_model_script();

}  // namespace nudge
