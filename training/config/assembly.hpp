// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "circuits/correction_path.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "sim/config/config.hpp"
#include "training/batch/batch_gradient.hpp"
#include "training/models/registry.hpp"

namespace nudge {

/// Objects that a config describes; every command starts from these.

/// Makes product.kernel the choice of the whole process; the start of every run.
void use_product_kernel(const Config& config);

/// Arrays of a run: crossbar_spec(config), programmed and solved on the threads of the config. Within parallel loops, as for the
/// points of a sweep, OpenMP gives them one thread. The rows that the network has at the same time (coupled_rows) use the
/// arrays. A slot is as long as a step of the relaxation at the initial damping.
CrossbarSpec model_arrays(const Config& config);

/// Length in seconds of a read in a relaxation: of a step at the initial damping. A network that does not settle has none.
double read_slot_s(const Config& config);

/// Time of an example in which the amplifiers of arrays sample their offsets, in units of tau; 0 of exact numbers.
double auto_zero_time(const CrossbarSpec& arrays);

/// Throws UserError, before anything is made, if the arrays that hold one matrix of the model are larger than this
/// machine's memory. Replicas of all tokens count.
void check_arrays_fit(const CrossbarSpec& spec, const NetworkPlan& plan, std::size_t scalar_bytes);

/// Holder of the weights.
enum class Weights {
  configured,  ///< device.model
  digital,     ///< exact numbers and circuits: references, and the run beside
};

/// Array of one parameter. Conductances are bare devices (MappingKind::single). All of a network have one scale: `largest`, the largest of
/// them, takes crossbar.headroom of the way to g_max, unless crossbar.w_max sets the scale. device.stuck_map may name the array.
CrossbarSpec parameter_array(const CrossbarSpec& spec, const Parameter& parameter, double largest);

/// Largest weight of all conductances of a network; 0 without conductances.
template <class S>
double largest_conductance(const std::vector<Parameter>& parameters, const std::vector<Matrix<S>>& weights);

/// Imperfections of the circuits that form the correction of the nudged phase.
CorrectionSpec correction_spec(const Config& config);

/// Network with its initial weights (a function of the seed), programmed into the configured maps.
template <class S>
std::unique_ptr<Network<S>> make_network(const Config& config, const std::shared_ptr<const NetworkPlan>& plan,
                                         Weights weights);

/// Motion of the nodes: mass and friction of relaxation.solver = second_order, else the circuit's amplifiers.
Motion motion_of(const Config& config, const CircuitSpec& circuit);

/// Step of the relaxation, read from a config once: ε = relaxation.step, or relaxation.step_fraction/L if that is 0. L is the
/// largest leak of a node. Nodes with a mass take the ε that is as stable (Motion::step_like).
class RelaxationStep {
 public:
  explicit RelaxationStep(const Config& config);
  /// ε at the damping c: L is 1 + s·c of the block.
  double at(double damping) const;
  /// ε at the present damping of a circuit. If its weights load its units, L is their largest load at present.
  template <class S>
  double of(const Circuit<S>& circuit) const;

 private:
  double fixed_, fraction_;
  Motion motion_;
  NodeLeak leak_;
};

/// True if the bandwidth of the amplifiers follows from their gain-bandwidth and the lines of arrays that are not made
/// yet (chosen_circuit). This is circuit.amplifier_bandwidth = auto for nodes that move all at once by steps of euler.
bool leaves_bandwidth_open(const Config& config);

/// Reason why the value of relaxation.solver, relaxation.schedule or nudge.form does not fit the rest of the config (phase_needs), and the
/// values that would. Empty: it fits. noisy_reads: whether devices make fresh noise.
std::string phase_misfit(const Config& config, const std::string& key, bool noisy_reads = false);

/// Reason why an estimator cannot work as the config relaxes: the first broken of its requirements (EstimatorKind::needs). Empty: it
/// works.
std::string estimator_misfit(const Config& config, const std::string& estimator);

/// Options of a BatchGradient for one estimator ("" : the configured one) at the initial damping. beta = 0 in the config
/// chooses default_beta. Growth penalty included.
template <class S>
BatchGradientOptions gradient_options(const Config& config, const std::string& estimator);

/// Options of the exact adjoint, the truth of gradient comparisons. It is taken at the z* of a noise-free free phase,
/// without growth penalty and with an ideal correction path. Run it on an exact_copy() of the network.
template <class S>
BatchGradientOptions exact_options(const Config& config);

}  // namespace nudge
