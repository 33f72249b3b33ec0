// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/section.hpp"
#include "training/data/task.hpp"
#include "training/learning/estimators/requirement.hpp"
#include "training/models/hopfield/hopfield_plan.hpp"
#include "training/models/network.hpp"

namespace nudge {

/// Feedback from a layer to the one below.
enum class HopfieldFeedback { transpose, separate, none };

/// Options of the section [neuron].
struct NeuronOptions {
  double gain_spread = {}, offset_spread = {};  ///< spreads of the units of a layer (UnitSpread)
};
const Section<NeuronOptions>& neuron_section();

/// Options of the section [hopfield].
struct HopfieldOptions {
  std::vector<Index> hidden;
  HopfieldForm form = {};
  std::string activation, output_activation;
  HopfieldFeedback feedback = {};
  std::string cost;
  std::vector<std::string> skips;  ///< "1-3"
  double gain = {};
};
const Section<HopfieldOptions>& hopfield_section();

/// Options of the section [convolutional], a list entry per layer or one for all.
struct ConvolutionOptions {
  std::vector<Index> maps, kernel, pool, stride, padding;
  bool maximum = {};  ///< blocks give their largest value
};
const Section<ConvolutionOptions>& convolutional_section();

/// Makes the layered Hopfield network of [hopfield] for samples. n_0 = their features, then come the hidden layers. The
/// squared error adds a last layer of as many units as classes or values. UserError for tasks of symbols and costs that
/// do not fit.
std::shared_ptr<const NetworkPlan> hopfield_plan(const Config& config, const TaskSizes& task);

/// Makes the layered Hopfield network with the convolutions of [convolutional] below the dense layers. UserError for
/// features that are no image and blocks that do not divide it.
std::shared_ptr<const NetworkPlan> convolutional_plan(const Config& config, const TaskSizes& task);

/// Tables of the keys that dense and convolutional Hopfield networks read.
ParamTable hopfield_keys();
ParamTable convolutional_keys();

/// Checks the keys: a read-out needs classes and a layer to read.
void check_hopfield(const Config& config);

/// True for a reciprocal network: it has an energy.
bool hopfield_contrasts(const Config& config);
/// Names of the weights without a layer energy (NetworkKind::lacks_layer_energy); empty: all have one.
std::string hopfield_lacks_energy(const Config& config);
/// True if hopfield.feedback = none.
bool hopfield_feeds_forward(const Config& config);
StateFacts hopfield_states(const Config& config);

/// Inputs of a transient of a layered Hopfield network, besides its weights.
struct HopfieldNetlist {
  Matrix<double> input;   ///< x (1, n_0), V, clamped
  Matrix<double> start;   ///< s at t = 0, (1, Σ n_l), V
  double beta = 0;        ///< β of the nudge −β ∂C/∂s, of either sign; 0: the free phase
  Matrix<double> target;  ///< target of a nudge (1, n_L); of a read-out (1, V), 1 at the class and 0 at the others
  double time_constant_s = 25e-9;
  double capacitance_F = 100e-15;  ///< capacitance of every state node
  double stop_s = 2e-6;
  double print_step_s = 1e-9;
  double on_ratio = 1e6;  ///< slope of a diode that holds a unit in its box, over the leak C/τ
};

/// Writes one sample of a layered Hopfield network (dense, convolutional, any form and feedback) as an ngspice transient, one volt per unit
/// of state. For unit j of layer l:
///   - node s<l>_<j>: a capacitance C and the leak r, τ/C, to ground; vx<i>: the source of input i, at node x<i>;
///   - a<l>_<j>, d<l>_<j>: r = ρ(s) and ρ'(s) of NodeActivation as behavioural sources, where ρ is not the identity (then s stands
///     for r);
///   - g…: one transconductance per nonzero entry of a link's matrix M, from r_i to unit j (current M_ij C/τ), and one from r_j back to
///     unit i of the layer below: M_ij again, the transposed read of the same device, or the entry of the separate feedback array. A
///     kernel stands once per pooled position, its p² patches averaged, as one array is read once per position. ib…: the bias, a current
///     source;
///   - with ρ not the identity these currents flow into h<l>_<j>, 1 Ω to ground, and bf charges s with ρ'(s) times that voltage, times C/τ;
///   - bc<l>_<j>: the box of the projected form, two diodes of conductance on_ratio · C/τ beyond its bounds: a held unit is |I|/on_ratio
///     outside, I the force that it is held against;
///   - the nudge: a transconductance −β C/τ and a current β y C/τ at every output; of a cross-entropy, logits l<k>, e<k> = exp(l), the
///     softmax p<k>, and transconductances −β W_o from them, currents β W_o of the target's class.
/// The control block writes time and the voltages of the units, layer by layer, to `data_file` (wrdata, wr_singlescale). Weights are taken
/// as a noise-free read of the maps uses them.
std::string hopfield_netlist(const Network<double>& network, const HopfieldNetlist& spec, const std::string& data_file);

/// Export of the free phase of the first row of an example. It lasts a quarter longer than the simulation takes to
/// settle to ‖F‖/‖s‖ = 1e-9; the note says this time and the residual. Terms are entries of the links' matrices, both
/// ways. UserError for curved devices.
NetlistExport hopfield_export();

}  // namespace nudge
