// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "circuits/netlist/netlist_term.hpp"
#include "sim/config/section.hpp"
#include "training/data/task.hpp"
#include "training/learning/estimators/requirement.hpp"
#include "training/models/layered_plan.hpp"
#include "training/models/tells_notes.hpp"

namespace nudge {

/// Roles of a netlist's elements, by names: which are fed, read and learn.
struct NetlistChoice {
  std::vector<std::string> inputs;    ///< independent sources, one per feature x: offset + scale x
  std::vector<std::string> mirrored;  ///< independent sources with offset − scale x; none, or one per feature
  std::vector<std::string> outputs;   ///< "node", or "plus,minus"
  std::vector<std::string> learn;     ///< globs (* and ?) of resistors and independent sources
  double scale = 1, offset = 0;       ///< scale and offset of the sources, V or A
  double conductance_S = 0;           ///< conductance of a number of 1; 0: the mean of the resistors that learn
  double volts = 1;                   ///< voltage of a unit of the state, V
  double tau_s = 1;                   ///< circuit.time_constant
  double twin_mismatch = 0;           ///< NetlistPorts::twin_mismatch
  double gate_leak = 0;               ///< Parameter::leak of sources that learn
  double gate_leak_periods = 0;       ///< Parameter::leak_periods
  std::vector<double> node_capacitance_F = {};  ///< NetlistPorts::node_capacitance_F
  double flicker_slowest_s = 1;                 ///< NetlistPorts::flicker_slowest_s
  double delay_s = 0, clock_s = 0;              ///< NetlistPorts::delay_s, clock_s
  std::uint64_t seed = 0;                       ///< seed of the twin
  double spread = 0;  ///< standard deviation of ln g of the initial conductances around the netlist's
  Index rows = 1;     ///< samples side by side
};

/// Netlist as a network. It has one term (NetlistTerm), a node `inner` of all state columns but the outputs, and a node
/// `outputs`, whose squared error is the cost. It has a parameter for each kind of element in it. g (1, resistors that
/// learn) is in units of conductance_S, v (1, sources of voltage) in volts of the state. i (1, sources of current) is
/// in the product of these units. y (1, memristors) is in units of conductance_S too. g may be devices: a number is
/// then the conductance in its array. Beside memristors, which are the devices of a netlist, g is numbers.
class NetlistPlan final : public SamplePlan, public TellsNotes {
 public:
  /// Makes the plan for samples of `features` features and an output of `values` numbers. UserError where names,
  /// features or outputs do not fit.
  NetlistPlan(Netlist netlist, NetlistChoice choice, Index features, Index values);

  std::string_view kind() const override { return "netlist"; }
  Index rows() const override { return choice_.rows; }
  Index inputs() const override { return features_; }
  std::vector<Node> nodes() const override;
  std::vector<Parameter> parameters() const override;
  NodeReadout readout() const override;
  std::vector<std::string> notes() const override;
  void initial(std::uint64_t seed, std::vector<Matrix<float>>& weights) const override;
  void initial(std::uint64_t seed, std::vector<Matrix<double>>& weights) const override;
  std::vector<std::unique_ptr<Term<float>>> terms(const Maps<float>& maps) const override;
  std::vector<std::unique_ptr<Term<double>>> terms(const Maps<double>& maps) const override;

  const NodalEquations& equations() const { return *equations_; }
  const NetlistPorts& ports() const { return ports_; }
  /// Netlist whose element values come from parameters, which maps with `unit_heat_J` hold (MapTraits::unit_heat_J, 0
  /// of numbers). A conductance of 0 is a resistor of 1 TOhm.
  Netlist with_values(const std::vector<Matrix<double>>& weights, const std::vector<double>& unit_heat_J) const;
  /// True if the force is minus the slope of an energy.
  bool reciprocal() const;

 private:
  Netlist with_states(Netlist netlist);
  void connect_inputs();
  void choose_learned();
  void check_outputs() const;
  std::shared_ptr<const NodalEquations> equations_;
  std::shared_ptr<const NodeCoordinates> coordinates_;
  std::optional<Netlist> drawn_;  ///< netlist as it is drawn, where the equations have other elements
  NetlistChoice choice_;
  NetlistPorts ports_;
  Index features_;
};

/// Options of the section [netlist].
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
  /// True if states are read at a given time, settled or not.
  bool timed() const { return delay > 0 || clock > 0; }
};
const Section<NetlistKeys>& netlist_section();

/// Plan of netlist.* for a task of samples. UserError for a file that is no netlist and for names or sizes that do not
/// fit.
std::shared_ptr<const NetworkPlan> netlist_plan(const Config& config, const TaskSizes& task);

/// Plan of netlist.*, or of another file if `file` names one, with as many features and values as it has inputs and
/// outputs.
std::shared_ptr<const NetlistPlan> netlist_plan_alone(const Config& config, const std::string& file);

/// Reads the netlist of netlist.file, or of another file where one is named, of at most netlist.elements_limit
/// elements.
Netlist read_config_netlist(const Config& config, const std::string& file = "");

/// Device of the memristors of a netlist as TOML, the preset layer of a config; empty where it has none or cannot be
/// read.
std::string netlist_device_text(const std::string& file);

/// True for a config whose netlist draws memristors.
bool draws_memristors(const Config& config);

/// Checks the keys that elements of the netlist do not fit: currents that charge no node, and memristors.
void check_netlist_rules(const Config& config, const Netlist& netlist);

/// Checks the keys: a file must be named, and be a netlist that the other keys fit.
void check_netlist_keys(const Config& config);

/// True if all elements of the netlist are reciprocal, or balanced amplifiers (NodeCoordinates::reciprocal); false
/// where it cannot be read.
bool netlist_contrasts(const Config& config);
StateFacts netlist_states(const Config& config);

/// Table of the keys that a netlist network reads.
ParamTable netlist_keys();

}  // namespace nudge
