// SPDX-License-Identifier: Apache-2.0
#include "training/config/setup.hpp"

#include "circuits/crossbar/array_memory.hpp"
#include "circuits/crossbar/crossbar_config.hpp"
#include "circuits/digital_conductances.hpp"
#include "circuits/linear_map_factory.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/product_kernel.hpp"
#include "sim/read_timing.hpp"
#include "training/config/choice_lists.hpp"
#include "training/models/weight_file.hpp"

namespace nudge {

void use_product_kernel(const Config& config) { set_product_kernel(product_kernel_of(config.text("product.kernel"))); }

Schedule schedule_of(const Config& config) {
  return {config.text("train.schedule"), config.real("train.learning_rate"),
          static_cast<std::uint64_t>(config.integer("train.steps")),
          static_cast<std::uint64_t>(config.integer("train.warmup")), config.real("train.final_rate_fraction")};
}

OptimizerOptions optimizer_options(const Config& config) {
  return {config.real("train.momentum"), config.real("train.adam_beta1"), config.real("train.adam_beta2"),
          config.real("train.adam_epsilon")};
}

CorrectionSpec correction_spec(const Config& config) {
  return {config.real("correction.gain_error"),
          config.real("correction.gain_spread"),
          config.real("correction.offset"),
          config.real("correction.noise"),
          config.real("correction.delay"),
          {static_cast<int>(config.integer("correction.converter_bits")), config.real("correction.converter_range")}};
}

CrossbarSpec model_arrays(const Config& config) {
  CrossbarSpec spec = crossbar_spec(config);
  spec.tokens.count = coupled_rows(config);
  const double damping = config.real("model.damping");
  const double leak = network_kind(config).leak(config, damping);
  const ReadTiming step = euler_timing(relaxation_step(config, damping), leak, amplifier_lag(spec.circuit));
  spec.tokens.slot_s = step.duration * spec.circuit.time_constant_s;
  spec.threads = thread_count(static_cast<int>(config.integer("threads")));
  return spec;
}

void check_arrays_fit(const CrossbarSpec& spec, const NetworkPlan& plan, std::size_t scalar_bytes) {
  if (spec.device.model == digital_model) return;
  for (const Parameter& p : plan.parameters()) {
    if (!p.on_devices) continue;
    check_array_memory(p.shape.rows, p.shape.cols, parameter_array(spec, p, 1).mapping.kind, scalar_bytes,
                       physical_memory_bytes(), spec.tokens.replicas() * (spec.transfer.active ? 2 : 1));
  }
}

CrossbarSpec parameter_array(const CrossbarSpec& spec, const Parameter& parameter, double largest) {
  if (!parameter.conductance) return spec;
  CrossbarSpec own = spec;
  own.mapping.kind = MappingKind::single;
  own.mapping.scale = ScalePolicy::keep;
  if (own.mapping.w_max == 0) own.mapping.w_max = spec.mapping.headroom * largest;
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

template <class S>
std::unique_ptr<Network<S>> make_network(const Config& config, const std::shared_ptr<const NetworkPlan>& plan,
                                         Weights weights) {
  const auto seed = static_cast<std::uint64_t>(config.integer("seed"));
  const CrossbarSpec spec = model_arrays(config);
  if (weights == Weights::configured) check_arrays_fit(spec, *plan, sizeof(S));
  std::vector<Matrix<S>> initial;
  plan->initial(seed, initial);
  if (const std::string& file = config.text("model.weights"); !file.empty()) read_weights(file, *plan, initial);
  Maps<S> maps;
  const std::vector<Parameter> parameters = plan->parameters();
  const double largest = largest_conductance(parameters, initial);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (weights == Weights::configured && spec.device.model != digital_model && parameters[p].on_devices &&
        initial[p].size() > 0) {
      maps.push_back(make_linear_map<S>(parameter_array(spec, parameters[p], largest), initial[p],
                                        static_cast<std::uint32_t>(p), seed));
    } else if (parameters[p].conductance) {
      maps.push_back(std::make_unique<DigitalConductances<S>>(std::move(initial[p])));
    } else {
      maps.push_back(std::make_unique<DigitalMatrix<S>>(std::move(initial[p])));
    }
  }
  auto network = std::make_unique<Network<S>>(plan, std::move(maps));
  if (weights == Weights::configured && spec.device.model != digital_model) {
    network->circuit().set_node_noise(clamp_noise(spec.circuit));
  }
  network->circuit().set_nudged_drive(nudged_drives.of(config, "nudge.drive"));
  return network;
}

double relaxation_step(const Config& config, double damping) {
  const double fixed = config.real("relaxation.step");
  if (fixed > 0) return fixed;
  const double leak = network_kind(config).leak(config, damping);
  return config.real("relaxation.step_fraction") / (leak > 0 ? leak : 1);
}

template <class S>
double relaxation_step(const Config& config, const Circuit<S>& circuit) {
  const double damping = circuit.damping().value;
  if (config.real("relaxation.step") > 0 || network_kind(config).leak(config, damping) > 0) {
    return relaxation_step(config, damping);
  }
  const double load = circuit.largest_load();
  return load > 0 ? config.real("relaxation.step_fraction") / load : config.real("relaxation.step_fraction");
}

std::string estimator_misfit(const Config& config, const std::string& estimator) {
  const bool sweeps = relaxation_schedules.of(config, "relaxation.schedule") == RelaxationSchedule::sweep;
  if (sweeps && (estimator == "dyadic" || estimator == "aep_tracked")) {
    return "relaxation.schedule must be parallel: state and adjoint move together";
  }
  const NetworkKind& kind = network_kind(config);
  if (estimator == "ep_contrastive" && (kind.contrastive == nullptr || !kind.contrastive(config))) {
    return "it contrasts energies, which network.kind = " + kind.name +
           " has not for its whole force (ep, or aep_transposed where the force is not reciprocal)";
  }
  if (estimator != "bptt") return "";
  if (config.text("relaxation.solver") != "euler") return "relaxation.solver must be euler, whose steps it unrolls";
  if (sweeps && !(kind.feed_forward(config) && config.real("relaxation.step") == 1)) {
    return "relaxation.schedule must be parallel unless relaxation.step = 1 and every node is driven by earlier ones "
           "alone";
  }
  return "";
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
  BatchGradientOptions options;
  options.estimator = estimator.empty() ? config.text("estimator") : estimator;
  EstimatorOptions& phases = options.phases;
  phases.step = phases.free.step = relaxation_step(config, config.real("model.damping"));
  phases.free.solver = config.text("relaxation.solver");
  phases.free.schedule = relaxation_schedules.of(config, "relaxation.schedule");
  phases.frozen_cost = frozen_currents.of(config, "nudge.cost_current");
  phases.free.max_steps = static_cast<int>(config.integer("relaxation.free_steps"));
  phases.free.tolerance = config.real("relaxation.tolerance");
  phases.free.average_last = static_cast<int>(config.integer("relaxation.average_free"));
  phases.free.divergence_ratio = config.real("relaxation.divergence_ratio");
  phases.free.ode_relative_error = config.real("relaxation.ode_tolerance");
  phases.free.memory = static_cast<int>(config.integer("relaxation.memory"));
  phases.adjoint_tolerance = reachable<S>(config.real("relaxation.adjoint_tolerance"));
  const CrossbarSpec arrays = model_arrays(config);
  phases.free.lag = amplifier_lag(arrays.circuit);
  if (arrays.device.model != digital_model) options.slots = arrays.tokens.slots();
  phases.nudged_steps = static_cast<int>(config.integer("relaxation.nudged_steps"));
  phases.average_nudged = static_cast<int>(config.integer("relaxation.average_nudged"));
  phases.beta = config.real("beta") > 0 ? config.real("beta") : default_beta<S>(options.estimator);
  phases.sides = nudge_sides.of(config, "nudge.sides");
  phases.points = static_cast<int>(config.integer("nudge.points"));
  phases.clip = config.real("nudge.clip");
  options.growth = {config.real("growth.strength"), config.real("growth.threshold"), config.real("growth.probe"),
                    static_cast<int>(config.integer("growth.iterations")), config.flag("growth.samples")};
  options.correction = correction_spec(config);
  options.reads = read_policy(config);
  options.threads = static_cast<int>(config.integer("threads"));
  options.seed = static_cast<std::uint64_t>(config.integer("seed"));
  options.over_ranks = batches_are_shared();
  return options;
}

template <class S>
BatchGradientOptions exact_options(const Config& config) {
  BatchGradientOptions options = gradient_options<S>(config, "implicit");
  options.growth.strength = 0;
  options.phases.free.lag = 0;
  options.reads = ReadPolicy::all_ideal();
  options.correction = {};
  options.phases.adjoint_tolerance = reachable<S>(config.real("gradcheck.adjoint_tolerance"));
  options.phases.adjoint_iterations = static_cast<int>(config.integer("gradcheck.adjoint_iterations"));
  return options;
}

#define NUDGE_INSTANTIATE(S)                                                                                     \
  template std::unique_ptr<Network<S>> make_network<S>(const Config&, const std::shared_ptr<const NetworkPlan>&, \
                                                       Weights);                                                 \
  template double largest_conductance<S>(const std::vector<Parameter>&, const std::vector<Matrix<S>>&);          \
  template double relaxation_step<S>(const Config&, const Circuit<S>&);                                          \
  template BatchGradientOptions gradient_options<S>(const Config&, const std::string&);                          \
  template BatchGradientOptions exact_options<S>(const Config&);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
