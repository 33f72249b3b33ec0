// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "circuits/circuit_spec.hpp"
#include "circuits/resistive/diode_law.hpp"
#include "circuits/resistive/resistive_network.hpp"
#include "sim/config/section.hpp"
#include "training/data/task.hpp"
#include "training/learning/estimators/requirement.hpp"
#include "training/models/layered_plan.hpp"
#include "training/models/network.hpp"

namespace nudge {

/// Sizes of a deep resistive network: L ≥ 1 layers of nodes above the sources.
struct ResistiveShape {
  Index features = 0;         ///< features of a sample
  bool doubled = true;        ///< use sources [x, −x], as resistors are never negative
  std::vector<Index> widths;  ///< n_1 … n_L
  std::vector<double> gains;  ///< A_0 … A_{L−1}
  ResistiveBias bias = ResistiveBias::current;
  double rail = 1;                                       ///< voltage of the rails at ±rail
  bool diodes = true;                                    ///< put diodes at the hidden nodes
  Index rows = 1;                                        ///< samples side by side
  std::optional<ShockleyDiode> shockley = std::nullopt;  ///< law of the diodes; none: ideal
  CircuitSpec circuit = {};                              ///< units of voltage and, for numbers, of conductance

  int layers() const { return static_cast<int>(widths.size()); }
  Index sources() const { return doubled ? 2 * features : features; }
};

/// Siemens that a conductance of 1 stands for: from its devices, or C/τ of numbers.
template <class S>
double conductance_unit_S(const LinearMap<S>& map, const CircuitSpec& circuit) {
  const double unit =
      map.traits().unit_heat_J / (circuit.read_voltage_V * circuit.read_voltage_V * circuit.time_constant_s);
  return unit > 0 ? unit : circuit.node_capacitance_F / circuit.time_constant_s;
}

/// Plan of the deep resistive network (circuits/resistive/resistive_network.hpp, with its circuit and symbols) as a
/// circuit that settles and learns. Node l is a layer in the variables u_l = A_l ⋯ A_{L−1} v_l. In these its amplifiers
/// vanish, and the force is minus the slope of
///     E = Σ_l ½ Σ_ij g^l_ij (u_{l−1,i} − u_lj)² + bias_l,      u_0 = A_0 ⋯ A_{L−1} [x, −x],  u_L = v_L
///     bias_l = ½ Σ_j [gb_0j (r − u_lj)² + gb_1j (−r − u_lj)²],  r = A_l ⋯ A_{L−1} rail;   or −Σ_j b_j u_lj
/// This is the circuit's energy over c_L. The cost is the squared error of v_L, β is a conductance at the outputs, and
/// the factors c_l/c_L of the rule are already in. The unit of conductance gives a node of 1 the time constant τ. A
/// current b of layer l stands for b/(A_l ⋯ A_{L−1}) at its node. The first ⌊n_l/2⌋ nodes of a hidden layer are kept ≥
/// 0, the others ≤ 0, by ideal diodes (a box) or Shockley's. The latter's current I(v) at a node is the force A_l ⋯
/// A_{L−1} I(u_l/(A_l ⋯ A_{L−1})). Parameters: g<l> (n_{l−1}, n_l), l = 1 … L, then gb<l> (2, n_l) or b<l> (1, n_l).
/// Conductances may be devices.
class ResistivePlan final : public SamplePlan {
 public:
  /// Makes the plan. Conductances start uniform in ±scale/√n_{l−1} clipped at 0, currents at 0.
  explicit ResistivePlan(ResistiveShape shape, double scale = 1.0);

  std::string_view kind() const override { return "resistive"; }
  Index rows() const override { return shape_.rows; }
  Index inputs() const override { return shape_.features; }
  std::vector<Node> nodes() const override;
  std::vector<Parameter> parameters() const override;
  NodeReadout readout() const override { return {-1, shape_.layers() - 1, Normalization::none, -1}; }
  void initial(std::uint64_t seed, std::vector<Matrix<float>>& weights) const override;
  void initial(std::uint64_t seed, std::vector<Matrix<double>>& weights) const override;
  std::vector<std::unique_ptr<Term<float>>> terms(const Maps<float>& maps) const override;
  std::vector<std::unique_ptr<Term<double>>> terms(const Maps<double>& maps) const override;

  const ResistiveShape& shape() const { return shape_; }
  /// Parameter numbers of layer l = 1 … L.
  int link(int layer) const { return layer - 1; }
  int bias(int layer) const { return shape_.layers() + layer - 1; }
  Columns columns(int layer) const;
  /// Amplification A_l ⋯ A_{L−1} = u_l/v_l; for layer 0 the amplification of the inputs.
  double amplification(int layer) const;

 private:
  ResistiveShape shape_;
  double scale_;
};

enum class HiddenDiode { ideal, shockley, none };

/// Options of the section [resistive].
struct ResistiveOptions {
  std::vector<Index> hidden;
  std::vector<double> gain;
  ResistiveBias bias = {};
  double rail_voltage = {};
  HiddenDiode diode = {};
  double saturation_current = {}, emission = {};
  bool doubled_inputs = {};
  double initial_scale = {};
};
const Section<ResistiveOptions>& resistive_section();

/// Plan of resistive.* for a task of samples. UserError for a task of symbols, more gains than layers, or one that is
/// not positive.
std::shared_ptr<const NetworkPlan> resistive_plan(const Config& config, const TaskSizes& task);

/// Table of the keys that a resistive network reads. Its nodes hang on the lines of its arrays (NetworkKind::bare).
ParamTable resistive_keys();
StateFacts resistive_states(const Config& config);

/// Checks the keys: at most one gain behind the inputs and each hidden layer.
void check_resistive(const Config& config);

/// Physical circuit of a network of the kind resistive. Conductances are in S as the devices hold them. For numbers
/// they are in units of C/τ (circuit.node_capacitance over circuit.time_constant). Rails are in V and current sources
/// in A, with one unit of state equal to circuit.read_voltage; gains are as they are. UserError for another kind.
ResistiveNetwork resistive_circuit(const Network<double>& network, const CircuitSpec& circuit);

/// Export of the physical circuit for one sample, with checks at its settled state.
struct ResistiveExport {
  std::string netlist;   ///< ngspice operating point (circuits/spice/exports.hpp)
  double resistors = 0;  ///< number of resistors in the netlist
  double kirchhoff =
      0;  ///< largest net current into a node that no diode holds, over the largest current of a node's load
  double power_W = 0;  ///< heat of all resistors
};

/// Settles the network on the features (1, n) by coordinate descent in its own variables. Checks the voltages found
/// against Kirchhoff's law of the exported circuit. There must be diodes, of either law. Maps are read without noise
/// (noise_free()). ngspice writes the node voltages to `data_file`.
ResistiveExport export_resistive(const Network<double>& network, const CircuitSpec& circuit,
                                 ConstMatrixRef<double> features, const std::string& data_file);

/// Export of the first row of an example, with a note on Kirchhoff's law; as terms count its resistors.
NetlistExport resistive_netlist_export();

}  // namespace nudge
