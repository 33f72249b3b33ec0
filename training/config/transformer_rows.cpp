// SPDX-License-Identifier: Apache-2.0
#include "training/config/choice_lists.hpp"
#include "training/config/rows.hpp"
#include "training/models/transformer/transformer_config.hpp"

namespace nudge {

ParamTable transformer_rows() {
  using param::choice;
  using param::integer;
  using param::real;
  const std::string recipe = "recipe of the prototype (notes on deep equilibrium), one seed";
  return {
      integer("stack.layers", "2", between(1, 1024),
              "Blocks L of a network.kind = stack, each of the sizes of model.*."),
      integer("transformer.layers", "2", between(1, 1024),
              "Layers L of a network.kind = transformer, attention and feed-forward nodes each; sizes C, T, H and M "
              "(hidden units) are those of model.*."),
      integer("transformer.loops", "1", between(1, 1024),
              "K: the stack of L layers is repeated K times with the same weights; 2 L K nodes."),
      choice("transformer.mixer", "attention", transformer_mixers(),
             "What mixes tokens in the attention nodes: softmax attention, fused, or a mixer of docs/mixers.md in the "
             "sizes it has "
             "in `nudge experiment` (mha: the same attention)."),
      choice("transformer.activation", "relu2", activations.names(), "phi of the feed-forward nodes.", recipe),
      choice("transformer.positions", "rotary", rotary_positions.names(),
             "rotary: queries and keys are turned by their position; learned: a table added to the embedding.", recipe),
      real("transformer.feedback", "0", from_below(0, 1),
           "kappa: every node but the last also hears the one above, kappa (z_above - z). 0: feed-forward, the "
           "equilibrium is the forward pass."),
      real("transformer.embedding_scale", "1.0", above(0), "tok and pos ~ N(0, scale^2).", recipe),
      real("transformer.projection_scale", "1.0", at_least(0), "Wq, Wk, Wv, W1 ~ N(0, scale^2/C).", recipe),
      real("transformer.output_scale", "0.5", at_least(0), "Wo ~ N(0, scale^2/(C L)), W2 ~ N(0, scale^2/(M L)).",
           recipe),
      real("transformer.readout_scale", "0.5", at_least(0), "Wh ~ N(0, scale^2/C).", recipe),
  };
}

}  // namespace nudge
