// SPDX-License-Identifier: Apache-2.0

#include "training/data/data_options.hpp"
#include "training/models/layer_rates.hpp"
#include "training/models/layered_plan.hpp"
#include "training/models/model_options.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

enum class ThermalUnits { real, binary };

/// Options of the section [thermal].
struct ThermalOptions {
  std::vector<Index> hidden;
  ThermalUnits units = {};
  double temperature = {}, stiffness = {}, gain = {};
  double bit_gain_spread = {}, bit_offset_spread = {}, bit_correlation = {};
};

const Choices<ThermalUnits> unit_kinds{{"real", ThermalUnits::real}, {"binary", ThermalUnits::binary}};

/// First number of an array of bits, behind those of all arrays of weights.
constexpr std::uint32_t kFirstBits = 1U << 20U;

Layers thermal_layers(const ThermalOptions& options, std::uint64_t seed, const TaskSizes& task) {
  Layers layers{.kind = "thermal",
                .hidden = options.hidden,
                .coupling = "W",
                .parts = {{NodeActivation::identity, "b", 0}},
                .gain = options.gain};
  if (options.units == ThermalUnits::real) {
    layers.quartic = options.stiffness;
    layers.units = [T = options.temperature](int /*layer*/, Node& node) { node.temperature = T; };
    return layers;
  }
  const StochasticBitSpec spec{1, 0, options.bit_gain_spread, options.bit_offset_spread, options.bit_correlation};
  const std::vector<Index> widths = layer_widths(options.hidden, task);
  const auto bits = std::make_shared<MadeOnce<StochasticBits>>(widths.size() - 1, [=](std::size_t layer) {
    const ArrayIdentity identity{seed, kFirstBits + static_cast<std::uint32_t>(layer) + 1, 0};
    return std::make_shared<const StochasticBits>(spec, widths[layer + 1], identity);
  });
  layers.units = [T = options.temperature, bits](int layer, Node& node) {
    node.temperature = T;
    node.leak = 0;
    node.bits = bits->of(static_cast<std::size_t>(layer));
  };
  return layers;
}

const Section<ThermalOptions>& thermal_section() {
  using param::integers, param::named, param::real;
  static const Section<ThermalOptions> section = [] {
    Section<ThermalOptions> all = {
        field(integers("thermal.hidden", "[64]", at_least(1),
                       "Units of the hidden layers of a network.kind = thermal. The layer below is the sample, the "
                       "layer above as wide as there are classes or values."),
              &ThermalOptions::hidden),
        field(named("thermal.units", "real",
                    "Kind of the units. real: real states that follow Langevin's equation. binary: 0 or 1, drawn by "
                    "one stochastic bit (p-bit) each, one layer after the other."),
              unit_kinds, &ThermalOptions::units),
        field(real("thermal.temperature", "0.05", above(0), "T of the bath, in units of E: states have P ~ exp(-E/T)."),
              &ThermalOptions::temperature),
        field(real("thermal.stiffness", "1", at_least(0),
                   "kappa of the wells E = s^2/2 + kappa s^4/4 of real units: their nonlinearity."),
              &ThermalOptions::stiffness),
        field(real("thermal.gain", "0.5", at_least(0),
                   "Initial weights are normal with gain/sqrt(n) of the n units below, biases 0."),
              &ThermalOptions::gain),
        field(real("thermal.bit_gain_spread", "0", at_least(0),
                   "Device to device, of the slope of a stochastic bit, relative."),
              &ThermalOptions::bit_gain_spread),
        field(real("thermal.bit_offset_spread", "0", at_least(0),
                   "Device to device, of the input at which a stochastic bit is 0 as often as 1, in units of h/T."),
              &ThermalOptions::bit_offset_spread),
        field(real("thermal.bit_correlation", "0", from_below(0, 1),
                   "Correlation of a stochastic bit from one draw to the next. The bit then follows its neighbours "
                   "late, and states deviate from those of the bath."),
              &ThermalOptions::bit_correlation)};
    using O = ThermalOptions;
    all.where(chosen("relaxation.solver", {"sample"}),
              {&O::temperature, &O::units, &O::bit_gain_spread, &O::bit_offset_spread, &O::bit_correlation});
    all.where(chosen("thermal.units", {"binary"}), {&O::bit_gain_spread, &O::bit_offset_spread, &O::bit_correlation});
    all.where(chosen("thermal.units", {"real"}), {&O::stiffness});
    return all;
  }();
  return section;
}

}  // namespace

NetworkKind thermal_network() {
  return {.name = "thermal",
          .summary = "layers of units in a heat bath (Langevin, or stochastic bits) above a clamped sample",
          .plan = [](const Config& config, const TaskSizes& task) -> std::shared_ptr<const NetworkPlan> {
            return layered_plan(thermal_layers(thermal_section().read(config), run_seed(config), task), task);
          },
          .leak =
              [](const Config& config) {
                return NodeLeak{.constant = thermal_section().read(config).units == ThermalUnits::binary ? 0.0 : 1.0};
              },
          .feed_forward = [](const Config&) { return false; },
          .states = [](const Config&) { return StateFacts{.bath = true}; },
          .couples_rows = false,
          .takes = Rows::features,
          .contrastive = [](const Config&) { return true; },
          .keys = layer_keys(thermal_section().rows()),
          .not_local = "its units learn by means over samples of a bath, which are formed digitally"};
}

}  // namespace nudge
