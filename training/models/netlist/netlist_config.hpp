// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/section.hpp"
#include "training/data/task.hpp"
#include "training/models/netlist/netlist_plan.hpp"

namespace nudge {

/// The section [netlist].
struct NetlistKeys {
  std::string file;
  std::vector<std::string> inputs, mirrored, outputs, learn;
  double input_scale = {}, input_offset = {};
  double conductance = {};
  double initial_spread = {};
  double twin_mismatch = {}, gate_leak = {}, gate_leak_time = {};
  double node_capacitance = {};
  std::vector<std::string> capacitances;
  double delay = {}, clock = {};
  double flicker_slowest = {};
  std::size_t elements_limit = {};
  /// Whether states are read at a time, settled or not.
  bool timed() const { return delay > 0 || clock > 0; }
};
const Section<NetlistKeys>& netlist_section();

/// The plan of netlist.* for a task of samples. UserError for a file that is no netlist and for names or sizes that do not fit.
std::shared_ptr<const NetworkPlan> netlist_plan(const Config& config, const TaskSizes& task);

/// The same of as many features and values as it has inputs and outputs, of another file where one is named.
std::shared_ptr<const NetlistPlan> netlist_plan_alone(const Config& config, const std::string& file);

/// The netlist of netlist.file, or of another file where one is named, of at most netlist.elements_limit elements.
Netlist read_config_netlist(const Config& config, const std::string& file = "");

/// A file must be named, and be a netlist.
void check_netlist_keys(const Config& config);

/// Whether its elements are all reciprocal, or amplifiers that are balanced (NodeCoordinates::reciprocal); false where it cannot be read.
bool netlist_contrasts(const Config& config);

/// What it reads.
ParamTable netlist_keys();

}  // namespace nudge
