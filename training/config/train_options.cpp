// SPDX-License-Identifier: Apache-2.0
#include "training/config/train_options.hpp"

#include "devices/device_config.hpp"
#include "training/config/feed_forward.hpp"
#include "training/config/run_options.hpp"
#include "training/learning/estimators/registry.hpp"

namespace nudge {

namespace {

const Choices<bool> comparator_outputs{{"sign", true}, {"proportional", false}};

}  // namespace

TrainOptions train_options(const Config& config) {
  TrainOptions options = train_section().read(config);
  options.rule.seed = run_options(config).seed;
  return options;
}

const Section<TrainOptions>& train_section() {
  using param::choice, param::integer, param::named, param::quantity, param::real, param::zero_is;
  std::vector<std::string> names = estimator_names();
  names.insert(names.begin(), {"none", feed_forward_name});
  static const std::string recipe = "recipe of the prototype";
  static const Section<TrainOptions> section = [&] {
    Section<TrainOptions> all = {
        field(integer("train.steps", "1000", between(1, 1000000000), "Training steps."), &TrainOptions::rate,
              &Schedule::steps),
        field(integer("train.batch", "16", between(1, 1048576), "Sequences B of a step."), &TrainOptions::batch),
        field(zero_is("auto", quantity("train.step_time", "auto", Unit::second, at_least(0),
                                       "Time per training step for drift, leak, telegraph and 1/f noise. auto: the "
                                       "simulated time of all phases of the batch, with its sequences one after the "
                                       "other and the slots of all tokens (circuit.tokens).")),
              &TrainOptions::step_time),
        field(choice("train.optimizer", "adam", optimizer_names(), "Update rule.", "Kingma and Ba, arXiv:1412.6980"),
              &TrainOptions::optimizer),
        field(real("train.learning_rate", "3e-3", above(0), "Largest learning rate.", recipe), &TrainOptions::rate,
              &Schedule::learning_rate),
        field(real("train.momentum", "0.9", from_below(0, 1), "Momentum of sgd."), &TrainOptions::rule,
              &OptimizerOptions::momentum),
        field(real("train.adam_beta1", "0.9", from_below(0, 1), "Decay of Adam's first moment."), &TrainOptions::rule,
              &OptimizerOptions::beta1),
        field(real("train.adam_beta2", "0.99", from_below(0, 1), "Decay of Adam's second moment.", recipe),
              &TrainOptions::rule, &OptimizerOptions::beta2),
        field(real("train.adam_epsilon", "1e-8", above(0), "Adam's denominator offset.",
                   "Kingma and Ba, arXiv:1412.6980"),
              &TrainOptions::rule, &OptimizerOptions::epsilon),
        field(real("train.comparator_offset", "0", at_least(0),
                   "For train.optimizer = comparator: standard deviation of the offset that each comparator adds to "
                   "its gradient, element to element.",
                   "offsets of the measurements limit self-adjusting circuits: Dillavou et al., PNAS 2024, "
                   "doi:10.1073/pnas.2319718121"),
              &TrainOptions::rule, &OptimizerOptions::offset),
        field(real("train.comparator_threshold", "0", at_least(0),
                   "For train.optimizer = comparator: a gradient below this changes nothing."),
              &TrainOptions::rule, &OptimizerOptions::threshold),
        field(named("train.comparator_output", "sign",
                    "For train.optimizer = comparator. sign: every change has the size of the learning rate. "
                    "proportional: the learning rate times the gradient it sees."),
              comparator_outputs, &TrainOptions::rule, &OptimizerOptions::sign),
        field(choice("train.schedule", "cosine", schedule_names(), "Learning rate after the warm-up."),
              &TrainOptions::rate, &Schedule::shape),
        field(integer("train.warmup", "50", at_least(0), "Steps of linear warm-up.", recipe), &TrainOptions::rate,
              &Schedule::warmup_steps),
        field(real("train.final_rate_fraction", "0", between(0, 1),
                   "The cosine schedule ends at this share of the learning rate."),
              &TrainOptions::rate, &Schedule::final_fraction),
        field(real("train.weight_decay", "0", at_least(0),
                   "Decoupled weight decay lambda of AdamW: W <- (1 - rate lambda) W + change, of all weights but the "
                   "embeddings.",
                   "Loshchilov and Hutter, arXiv:1711.05101"),
              &TrainOptions::weight_decay),
        field(zero_is("off", real("train.gradient_clip", "1.0", at_least(0),
                                  "Largest norm of the gradient; a larger one is scaled down to it.", recipe)),
              &TrainOptions::gradient_clip),
        field(zero_is("off",
                      real("train.skip_ratio", "30", at_least(0),
                           "Skip a step whose gradient norm exceeds this multiple (> 1) of its running mean.", recipe)),
              &TrainOptions::skip_ratio),
        field(zero_is("off", real("train.leave_out_ratio", "10", at_least(0),
                                  "Leave a sequence out of the gradient when both |a|, the norm of its adjoint, and "
                                  "|a|/|dC/dz| exceed this multiple (> 1) of their running means. A circuit without "
                                  "a stable equilibrium has no gradient, and its nudged phase grows without bound. "
                                  "Not for bptt.")),
              &TrainOptions::leave_out_ratio),
        field(zero_is("end", integer("train.evaluate_every", "100", at_least(0),
                                     "Validation loss every so many steps; end: at the end only.")),
              &TrainOptions::evaluate_every),
        field(integer("train.evaluation_batches", "10", between(1, 1000000), "Fixed validation batches."),
              &TrainOptions::evaluation_batches),
        field(integer("train.test_batches", "40", between(1, 1000000),
                      "Fixed batches of the test split of the text, evaluated once at the end."),
              &TrainOptions::test_batches),
        field(zero_is("never", integer("train.cosine_every", "never", at_least(0),
                                       "Cosine of the gradient with the exact adjoint every so many steps.")),
              &TrainOptions::cosine_every),
        field(
            zero_is(
                "never",
                integer("train.margin_every", "never", at_least(0),
                        "Stability margin of the batch's equilibria every so many steps: the leading eigenvalues of J "
                        "for its first sequences, some hundred products J v each. An event of the log warns when free "
                        "steps leave more than 1e-3 of the slowest mode, before the residual rises.")),
            &TrainOptions::margin_every),
        field(
            zero_is("end",
                    integer("train.checkpoint_every", "100", at_least(0),
                            "Checkpoint every so many steps; end: only at the end. A killed run resumes from the last "
                            "one.")),
            &TrainOptions::checkpoint_every),
        field(choice("train.beside", "none", names,
                     "Second model trained alongside, with the same seed and batches and digital weights: the same "
                     "network with this estimator. feed_forward: a transformer or perceptron with as many weights, "
                     "by backprop."),
              &TrainOptions::beside),
        field(choice("train.learns", "all", {"all", "readout", "noise_gradient"},
                     "Parameters that learn. readout: only the read-out learns, the others keep their initial "
                     "values. noise_gradient: the read-out learns, the others move in a random direction with the "
                     "norm of their gradient. The gain over these baselines is what the layers learnt. On devices "
                     "crossbar.update = none freezes only the devices."),
              &TrainOptions::learns),
        field(choice("train.null", "auto", {"auto", "all", "frozen_devices", "readout", "noise_gradient", "off"},
                     "Baseline runs (nulls) of a run on devices; each takes about the time of the run. "
                     "frozen_devices: devices are programmed once and never updated (crossbar.update = none), "
                     "digital parameters learn. readout, noise_gradient: as in train.learns. all: these three where "
                     "the network has a read-out, else two. The devices learnt if the run beats every null and the "
                     "best constant answer. auto: frozen_devices in nudge train on devices, off in sweep and "
                     "compare."),
              &TrainOptions::null)};
    using T = TrainOptions;
    for (const OptimizerKind& kind : optimizer_kinds()) {
      for (const Member<OptimizerOptions>& one : kind.options) {
        all.where(chosen("train.optimizer", {kind.name}), {one.within<T>(&T::rule)});
      }
    }
    all.where(with_devices(), {&T::step_time});
    return all;
  }();
  return section;
}

const Section<GrowthOptions>& growth_section() {
  using param::flag, param::integer, param::real, param::zero_is;
  static const std::string recipe = "recipe of the prototype, tuned by hand on one seed";
  static const Section<GrowthOptions> section = [&] {
    Section<GrowthOptions> all = {
        field(zero_is("off", real("growth.strength", "0.3", at_least(0),
                                  "Weight lambda of the penalty mean relu(g - rho0) on a residual that decays too "
                                  "slowly; g is its growth per step.",
                                  "0.1 to 1 all work, measured")),
              &GrowthOptions::strength),
        field(real("growth.threshold", "0.85", strictly_between(0, 2), "rho0: growth per step without penalty.",
                   "0.85^24 = 2 %: the slow mode is forgotten within the free phase"),
              &GrowthOptions::threshold),
        field(real("growth.probe", "1e-2", strictly_between(0, 1),
                   "Relative size eta of the probe z* +/- eta |z*| v; 0.1 to 0.3 with noisy reads.", recipe),
              &GrowthOptions::probe),
        field(integer("growth.iterations", "0", between(0, 100),
                      "Power iterations on the probe direction v before it is used; 0 takes the residual itself."),
              &GrowthOptions::iterations),
        field(flag("growth.samples", "false",
                   "Also for networks of independent samples (network.kind = hopfield, convolutional). Each sample "
                   "has its own residual direction and g, per parallel step of the relaxation."),
              &GrowthOptions::samples)};
    all.where(above_zero("growth.strength"),
              {&GrowthOptions::threshold, &GrowthOptions::probe, &GrowthOptions::iterations, &GrowthOptions::samples});
    return all;
  }();
  return section;
}

}  // namespace nudge
