// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "circuits/crossbar/crossbar.hpp"

namespace nudge {

/// One array as programmed: how far its weights are from the nominal ones, and what its reads add.
struct ArrayFacts {
  std::string name;
  Index rows = 0, columns = 0;
  double w_max = 0, siemens_per_weight = 0;
  double weight_error = 0;  ///< ‖W_device − W‖_F/‖W‖_F
  double read_noise = 0;    ///< rms noise over rms product for white inputs, per sqrt(tau)
  double ir_drop = 0;       ///< ir_drop_figure of the worst tile
  double mean_conductance_S = 0;
  double devices = 0;
  double power_W = 0;  ///< driven by numbers of rms 1
  double load = 0;     ///< of the heaviest line, over the feedback conductance of its amplifier
  double curve = 0;    ///< curved devices: change of the currents of the first tile at the read voltage, relative
  std::optional<double> sneak = {};  ///< of one cell read with all other lines floating: what the others add, relative
  double curve_missed = 0;           ///< what reads leave out of that behind wires, relative
};

/// Physical scale of the whole circuit.
struct CircuitFacts {
  std::optional<double> phase_s = {};  ///< the free phase of the config; none: there is no network
  double node_noise_V = 0;
};

/// Measures an array that holds `nominal`. NumericalFailure where curved devices behind wires are not solved.
ArrayFacts array_facts(const std::string& name, const Crossbar<double>& array, const Matrix<double>& nominal,
                       const CrossbarSpec& spec);

/// Tables for people on standard output, warnings on standard error.
void print_facts(const std::vector<ArrayFacts>& all, const CircuitSpec& circuit, const CircuitFacts& facts);

nlohmann::json facts_json(const std::vector<ArrayFacts>& all, const CircuitSpec& circuit, const CircuitFacts& facts);

}  // namespace nudge
