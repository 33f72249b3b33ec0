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

/// The objects that a configuration describes; every command starts from these.

/// Makes product.kernel the choice of the whole process; the start of every run.
void use_product_kernel(const Config& config);

/// The arrays of a run: crossbar_spec(config), programmed and solved on the threads of the config (within parallel loops, as
/// the points of a sweep are, OpenMP gives them one), and used by the rows that its network has at the same time (coupled_rows),
/// in slots as long as a step of the relaxation at the initial damping.
CrossbarSpec model_arrays(const Config& config);

/// Time of an example in which the amplifiers of arrays sample their offsets, in units of tau; 0 of exact numbers.
double auto_zero_time(const CrossbarSpec& arrays);

/// UserError when the arrays that hold one matrix of the model (replicas of all tokens included) are larger than this
/// machine's memory: before anything of it is made.
void check_arrays_fit(const CrossbarSpec& spec, const NetworkPlan& plan, std::size_t scalar_bytes);

/// What holds the weights.
enum class Weights {
  configured,  ///< device.model
  digital,     ///< exact numbers and circuits: references, and the run beside
};

/// The array of one parameter: conductances are bare devices (MappingKind::single), all of a network on the scale on which the
/// largest, `largest`, takes crossbar.headroom of the way to g_max, unless crossbar.w_max sets it. Reads what device.stuck_map says of it.
CrossbarSpec parameter_array(const CrossbarSpec& spec, const Parameter& parameter, double largest);

/// The largest weight of all conductances of a network; 0 where it has none.
template <class S>
double largest_conductance(const std::vector<Parameter>& parameters, const std::vector<Matrix<S>>& weights);

/// What real circuits make of the correction of the nudged phase.
CorrectionSpec correction_spec(const Config& config);

/// The network with its initial weights (a function of the seed), programmed into the configured maps.
template <class S>
std::unique_ptr<Network<S>> make_network(const Config& config, const std::shared_ptr<const NetworkPlan>& plan,
                                         Weights weights);

/// ε = relaxation.step, or relaxation.step_fraction/L when that is 0, with the largest leak L of a node; read from a config once.
class RelaxationStep {
 public:
  explicit RelaxationStep(const Config& config);
  /// At the damping c: L is 1 + s·c of the block.
  double at(double damping) const;
  /// At the present damping of a circuit; where its weights load its units, L is its largest load at present.
  template <class S>
  double of(const Circuit<S>& circuit) const;

 private:
  double fixed_, fraction_;
  NodeLeak leak_;
};

/// True if the bandwidth of the amplifiers follows from their gain-bandwidth and the lines of arrays that are made yet
/// (chosen_circuit): circuit.amplifier_bandwidth = auto of nodes that move by steps of euler all at once.
bool leaves_bandwidth_open(const Config& config);

/// Why the value of relaxation.solver, relaxation.schedule or nudge.form does not fit the rest of the config (phase_needs), and which would;
/// or nothing. Whether reads have fresh noise only devices tell.
std::string phase_misfit(const Config& config, const std::string& key, bool noisy_reads = false);

/// Why an estimator cannot work as the config relaxes, or nothing: the first of its requirements (EstimatorKind::needs) that is broken.
std::string estimator_misfit(const Config& config, const std::string& estimator);

/// Options of a BatchGradient for one estimator ("" : the configured one) at the initial damping. beta = 0 in the config
/// chooses default_beta. Growth penalty included.
template <class S>
BatchGradientOptions gradient_options(const Config& config, const std::string& estimator);

/// The exact adjoint at the z* that a noise-free free phase reaches, without growth penalty and with an ideal correction
/// path: the truth of gradient comparisons, to be run on an exact_copy() of the network.
template <class S>
BatchGradientOptions exact_options(const Config& config);

}  // namespace nudge
