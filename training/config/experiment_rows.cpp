// SPDX-License-Identifier: Apache-2.0
#include "mixers/sequence_mixer.hpp"
#include "training/config/rows.hpp"
#include "training/tapes/bit_source.hpp"
#include "training/tapes/experiment_task.hpp"

namespace nudge {

ParamTable experiment_rows() {
  using param::choice;
  using param::distinct;
  using param::integer;
  using param::integers;
  using param::real;
  using param::reals;
  using param::texts;
  using param::zero_is;
  const std::vector<std::string> mad_names = {"in_context_recall", "noisy_recall", "fuzzy_recall",
                                              "selective_copy",    "compression",  "memorization"};
  return {
      distinct(texts("experiment.tasks", "argmax", experiment_task_names(),
                     "What `nudge experiment` trains on, one after the other.")),
      distinct(texts("experiment.mixers", "mha, fem_softmax", sequence_mixer_names(),
                     "Mixers that are compared on the token tasks, all with 4 C^2 weights per block.")),
      distinct(integers("experiment.seeds", "[1]", at_least(0), "Every model is trained with each of these seeds.")),
      integer("experiment.blocks", "2", between(1, 1000), "Blocks of the sequence model: mixer and feed-forward part."),
      zero_is("auto",
              integer("experiment.inner", "auto", between(0, 1048576),
                      "Width of the gated feed-forward parts; auto: 8/3 of model.channels, up to a multiple of 32.")),
      real("experiment.weight_decay", "0.01", at_least(0), "Decoupled weight decay of AdamW, on every parameter.",
           "default of the papers' framework; appendix P of the Free Energy Mixer"),
      integer("experiment.epochs", "30", between(1, 1000000), "Times that a MAD task goes through its task.examples."),
      texts("experiment.full_size", "[]", mad_names,
            "MAD tasks that have their published tokens, examples, epochs, batch and tests instead of model.tokens, "
            "task.examples, experiment.epochs, test_examples and train.batch.",
            "Poli et al., arXiv:2403.17844"),
      distinct(reals("experiment.kappa", "[0.015625, 0.125, 1, 8]", at_least(0),
                     "Free bits per token of the Free Transformer, each a variant.",
                     "Fleuret, The Free Transformer, figure 4")),
      integer("experiment.bits", "8", between(1, 20), "Bits H of a token's latent; the table of latents has 2^H rows."),
      choice("experiment.sampler", "pseudo_random", bit_source_names(),
             "What draws the bits of the latent; device: simulated stochastic binary devices (p-bits), one per bit."),
      real("experiment.bit_offset", "0", any_number(),
           "Input in logits at which a device returns 0 and 1 equally often: its bias."),
      real("experiment.bit_offset_spread", "0.2", at_least(0), "Device to device, of the offset, in logits.",
           "an assumption: measure it on your devices"),
      real("experiment.bit_gain_spread", "0.1", from_below(0, 1), "Device to device, of the gain, relative.",
           "an assumption: measure it on your devices"),
      real("experiment.bit_correlation", "0.1", from_below(0, 1),
           "Correlation of a device's values from token to token.", "an assumption: measure it on your devices"),
      integer("experiment.pairs", "64", between(1, 1000000),
              "Pairs of generated sequences that the agreement of the Free Transformer is measured on."),
      integer("experiment.test_examples", "1000", between(1, 1000000),
              "Held-out examples that a model is measured on."),
  };
}

}  // namespace nudge
