// SPDX-License-Identifier: Apache-2.0
#include "training/config/rows.hpp"
#include "training/learning/estimators/estimator.hpp"
#include "training/train/optimizer.hpp"
#include "training/train/schedule.hpp"

namespace nudge {

ParamTable train_rows() {
  using param::choice;
  using param::integer;
  using param::quantity;
  using param::real;
  using param::zero_is;
  std::vector<std::string> trainees = estimator_names();
  trainees.insert(trainees.begin(), "none");
  const std::string recipe = "recipe of the prototype";
  return {
      integer("train.steps", "1000", between(1, 1000000000), "Training steps."),
      integer("train.batch", "16", between(1, 1048576), "Sequences B of a step."),
      zero_is(
          "auto",
          quantity(
              "train.step_time", "auto", Unit::second, at_least(0),
              "Time that passes per training step for drift, leak, telegraph and 1/f noise; auto: the simulated time "
              "of all "
              "phases of the batch's sequences, one after the other, with the slots of all tokens (circuit.tokens).")),
      choice("train.optimizer", "adam", optimizer_names(), "Update rule.", "Kingma and Ba, arXiv:1412.6980"),
      real("train.learning_rate", "3e-3", above(0), "Largest learning rate.", recipe),
      real("train.momentum", "0.9", from_below(0, 1), "Momentum of sgd."),
      real("train.adam_beta1", "0.9", from_below(0, 1), "Decay of Adam's first moment."),
      real("train.adam_beta2", "0.99", from_below(0, 1), "Decay of Adam's second moment.", recipe),
      real("train.adam_epsilon", "1e-8", above(0), "Adam's denominator offset.", "Kingma and Ba, arXiv:1412.6980"),
      choice("train.schedule", "cosine", schedule_names(), "Learning rate after the warm-up."),
      integer("train.warmup", "50", at_least(0), "Steps of linear warm-up.", recipe),
      real("train.final_rate_fraction", "0", between(0, 1),
           "The cosine schedule ends at this share of the learning rate."),
      real("train.weight_decay", "0", at_least(0),
           "Decoupled weight decay lambda of AdamW: W <- (1 - rate lambda) W + change, of all weights but the "
           "embeddings.",
           "Loshchilov and Hutter, arXiv:1711.05101"),
      zero_is("off",
              real("train.gradient_clip", "1.0", at_least(0), "Norm that a larger gradient is scaled to.", recipe)),
      zero_is("off", real("train.skip_ratio", "30", at_least(0),
                          "Skip a step whose gradient norm exceeds this multiple (> 1) of its running mean.", recipe)),
      zero_is("off", real("train.leave_out_ratio", "10", at_least(0),
                          "Leave a sequence out of its batch's gradient when both the norm of its adjoint a and its "
                          "gain |a|/|dC/dz| "
                          "exceed "
                          "this multiple (> 1) of the running means of the batches' medians: a circuit without a "
                          "stable equilibrium "
                          "has no "
                          "gradient, and its nudged phase grows without bound. Not for bptt, whose adjoint "
                          "is known only with "
                          "its "
                          "gradient.")),
      zero_is("end", integer("train.evaluate_every", "100", at_least(0),
                             "Validation loss every so many steps; end: at the end only.")),
      integer("train.evaluation_batches", "10", between(1, 1000000), "Fixed validation batches."),
      integer("train.test_batches", "40", between(1, 1000000),
              "Fixed batches of the test part of the text, evaluated once at the end."),
      zero_is("never", integer("train.cosine_every", "never", at_least(0),
                               "Cosine of the gradient with the exact adjoint every so many steps.")),
      zero_is("end",
              integer("train.checkpoint_every", "100", at_least(0),
                      "Checkpoint every so many steps; end: only there. A killed run resumes from the last one.")),
      choice("train.beside", "none", trainees,
             "A second model trained beside the first: this estimator, digital weights, same seed and batches."),
  };
}

}  // namespace nudge
