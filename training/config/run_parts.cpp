// SPDX-License-Identifier: Apache-2.0
#include "training/config/run_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "circuits/crossbar/mapping.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "devices/device_config.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/ranks.hpp"
#include "training/config/assembly.hpp"
#include "training/config/chip_prices.hpp"
#include "training/config/hardware_aware.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"
#include "training/config/train_options.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/learning/gradient.hpp"

namespace nudge {
namespace {

/// Refuses a null that learns the read-out of a network that has none.
void check_null(const Config& config, const NetworkPlan& plan) {
  if (train_options(config).null != "readout" || plan.readout().parameter >= 0) return;
  throw UserError(
      "train.null = readout: this network has no read-out that could learn alone. Use frozen_devices, noise_gradient "
      "or all");
}

}  // namespace

void check_plan(const Config& config, const NetworkPlan& plan) {
  check_null(config, plan);
  check_chip_tiles(config, plan);
  check_write_threshold(config, model_arrays(config), plan);
}

RunParts run_parts(const Config& config, Work work) {
  use_product_kernel(config);
  RunParts parts;
  check_placed(config, [&parts, work](const Config& c) {
    parts.task = make_task(c);
    if (!network_kind(c).is_circuit()) return check_memory(c, run_memory(c, parts.task->sizes()), work);
    parts.plan = network_plan(c, parts.task->sizes());
    check_plan(c, *parts.plan);
    check_arrays_fit(model_arrays(c), *parts.plan, run_options(c).double_precision() ? sizeof(double) : sizeof(float));
    check_memory(c, run_memory(c, *parts.plan), work);
    static_cast<void>(hardware_aware_devices(c));
  });
  return parts;
}

RunParts circuit_parts(const Config& config) {
  RunParts parts = run_parts(config);
  if (parts.plan == nullptr) {
    throw UserError(
        fmt::format("network.kind = {} does not settle, so it has no gradient to check, no devices and no netlist. "
                    "Use it with nudge train, sweep, compare and generate",
                    network_kind(config).name));
  }
  return parts;
}

namespace {

double scalar_bytes(const Config& config) {
  return run_options(config).double_precision() ? sizeof(double) : sizeof(float);
}

/// Of what an array keeps while it is programmed (array_memory_bytes) what it keeps afterwards: of 7 a + 1 numbers for each weight of a devices
/// 5 a + 1, which is 0.73 of them or more.
constexpr double kKept = 0.7;

/// Bytes of weights, of which so many are numbers, and of their gradients: each chunk of a batch adds up its own (BatchChunks), and they are
/// summed into one. The numbers have an optimizer, devices may have none.
void add_numbers(const Config& config, double numbers, Index examples, RunMemory& needed) {
  const TrainOptions options = train_options(config);
  const double bytes = scalar_bytes(config);
  const Index chunks = rank_count() > 1 ? 1 : std::min(kChunks, examples);  // ranks share them
  needed.network += bytes * numbers;
  const double gradients = chunks > 1 ? static_cast<double>(chunks) + 1 : 1;
  const double means = estimator_numbers(run_options(config).estimator, phase_options(config).phases);
  needed.learning = bytes * ((gradients + means) * needed.weights +
                             optimizer_kind(options.optimizer).numbers(options.rule) * numbers);
}

/// What a key says that may be a size: its largest integer; 0 of all else.
double size_of(const Config& config, const std::string& key) {
  const ParamKind kind = find_row(config.table(), key)->kind;
  if (kind == ParamKind::integer) return static_cast<double>(config.integer(key));
  double largest = 0;
  if (kind != ParamKind::integers) return largest;
  for (const std::int64_t one : config.integers(key)) largest = std::max(largest, static_cast<double>(one));
  return largest;
}

/// The key to change: the largest size that was set among those that the kind of network reads.
std::string key_of(const Config& config, const RunMemory& needed) {
  if (needed.states > needed.network + needed.learning && !config.at_default("train.batch")) return "train.batch";
  std::string found = "network.kind";
  double largest = 0;
  for (const ParamRow& row : network_kind(config).keys) {
    if (config.at_default(row.key) || size_of(config, row.key) <= largest) continue;
    largest = size_of(config, row.key);
    found = row.key;
  }
  return found;
}

}  // namespace

RunMemory run_memory(const Config& config, const NetworkPlan& plan, const FreeMemory& free) {
  RunMemory needed;
  const bool devices = on_devices(config);
  const CrossbarSpec arrays = devices ? model_arrays(config) : CrossbarSpec{};
  double numbers = 0;
  for (const Parameter& p : plan.parameters()) {
    const double count = static_cast<double>(p.shape.rows) * static_cast<double>(p.shape.cols);
    needed.weights += count;
    if (!devices || !p.on_devices) {
      numbers += count;
      continue;
    }
    needed.network += kKept * static_cast<double>(arrays.tokens.replicas() * arrays_per_matrix(arrays)) *
                      array_memory_bytes(p.shape.rows, p.shape.cols, parameter_array(arrays, p, 1).mapping.kind,
                                         static_cast<std::size_t>(scalar_bytes(config)));
  }
  const Index batch = static_cast<Index>(train_options(config).batch), rows = plan.rows();
  const Index examples =
      plan.couples_rows() ? batch : (batch + rows - 1) / rows;  // independent samples stand side by side
  add_numbers(config, numbers, examples, needed);
  if (needed.network > free.bytes)
    return needed;  // enough is known; to name the nodes may draw what their units differ by
  double columns = static_cast<double>(plan.inputs());
  for (const Node& node : plan.nodes()) columns += 2 * static_cast<double>(node.columns.count);  // z* and its adjoint
  needed.states = static_cast<double>(examples) * static_cast<double>(rows) * columns * scalar_bytes(config);
  return needed;
}

RunMemory run_memory(const Config& config, const TaskSizes& task) {
  RunMemory needed;
  for (const Field& field : network_kind(config).tape.single(config, task)->fields()) {
    needed.weights += static_cast<double>(field.rows()) * static_cast<double>(field.cols());
  }
  add_numbers(config, needed.weights, static_cast<Index>(train_options(config).batch), needed);
  return needed;
}

void check_memory(const Config& config, const RunMemory& needed, Work work, const FreeMemory& free) {
  const bool learns = work == Work::learns;
  const double total = needed.network + (learns ? needed.learning + needed.states : 0);
  if (total <= free.bytes) return;
  const std::string key = key_of(config, needed);
  std::string parts = fmt::format("{:.3g} weights {}", needed.weights, bytes_text(needed.network));
  if (learns) parts += ", gradients and optimizer " + bytes_text(needed.learning);
  if (learns && needed.states > 0) parts += ", states of a batch " + bytes_text(needed.states);
  throw UserError(
      fmt::format("{} = {}: needs at least {} ({}), more than {}. Make {} smaller{}", key, config.as_text(key),
                  bytes_text(total), parts, free.text(), key == "network.kind" ? "the network or its data" : key,
                  run_options(config).double_precision() ? ", or use precision = float (half the memory)" : ""));
}

namespace {

constexpr double most_rates = 4;

/// What a pulse moves a weight by in an array whose largest weight is `largest`.
double pulse_of(const CrossbarSpec& spec, double largest) {
  const auto mapping = make_mapping<double>(spec.mapping.kind);
  const DeviceSpec& device = spec.device;
  double w_max = spec.mapping.w_max > 0 ? spec.mapping.w_max : spec.mapping.headroom * largest;
  if (w_max == 0) w_max = 1;
  const CellScale cells(device, spec.circuit.read_voltage_V);
  const double k = mapping->reach_S(cells.low_S(), cells.high_S()) / w_max;
  return cells.window_S() / device.pulses / mapping->steps(k).first;
}

}  // namespace

void check_write_threshold(const Config& config, const CrossbarSpec& arrays, const NetworkPlan& plan) {
  const TrainOptions train = train_options(config);
  const double threshold = arrays.rule.threshold;
  if (arrays.device.model == digital_model || arrays.programming.update != UpdateScheme::accumulate ||
      train.optimizer != "adam" || threshold <= 1) {
    return;
  }
  const std::vector<Parameter> parameters = plan.parameters();
  std::vector<Matrix<double>> weights;
  plan.initial(run_options(config).seed, weights);
  const double resistors = largest_conductance(parameters, weights);
  double coarsest = 0;
  std::string name;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (!parameters[p].on_devices || weights[p].size() == 0) continue;
    CrossbarSpec own = arrays;
    own.stuck = {};
    own = parameter_array(own, parameters[p], resistors);
    const double pulse = pulse_of(own, weights[p].cwiseAbs().maxCoeff());
    if (pulse <= coarsest) continue;
    coarsest = pulse;
    name = parameters[p].name;
  }
  const double rate = train.rate.learning_rate;
  if (coarsest == 0 || threshold * coarsest <= most_rates * rate) return;
  throw UserError(
      fmt::format("crossbar.threshold = {:g} (must be at most {:g}, or 1): {:g} pulses of array {} change a weight "
                  "by {:.3g}, more than {:g} times train.learning_rate = {:g}. The network would lose its "
                  "equilibrium. Lower it, or lower crossbar.headroom for finer pulses",
                  threshold, std::max(1.0, std::floor(most_rates * rate / coarsest)), threshold, name,
                  threshold * coarsest, most_rates, rate));
}

}  // namespace nudge
