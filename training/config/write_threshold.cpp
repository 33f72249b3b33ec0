// SPDX-License-Identifier: Apache-2.0
#include "training/config/write_threshold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "circuits/crossbar/mapping.hpp"
#include "circuits/linear_map_factory.hpp"
#include "sim/base/errors.hpp"
#include "training/config/assembly.hpp"
#include "training/config/run_options.hpp"
#include "training/config/train_options.hpp"

namespace nudge {
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
  throw UserError(fmt::format(
      "crossbar.threshold = {:g} (must be at most {:g}, or 1): {:g} pulses of array {} change a weight by {:.3g}, over "
      "{:g} times train.learning_rate = {:g}, which throws a network off its equilibrium; lower it, or "
      "crossbar.headroom, which makes pulses finer",
      threshold, std::max(1.0, std::floor(most_rates * rate / coarsest)), threshold, name, threshold * coarsest,
      most_rates, rate));
}

}  // namespace nudge
