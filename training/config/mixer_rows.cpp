// SPDX-License-Identifier: Apache-2.0
#include "training/config/choice_lists.hpp"
#include "training/config/rows.hpp"

namespace nudge {

ParamTable mixer_rows() {
  using param::choice;
  using param::flag;
  using param::integer;
  using param::real;
  using param::zero_is;
  const std::string own =
      "the mixer's own default; model.attention_scale and model.output_scale do the same for attention";
  const std::string optimizers = "Ren et al., Transformers as Intrinsic Optimizers";
  const std::string energy = "Lu and Yang, Free Energy Mixer";
  const Range size = between(0, 65536);
  return {
      real("mixer.initial_scale", "1", above(0),
           "Factor of the standard deviations that the weights of a mixer other than attention start from.", own),
      zero_is(
          "all",
          integer("mixer.window", "all", size,
                  "Tokens that a token attends to, itself included; all: every one before it. Softmax mixers only.")),
      zero_is("auto", integer("mixer.head_width", "auto", size,
                              "Channels of the queries, keys and values of one head; auto: C/H.")),
      real("mixer.temperature", "1", above(0), "T of gd_*, loop_*, mha2nd and light2nd.", optimizers),
      real("mixer.eta", "0.5", any_number(), "Step size of gd_*, loop_*, mha2nd and light2nd."),
      real("mixer.ridge", "0.1", above(0), "Ridge of light2nd."),
      integer("mixer.iterations", "5", between(1, 1000), "Iterations of loop_*."),
      flag("mixer.refresh", "true", "loop_*: the attended tokens move along; false: they stay at the start."),
      integer("mixer.layers", "2", between(1, 64), "Layers of *_stack."),
      zero_is("auto", integer("mixer.values", "auto", size, "fem_*: channels d that are read; auto: C/2.",
                              energy + ", appendix H.7")),
      zero_is("auto", integer("mixer.keys", "auto", size, "fem_softmax, fem_gla: columns of W_q and W_k; auto: C.",
                              energy + ", appendix H.7")),
      zero_is(
          "auto",
          integer("mixer.decays", "auto", size,
                  "fem_gla: auto or H is a decay per head, mixer.keys one per feature; fem_lrnn: groups, auto: H.")),
      integer("mixer.groups", "1", between(1, 65536), "fem_aft: groups of channels that share a weight."),
      integer("mixer.states", "16", between(1, 65536), "fem_ssm*: states N per channel."),
      flag("mixer.rope", "false",
           "Rotary positions, for an even head width: mha, *_stack, mha2nd*, light2nd*, fem_softmax (fem_gla always)."),
      real("mixer.epsilon", "1e-6", above(0), "fem_gla: added to the features."),
      zero_is("auto", integer("mixer.gate_groups", "auto", size, "fem_*: groups of the outer gate's norm; auto: H.")),
      choice("mixer.conditioner", "none", modulations.names(),
             "fem_*: the time-decay conditioner modulates nothing, or the gates before or after their nonlinearity.",
             energy + ", appendix I; before keeps lambda in [0, 1]"),
      zero_is("auto", integer("mixer.conditioner_width", "auto", size,
                              "fem_*: channels of the conditioner; auto: C/16, at least 1.", energy + ", appendix K")),
      flag("mixer.log_sum_exp", "true", "fem_*: false leaves out the free energy (ablation L)."),
      flag("mixer.inner_gate", "true", "fem_*: false leaves out the learned temperature (ablation T)."),
      flag("mixer.outer_gate", "true", "fem_*: false leaves out the gate (ablation G)."),
  };
}

}  // namespace nudge
