// SPDX-License-Identifier: Apache-2.0
#include "training/models/hopfield/hopfield_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "devices/device_config.hpp"
#include "sim/base/errors.hpp"
#include "training/data/data_options.hpp"
#include "training/data/labelled_data.hpp"
#include "training/learning/correlator.hpp"
#include "training/models/layer_rates.hpp"
#include "training/models/model_options.hpp"

namespace nudge {
namespace {

const Choices<HopfieldForm> hopfield_forms{{"projected", HopfieldForm::projected}, {"energy", HopfieldForm::energy}};
const Choices<HopfieldFeedback> feedbacks{{"transpose", HopfieldFeedback::transpose},
                                          {"separate", HopfieldFeedback::separate},
                                          {"none", HopfieldFeedback::none}};

const Choices<bool> poolings{{"average", false}, {"max", true}};

std::vector<std::string> output_activations() {
  std::vector<std::string> names = node_activations();
  names.insert(names.begin(), "auto");
  return names;
}

/// Entry of layer l of a list that has one for all or one for each.
Index entry(const std::vector<Index>& list, std::size_t layer) { return list.size() == 1 ? list[0] : list[layer]; }

/// Image of a sample: channels, height and width.
Convolution image(const TaskSizes& task) {
  const std::vector<Index>& shape = task.shape;
  if (shape.size() == 2) return {1, shape[0], shape[1]};
  if (shape.size() == 3) return {shape[0], shape[1], shape[2]};
  throw UserError(
      fmt::format("network.kind = convolutional: data.shape = {} must be an image, [height, width] or [channels, "
                  "height, width]. Set data.shape, or use network.kind = hopfield",
                  shape_text(shape)));
}

/// Sides of square blocks that divide both numbers, "1, 2, 4".
std::string dividing(Index height, Index width) {
  std::vector<Index> all;
  for (Index side = 1; side <= std::min(height, width); ++side) {
    if (height % side == 0 && width % side == 0) all.push_back(side);
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

void expect_fit(const Convolution& c, std::size_t layer) {
  const Index height = c.places(c.height), width = c.places(c.width);
  if (height < 1 || width < 1) {
    throw UserError(
        fmt::format("convolutional.kernel: kernels of {0} x {0} are larger than the {1} x {2} image of layer {3} with "
                    "its padding of {4}. Raise convolutional.padding, or lower kernel, pool or stride below",
                    c.kernel, c.height, c.width, layer, c.border()));
  }
  if (height % c.pool != 0 || width % c.pool != 0) {
    throw UserError(
        fmt::format("convolutional.pool: blocks of {0} x {0} do not divide the {1} x {2} image of layer {3} after its "
                    "convolution. Blocks of these sides do: {4}",
                    c.pool, height, width, layer, dividing(height, width)));
  }
}

std::vector<Convolution> convolutions(const Config& config, const TaskSizes& task) {
  const ConvolutionOptions options = convolutional_section().read(config);
  std::vector<Convolution> all;
  Convolution next = image(task);
  for (std::size_t l = 0; l < options.maps.size(); ++l) {
    next.maps = options.maps[l];
    next.kernel = entry(options.kernel, l);
    next.pool = entry(options.pool, l);
    next.stride = entry(options.stride, l);
    next.maximum = options.maximum && next.pool > 1;
    next.padding = options.padding.empty() ? Convolution::same_size : entry(options.padding, l);
    expect_fit(next, l + 1);
    all.push_back(next);
    next = {next.maps, next.pooled_height(), next.pooled_width()};
  }
  return all;
}

/// Layers "1-3" that a skip connection joins. `widths`: of layer 0, the sample, and those above.
std::pair<int, int> skip(const std::string& text, const std::vector<Index>& widths) {
  int below = 0, above = 0;
  const int last = static_cast<int>(widths.size()) - 1;
  const auto fail = [&](const std::string& why) {
    throw UserError(fmt::format("hopfield.skips: \"{}\" ({})", text, why));
  };
  const char *begin = text.data(), *end = begin + text.size();
  const auto first = std::from_chars(begin, end, below);
  const bool dash = first.ec == std::errc() && first.ptr != end && *first.ptr == '-';
  const auto second = dash ? std::from_chars(first.ptr + 1, end, above) : first;
  if (!dash || second.ec != std::errc() || second.ptr != end) fail("must be two layers, as 1-3");
  if (below < 1 || above > last || above < below + 2)
    fail(fmt::format("must be two of the layers 1 to {} that are not neighbors, the lower first", last));
  const Index from = widths[static_cast<std::size_t>(below)], to = widths[static_cast<std::size_t>(above)];
  if (from != to)
    fail(fmt::format("joins layers of equal width: layer {} has {} units, layer {} has {}", below, from, above, to));
  return {below, above};
}

std::shared_ptr<const NetworkPlan> plan(const Config& config, const TaskSizes& task,
                                        std::vector<Convolution> convolutions) {
  check_hopfield(config);
  const HopfieldOptions options = hopfield_section().read(config);
  HopfieldShape shape;
  shape.widths.push_back(task.features);
  for (const Convolution& each : convolutions) shape.widths.push_back(each.outputs());
  shape.convolutions = std::move(convolutions);
  for (const Index width : options.hidden) shape.widths.push_back(width);
  if (options.cost == "squared_error") {
    shape.widths.push_back(task.classes > 0 ? task.classes : task.values);
  } else {
    shape.classes = task.classes;
  }
  shape.activation = node_activation(options.activation);
  // A softmax reads a hidden layer: left linear, a network of one hidden layer would bend nothing.
  const NodeActivation open = shape.classes > 0 ? shape.activation : NodeActivation::identity;
  shape.output = options.output_activation == "auto" ? open : node_activation(options.output_activation);
  shape.form = options.form;
  shape.asymmetric = options.feedback == HopfieldFeedback::separate;
  shape.feed_forward = options.feedback == HopfieldFeedback::none;
  for (const std::string& one : options.skips) shape.skips.push_back(skip(one, shape.widths));
  if (!shape.skips.empty() && shape.asymmetric)
    throw UserError("hopfield.skips (must be empty with hopfield.feedback = separate: they act both ways or upwards)");
  shape.rows = task.rows;
  const NeuronOptions neurons = on_devices(config) ? neuron_section().read(config) : NeuronOptions{};
  const auto seed = run_seed(config);
  shape.units = std::make_shared<MadeOnce<UnitSpread>>(
      shape.widths.size() - 1, [neurons, seed, widths = shape.widths](std::size_t layer) {
        return drawn_units(neurons.gain_spread, neurons.offset_spread, widths[layer + 1], seed,
                           static_cast<std::uint32_t>(layer) + 1);
      });
  return std::make_shared<HopfieldPlan>(shape, options.gain);
}

}  // namespace

const Section<HopfieldOptions>& hopfield_section() {
  using param::choice, param::integers, param::named, param::real;
  static const Section<HopfieldOptions> section = {
      field(integers(
                "hopfield.hidden", "[128]", at_least(1),
                "Widths of the hidden layers of a network.kind = hopfield, above the convolutions of a convolutional "
                "one. The layer below is the sample, the layer above as wide as there are classes or values."),
            &HopfieldOptions::hidden),
      field(named("hopfield.form", "projected",
                  "Form of the force. projected: states stay in a box, F = -s + h, projected after every step. "
                  "energy: the activation is in the energy, F = -s + rho'(s) h. There a relu or hard_sigmoid unit "
                  "at s <= 0 is dead, and one with a drive above 1 never settles.",
                  "Scellier and Bengio, arXiv:1602.05179"),
            hopfield_forms, &HopfieldOptions::form),
      field(
          choice("hopfield.activation", "hard_sigmoid", node_activations(),
                 "rho of the hidden layers. Of form = projected it names the box: hard_sigmoid [0, 1], relu [0, inf)."),
          &HopfieldOptions::activation),
      field(choice("hopfield.output_activation", "auto", output_activations(),
                   "rho of the last layer; with form = projected, identity means no box. auto: identity where the "
                   "cost uses the state (squared_error), hopfield.activation where a read-out does (cross_entropy)."),
            &HopfieldOptions::output_activation),
      field(named("hopfield.feedback", "transpose",
                  "Feedback from the layer above. transpose: through the weights of the way up, read backwards, so "
                  "that the network has an energy. separate: through other weights, without an energy, only for "
                  "form = energy. none: only for form = projected; the equilibrium is then the forward pass of a "
                  "perceptron."),
            feedbacks, &HopfieldOptions::feedback),
      field(param::texts("hopfield.skips", "[]", {},
                         "List of skip connections: 1-3 joins layer 1 to layer 3, of as many units, without weights, "
                         "E = -r_1 r_3. Layers count from 1 above the sample, convolutions first.",
                         "arXiv:2509.26003"),
            &HopfieldOptions::skips),
      field(choice("hopfield.cost", "squared_error", {"squared_error", "cross_entropy"},
                   "Cost. squared_error: of the state of the last layer; a class is 1 at its unit and 0 at the others. "
                   "cross_entropy: of a softmax read-out of the last hidden layer, which learns outside the "
                   "equilibrium."),
            &HopfieldOptions::cost),
      field(real("hopfield.gain", "0.5", at_least(0),
                 "Initial weights are uniform within gain sqrt(6/(fan_in + fan_out)), biases 0.",
                 "Glorot and Bengio, AISTATS 2010, whose gain is 1; at that the untrained digits network of two layers "
                 "takes hundreds of sweeps to settle, measured"),
            &HopfieldOptions::gain)};
  return section;
}

const Section<NeuronOptions>& neuron_section() {
  using param::real;
  static const Section<NeuronOptions> section = {
      field(real("neuron.gain_spread", "0", from_below(0, 0.2),
                 "Static mismatch of the activation circuits, one per unit: standard deviation of the gain g in "
                 "rho((1 + g) s + o), or of the upper limit of a box."),
            &NeuronOptions::gain_spread),
      field(real("neuron.offset_spread", "0", from_below(0, 0.2),
                 "Static mismatch of the same circuits: standard deviation of the offset o, or of both limits of a "
                 "box, in units of the state."),
            &NeuronOptions::offset_spread)};
  return section;
}

const Section<ConvolutionOptions>& convolutional_section() {
  using param::integers, param::named;
  static const Section<ConvolutionOptions> section = {
      field(integers("convolutional.maps", "[16]", at_least(1),
                     "Maps of the convolutions of a network.kind = convolutional, one entry per layer, from the sample "
                     "up."),
            &ConvolutionOptions::maps),
      field(integers("convolutional.kernel", "[3]", at_least(1),
                     "Side of their kernels, odd unless convolutional.padding is set: one entry for all, or one per "
                     "layer."),
            &ConvolutionOptions::kernel),
      field(integers("convolutional.stride", "[1]", at_least(1),
                     "Distance between places of a kernel: one entry for all, or one per layer."),
            &ConvolutionOptions::stride),
      field(integers("convolutional.padding", "[]", at_least(0),
                     "Width of the border of zeros around an image: one entry for all, or one per layer. Empty: "
                     "(kernel - 1)/2, which keeps the size at stride 1."),
            &ConvolutionOptions::padding),
      field(integers("convolutional.pool", "[2]", at_least(1),
                     "Side of the blocks that are pooled after each convolution: one entry for all, or one per "
                     "layer; 1: none. It must divide the image after the convolution."),
            &ConvolutionOptions::pool),
      field(named("convolutional.pooling", "average",
                  "What a block gives. average: its mean, so that kernels are read once per block. max: its largest "
                  "value; kernels are read at every place, and what comes back goes to the place that was largest.",
                  "max: Ernoult et al., arXiv:1905.13633; Laborieux et al., arXiv:2006.03824"),
            poolings, &ConvolutionOptions::maximum)};
  return section;
}

void check_hopfield(const Config& config) {
  const HopfieldOptions options = hopfield_section().read(config);
  if (options.cost != "cross_entropy") return;
  if (score_metric(config) == "rmse") {
    throw UserError(
        fmt::format("hopfield.cost = cross_entropy (must be squared_error for task.kind = {}, which has no classes)",
                    task_kind(config).name));
  }
  const bool convolves =
      config.text("network.kind") == "convolutional" && !convolutional_section().read(config).maps.empty();
  if (options.hidden.empty() && !convolves) {
    throw UserError(
        "hopfield.cost = cross_entropy (must be squared_error where hopfield.hidden is empty: its read-out needs a "
        "layer to read)");
  }
}

std::shared_ptr<const NetworkPlan> hopfield_plan(const Config& config, const TaskSizes& task) {
  return plan(config, task, {});
}

std::shared_ptr<const NetworkPlan> convolutional_plan(const Config& config, const TaskSizes& task) {
  return plan(config, task, convolutions(config, task));
}

bool hopfield_contrasts(const Config& config) {
  return hopfield_section().read(config).feedback == HopfieldFeedback::transpose;
}

ParamTable hopfield_keys() {
  ParamTable rows = layer_keys(hopfield_section().rows());
  add_rows(rows, read_with(with_devices(), neuron_section().rows()));
  add_rows(rows, correlator_keys());
  return rows;
}

ParamTable convolutional_keys() {
  ParamTable rows = hopfield_keys();
  add_rows(rows, convolutional_section().rows());
  return rows;
}

std::string hopfield_lacks_energy(const Config& config) {
  if (!hopfield_contrasts(config))
    return "hopfield.feedback must be transpose: only links that act both ways have an energy";
  const bool head = hopfield_section().read(config).cost == "cross_entropy";
  return head ? "" : "hopfield.cost must be cross_entropy: without a read-out nothing learns from the cost";
}

bool hopfield_feeds_forward(const Config& config) {
  return hopfield_section().read(config).feedback == HopfieldFeedback::none;
}

StateFacts hopfield_states(const Config& config) {
  if (hopfield_section().read(config).form != HopfieldForm::projected) return {};
  return {.boxed = "hopfield.form = projected"};
}

}  // namespace nudge
