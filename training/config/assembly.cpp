// SPDX-License-Identifier: Apache-2.0
#include "training/config/assembly.hpp"

#include <fmt/format.h>

#include <cmath>

#include "circuits/linear_map_factory.hpp"
#include "circuits/netlist/netlist_term.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "circuits/terms/node_terms.hpp"
#include "devices/device_config.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/product.hpp"
#include "sim/read_timing.hpp"
#include "training/config/chip_prices.hpp"
#include "training/config/hardware.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"
#include "training/config/stuck_maps.hpp"
#include "training/config/train_options.hpp"
#include "training/data/data_options.hpp"
#include "training/learning/cost_kinds.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/models/block/block_plan.hpp"
#include "training/models/weight_file.hpp"

namespace nudge {

void use_product_kernel(const Config& config) {
  set_product_kernel(product_kernel_of(run_options(config).product_kernel));
}

CorrectionSpec correction_spec(const Config& config) { return correction_section().read(config).path; }

Motion motion_of(const Config& config, const CircuitSpec& circuit) {
  const SettleOptions free = phase_options(config).phases.free;
  return free.solver == SettleSolver::second_order ? free.motion : Motion::of_amplifiers(amplifier_lag(circuit));
}

double read_slot_s(const Config& config) {
  const CircuitSpec circuit = circuit_spec(config);
  const double damping = model_options(config).damping;
  const double leak = network_kind(config).leak(config).at(damping);
  const ReadTiming step = euler_timing(RelaxationStep(config).at(damping), leak, motion_of(config, circuit));
  return step.duration * circuit.time_constant_s;
}

CrossbarSpec model_arrays(const Config& config) {
  CrossbarSpec spec = crossbar_spec(config);
  spec.tokens.count = coupled_rows(config);
  spec.tokens.slot_s = read_slot_s(config);
  spec.threads = thread_count(run_options(config).threads);
  return spec;
}

double auto_zero_time(const CrossbarSpec& arrays) {
  if (arrays.device.model == digital_model) return 0;
  const PeripherySpec& ports = arrays.periphery;
  const double raw_V = std::max(ports.forward.amplifier.offset_V, ports.transposed.amplifier.offset_V);
  return auto_zero_s(arrays.circuit, raw_V) / arrays.circuit.time_constant_s;
}

void check_arrays_fit(const CrossbarSpec& spec, const NetworkPlan& plan, std::size_t scalar_bytes) {
  if (spec.device.model == digital_model) return;
  std::vector<std::string> names;
  for (const Parameter& p : plan.parameters()) {
    if (p.on_devices) names.push_back(p.name);
  }
  check_stuck_names(spec, names);
  for (const Parameter& p : plan.parameters()) {
    if (!p.on_devices) continue;
    check_array_memory(p.shape.rows, p.shape.cols, parameter_array(spec, p, 1).mapping.kind, scalar_bytes,
                       physical_memory_bytes(), spec.tokens.replicas() * arrays_per_matrix(spec));
  }
}

CrossbarSpec parameter_array(const CrossbarSpec& spec, const Parameter& parameter, double largest) {
  CrossbarSpec own = spec;
  if (parameter.table) own.tokens.hold_time_s = 0;  // a line is chosen, nothing waits for its slot
  if (parameter.conductance) {
    own.circuit.thermal_noise = false;  // its resistors hold nodes, whose noise theirs is (Circuit::node_noise)
    own.mapping.kind = MappingKind::single;
    own.mapping.scale = ScalePolicy::keep;
    if (own.mapping.w_max == 0) own.mapping.w_max = spec.mapping.headroom * largest;
    if (parameter.unit_S > 0) {  // memristors of a netlist, which solves for their curves and selectors itself
      own.mapping.w_max = own.device.g_max_S / parameter.unit_S;
      own.device.curve = {};
      own.device.selector = {};
    }
  }
  set_stuck_map(own, parameter.name, parameter.shape.rows, parameter.shape.cols);
  return own;
}

template <class S>
double largest_conductance(const std::vector<Parameter>& parameters, const std::vector<Matrix<S>>& weights) {
  double largest = 0;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (!parameters[p].conductance || weights[p].size() == 0) continue;
    largest = std::max(largest, static_cast<double>(weights[p].maxCoeff()));
  }
  return largest;
}

namespace {

/// Of nodes that hang on resistors it is that of the capacitance which a conductance of 1 charges in τ.
template <class S>
double node_capacitance(const Network<S>& network, const CircuitSpec& circuit) {
  const std::vector<Parameter> parameters = network.plan().parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const double unit_J = network.map(static_cast<int>(p)).traits().unit_heat_J;
    if (parameters[p].conductance && unit_J > 0) return unit_J / (circuit.read_voltage_V * circuit.read_voltage_V);
  }
  return circuit.node_capacitance_F;
}

/// Gives the devices of a netlist the noise of their reads.
template <class S>
void set_read_noise(Network<S>& network, const DeviceSpec& device) {
  for (const auto& term : network.circuit().terms()) {
    if (auto* drawn = dynamic_cast<NetlistTerm<S>*>(term.get())) drawn->set_read_noise(device);
  }
}

/// Where the nodes move, what pushes them; where a solver finds what they settle to, what a sample of them has.
template <class S>
void set_thermal_noise(Network<S>& network, const CircuitSpec& circuit, SettleSolver solver) {
  if (!circuit.thermal_noise) return;
  for (const auto& term : network.circuit().terms()) {
    auto* drawn = dynamic_cast<NetlistTerm<S>*>(term.get());
    if (drawn == nullptr) continue;
    if (solver != SettleSolver::direct) return drawn->set_noise(circuit.temperature_K);
    return network.circuit().set_sampled_noise(sampled_noise(circuit, drawn->capacitance_F()));
  }
  const double sampled = sampled_noise(circuit, node_capacitance(network, circuit));
  if (solver == SettleSolver::coordinate) {
    network.circuit().set_sampled_noise(sampled);
  } else {
    network.circuit().set_node_noise(std::sqrt(2.0) * sampled);
  }
}

HoldSpec hold_spec(const CircuitSpec& circuit) {
  HoldSpec hold;
  if (circuit.hold_capacitance_F > 0) hold.noise = sampled_noise(circuit, circuit.hold_capacitance_F);
  hold.offset = circuit.hold_offset_V / circuit.read_voltage_V;
  hold.adc = circuit.phase_adc;
  return hold;
}

}  // namespace

template <class S>
std::unique_ptr<Network<S>> make_network(const Config& config, const std::shared_ptr<const NetworkPlan>& plan,
                                         Weights weights) {
  const std::uint64_t seed = run_options(config).seed;
  CrossbarSpec spec = model_arrays(config);
  spec.circuit = priced_circuit(config, *plan);
  if (weights == Weights::configured) check_arrays_fit(spec, *plan, sizeof(S));
  std::vector<Matrix<S>> initial;
  plan->initial(seed, initial);
  if (const std::string file = model_options(config).weights; !file.empty()) read_weights(file, *plan, initial);
  Maps<S> maps;
  const std::vector<Parameter> parameters = plan->parameters();
  const double largest = largest_conductance(parameters, initial);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (weights == Weights::configured && spec.device.model != digital_model && parameters[p].on_devices &&
        initial[p].size() > 0) {
      CrossbarSpec own = parameter_array(spec, parameters[p], largest);
      // What drives the columns of a read-out, its error, answers what they sense.
      if (static_cast<int>(p) == plan->readout().parameter) own.periphery.directions = Directions::sequential;
      maps.push_back(make_linear_map<S>(own, initial[p], static_cast<std::uint32_t>(p), seed));
    } else {
      maps.push_back(number_map<S>(parameters[p], std::move(initial[p])));
    }
  }
  auto network = std::make_unique<Network<S>>(plan, std::move(maps), chosen_cost(config));
  if (weights == Weights::configured && spec.device.model != digital_model) {
    set_read_noise(*network, spec.device);
    set_thermal_noise(*network, spec.circuit, phase_options(config).phases.free.solver);
    if (spec.circuit.leak_spread > 0) {
      network->circuit().add(std::make_unique<LeakSpread<S>>(
          drawn_deviations<S>(spec.circuit.leak_spread, network->cols(), seed), plan->nodes().size()));
    }
  }
  network->circuit().set_nudged_drive(phase_options(config).phases.drive);
  return network;
}

RelaxationStep::RelaxationStep(const Config& config) : leak_(network_kind(config).leak(config)) {
  const PhaseOptions options = phase_options(config);
  fixed_ = options.fixed_step;
  fraction_ = options.step_fraction;
  motion_ = options.phases.free.motion;
}

double RelaxationStep::at(double damping) const {
  if (fixed_ > 0) return fixed_;
  const double leak = leak_.at(damping);
  return motion_.step_like(fraction_ / (leak > 0 ? leak : 1));
}

template <class S>
double RelaxationStep::of(const Circuit<S>& circuit) const {
  const double damping = circuit.damping().value;
  if (fixed_ > 0 || leak_.at(damping) > 0) return at(damping);
  const double load = circuit.largest_load();
  return motion_.step_like(load > 0 ? fraction_ / load : fraction_);
}

namespace {

/// All but what estimators alone ask, which reads the netlist of a network that is one.
RunFacts run_facts(const Config& config) {
  const PhaseOptions options = phase_options(config);
  const NetworkKind& kind = network_kind(config);
  const CircuitSpec circuit = circuit_section().read(config);
  RunFacts facts;
  facts.network = kind.name;
  facts.feed_forward = kind.feed_forward(config);
  if (kind.states != nullptr) facts.states = kind.states(config);
  facts.solver = options.phases.free.solver;
  facts.sweeps = options.sweeps();
  facts.step = options.fixed_step;
  facts.moving_input = moves_input(config);
  facts.centered = options.phases.sides == NudgeSides::centered;
  facts.exact_nudge = options.phases.frozen_cost || cost_choice_section().read(config).name == "auto";
  facts.lags = circuit.amplifier_bandwidth_Hz > 0 || leaves_bandwidth_open(config);
  facts.unequal_leaks = circuit.leak_spread > 0;
  facts.node_noise = on_devices(config) && circuit.thermal_noise;
  facts.products = on_devices(config) && pulses_multiply(config);
  facts.physical = on_devices(config) && hardware_section().read(config).level != HardwareLevel::ideal;
  return facts;
}

}  // namespace

bool leaves_bandwidth_open(const Config& config) {
  const CircuitSpec circuit = circuit_section().read(config);
  const PhaseOptions phases = phase_options(config);
  return on_devices(config) && circuit.gain_bandwidth_Hz > 0 && circuit.amplifier_bandwidth_Hz == 0 &&
         phases.phases.free.solver == SettleSolver::euler && !phases.sweeps();
}

std::string phase_misfit(const Config& config, const std::string& key, bool noisy_reads) {
  if (!network_kind(config).is_circuit()) return "";
  const auto of = [&](const Config& one) {
    const std::vector<Requirement> needs = phase_needs(key, one.text(key));
    if (needs.empty()) return std::string();
    RunFacts facts = run_facts(one);
    facts.noisy_reads = noisy_reads;
    return first_broken(needs, facts);
  };
  const std::string why = of(config);
  if (why.empty()) return "";
  std::vector<std::string> fitting;
  for (const std::string& value : find_row(config.table(), key)->choices) {
    Config other = config;
    other.set_from_text(key, value);
    if (of(other).empty()) fitting.push_back(value);
  }
  return fmt::format("does not fit: {}{}", why, fitting.empty() ? "" : "; " + alternatives_text(fitting) + " would");
}

std::string estimator_misfit(const Config& config, const std::string& estimator) {
  const NetworkKind& kind = network_kind(config);
  if (kind.is_circuit() && estimator == backprop_name) {
    return "this network settles: use estimator = bptt, backprop through its relaxation. backprop is for "
           "network.kind = sequence_model";
  }
  const EstimatorKind* how = find_estimator(estimator);
  if (how == nullptr) return estimator == own_estimator_name ? own_estimator_missing : "";
  if (!kind.is_circuit()) return "network.kind = " + kind.name + " does not settle: it learns by backprop";
  RunFacts facts = run_facts(config);
  facts.has_energy = kind.contrastive != nullptr && kind.contrastive(config);
  if (kind.lacks_layer_energy != nullptr) facts.without_layer_energy = kind.lacks_layer_energy(config);
  return first_broken(how->needs, facts);
}

namespace {

/// Rounding of one Jᵀ u limits what GMRES can reach: 100 ulps of S.
template <class S>
double reachable(double tolerance) {
  return std::max(tolerance, 100.0 * static_cast<double>(std::numeric_limits<S>::epsilon()));
}

}  // namespace

template <class S>
BatchGradientOptions gradient_options(const Config& config, const std::string& estimator) {
  const RunOptions run = run_options(config);
  const CrossbarSpec arrays = model_arrays(config);
  BatchGradientOptions options;
  options.estimator = estimator.empty() ? run.estimator : estimator;
  EstimatorOptions& phases = options.phases;
  phases = phase_options(config).phases;
  phases.step = phases.free.step = RelaxationStep(config).at(model_options(config).damping);
  phases.adjoint_tolerance = reachable<S>(phases.adjoint_tolerance);
  phases.free.motion = motion_of(config, arrays.circuit);
  const EstimatorKind* kind = find_estimator(options.estimator);
  if (kind == nullptr || find_row(kind->keys, "nudge.running_mean") == nullptr) phases.running_mean = 0;
  if (phases.beta == 0) phases.beta = default_beta<S>(options.estimator);
  if (arrays.device.model != digital_model) {
    options.slots = arrays.tokens.slots();
    options.replicated = arrays.tokens.replicas() > 1;
  }
  options.persistent_states = phase_options(config).persistent_states;
  options.growth = growth_section().read(config);
  options.correction = correction_spec(config);
  options.reads = read_policy(config);
  if (arrays.device.model != digital_model) {
    options.hold = hold_spec(arrays.circuit);
    options.zero_time = auto_zero_time(arrays);
  }
  const bool reads_states = kind != nullptr && kind->nudge != Nudge::none;
  if (arrays.device.model != digital_model && reads_states) options.correlator = correlator_section().read(config);
  options.threads = run.threads;
  options.seed = run.seed;
  options.over_ranks = batches_are_shared();
  return options;
}

template <class S>
BatchGradientOptions exact_options(const Config& config) {
  BatchGradientOptions options = gradient_options<S>(config, moves_input(config) ? "bptt" : "implicit");
  options.growth.strength = 0;
  leave_out_amplifiers(options.phases.free);
  options.reads = ReadPolicy::all_ideal();
  options.correction = {};
  options.hold = {};
  options.correlator = {};
  const GradcheckOptions check = gradcheck_section().read(config);
  options.phases.adjoint_tolerance = reachable<S>(check.adjoint_tolerance);
  options.phases.adjoint_iterations = check.adjoint_iterations;
  return options;
}

#define NUDGE_ASSEMBLY(S)                                                                                        \
  template std::unique_ptr<Network<S>> make_network<S>(const Config&, const std::shared_ptr<const NetworkPlan>&, \
                                                       Weights);                                                 \
  template double largest_conductance<S>(const std::vector<Parameter>&, const std::vector<Matrix<S>>&);          \
  template double RelaxationStep::of<S>(const Circuit<S>&) const;                                                \
  template BatchGradientOptions gradient_options<S>(const Config&, const std::string&);                          \
  template BatchGradientOptions exact_options<S>(const Config&);
NUDGE_BOTH_PRECISIONS(NUDGE_ASSEMBLY)

}  // namespace nudge
