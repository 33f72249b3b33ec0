// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "training/config/choice_lists.hpp"
#include "training/config/rows.hpp"

namespace nudge {

ParamTable hopfield_rows() {
  using param::choice;
  using param::integers;
  using param::real;
  return {
      integers(
          "hopfield.hidden", "[128]", at_least(1),
          "Widths of the hidden layers of a network.kind = hopfield, above the convolutions of a convolutional one. "
          "The layer below is the sample, the layer above as wide as there are classes or values."),
      choice(
          "hopfield.form", "projected", hopfield_forms.names(),
          "projected: states are kept in a box, F = -s + h, projected after every step; energy: the activation is in "
          "the energy, F = -s + rho'(s) h, where a relu or hard_sigmoid unit at s <= 0 is dead and one whose drive is "
          "above 1 never settles.",
          "Scellier and Bengio, arXiv:1602.05179"),
      choice("hopfield.activation", "hard_sigmoid", node_activations(),
             "rho of the hidden layers. Of form = projected it names the box: hard_sigmoid [0, 1], relu [0, inf)."),
      choice("hopfield.output_activation", "identity", node_activations(),
             "rho of the last layer, whose state itself the cost sees; of form = projected identity is no box."),
      choice(
          "hopfield.feedback", "transpose", {"transpose", "separate", "none"},
          "How a layer hears the one above. transpose: through the weights of the way up, read backwards, so that the "
          "network has an energy; separate: through weights of its own, without an energy, only of form = energy; "
          "none: "
          "not at all, only of form = projected, so that the equilibrium is the forward pass of a perceptron."),
      choice("hopfield.cost", "squared_error", {"squared_error", "cross_entropy"},
             "squared_error: of the last layer's state, a class being 1 at its unit and 0 at the others; "
             "cross_entropy: of a "
             "softmax read-out of the last hidden layer, which learns outside the equilibrium."),
      real("hopfield.gain", "0.5", at_least(0),
           "Initial weights are uniform within gain sqrt(6/(fan_in + fan_out)), biases 0.",
           "Glorot and Bengio, AISTATS 2010, whose gain is 1; at that the untrained digits network of two layers takes "
           "hundreds of "
           "sweeps to settle, measured"),
      integers("convolutional.maps", "[16]", at_least(1),
               "Maps of the convolutions of a network.kind = convolutional, one entry per layer, from the sample up; "
               "stride 1, "
               "borders padded with zeros so that the size stays."),
      integers("convolutional.kernel", "[3]", at_least(1),
               "Side of their kernels, odd: one entry for all, or one per layer."),
      integers(
          "convolutional.pool", "[2]", at_least(1),
          "Side of the blocks that are averaged after each: one entry for all, or one per layer; 1: none. Must divide "
          "the image."),
  };
}

namespace {

bool layered(const Config& c) {
  return c.text("network.kind") == "hopfield" || c.text("network.kind") == "convolutional";
}

ConfigRule projected_boxes() {
  return {{"hopfield.activation", "hopfield.form", "network.kind"}, [](const Config& c) {
            const std::string& rho = c.text("hopfield.activation");
            const bool fits = c.text("hopfield.form") != "projected" || rho == "hard_sigmoid" || rho == "relu";
            return !layered(c) || fits ? ""
                                       : "must be hard_sigmoid or relu for hopfield.form = projected: the box it names";
          }};
}

ConfigRule projected_output() {
  return {{"hopfield.output_activation", "hopfield.form", "network.kind"}, [](const Config& c) {
            const std::string& rho = c.text("hopfield.output_activation");
            const bool fits =
                c.text("hopfield.form") != "projected" || rho == "hard_sigmoid" || rho == "relu" || rho == "identity";
            return !layered(c) || fits
                       ? ""
                       : "must be identity, hard_sigmoid or relu for hopfield.form = projected: the box it "
                         "names";
          }};
}

ConfigRule feedback_has_a_form() {
  return {{"hopfield.feedback", "hopfield.form", "network.kind"}, [](const Config& c) {
            const std::string& feedback = c.text("hopfield.feedback");
            const bool projected = c.text("hopfield.form") == "projected";
            const bool fits = feedback == "transpose" || (feedback == "none") == projected;
            if (!layered(c) || fits) return std::string();
            return fmt::format("must be transpose or {} for hopfield.form = {}", projected ? "none" : "separate",
                               c.text("hopfield.form"));
          }};
}

ConfigRule boxes_need_euler() {
  return {{"relaxation.solver", "hopfield.form", "network.kind"}, [](const Config& c) {
            return layered(c) && c.text("hopfield.form") == "projected" && c.text("relaxation.solver") != "euler"
                       ? "must be euler for hopfield.form = projected: the others do not project onto a box"
                       : "";
          }};
}

ConfigRule odd_kernels() {
  return {{"convolutional.kernel", "network.kind"}, [](const Config& c) {
            if (c.text("network.kind") != "convolutional") return std::string();
            for (const std::int64_t side : c.integers("convolutional.kernel")) {
              if (side % 2 == 0) return fmt::format("must be odd, {} has no middle", side);
            }
            return std::string();
          }};
}

/// One entry for all layers, or one for each.
ConfigRule entry_per_layer(const std::string& key) {
  return {{key, "convolutional.maps", "network.kind"}, [key](const Config& c) {
            const std::size_t entries = c.integers(key).size(), layers = c.integers("convolutional.maps").size();
            if (c.text("network.kind") != "convolutional" || entries == 1 || entries == layers) return std::string();
            return fmt::format("must have 1 entry, or {} as convolutional.maps has", layers);
          }};
}

ConfigRule some_convolution() {
  return {{"convolutional.maps", "network.kind"}, [](const Config& c) {
            return c.text("network.kind") == "convolutional" && c.integers("convolutional.maps").empty()
                       ? "must name a layer for network.kind = convolutional (hopfield has none)"
                       : "";
          }};
}

}  // namespace

std::vector<ConfigRule> hopfield_rules() {
  return {projected_boxes(),
          projected_output(),
          feedback_has_a_form(),
          boxes_need_euler(),
          odd_kernels(),
          some_convolution(),
          entry_per_layer("convolutional.kernel"),
          entry_per_layer("convolutional.pool")};
}

}  // namespace nudge
