// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/io/h5_document.hpp"
#include "training/models/network_plan.hpp"
#include "training/train/sample_losses.hpp"
#include "training/train/training_loop.hpp"

namespace nudge {

/// Null of a training on devices: the same config, seed, batches and devices, but for the settings that keep its
/// devices from learning. It trains as a baseline run beside the run, under the name "null/" + name. Devices have
/// learnt what the run gains over its strongest null.
struct NullKind {
  std::string name;                   ///< value of train.null
  std::string words;                  ///< "frozen devices"
  std::vector<std::string> settings;  ///< "KEY=VALUE"
  bool needs_readout = false;
  std::string lane() const { return "null/" + name; }
};

/// All nulls that are runs: frozen_devices, readout, noise_gradient. One more costs nothing and is no run: constant,
/// the constant answer with the least cost on the training split (best_constant()).
const std::vector<NullKind>& null_kinds();

/// Words of a null, of "constant" too.
std::string null_words(const std::string& name);

/// Returns train.null of a training, with auto resolved: "frozen_devices" where devices hold weights and training
/// writes them, else "off".
std::string resolved_null(const Config& config);

/// Nulls that a training with this plan runs: all of train.null that its network can have.
std::vector<NullKind> null_runs(const Config& config, const NetworkPlan& plan);

/// Config of the baseline run of a null. Gradients are not compared there.
Config null_config(const Config& config, const NullKind& null);

/// Gain of a run over a null.
struct NullGain {
  std::string name;
  LossGain gain;
};

/// Comparison of a run with its nulls, on the test split, or on the validation split where the test split was not read.
struct NullResult {
  std::string part;                  ///< "test" or "validation"
  std::string unit;                  ///< unit of the losses
  std::vector<NullGain> gains;       ///< over each null that was run; all intervals hold together with 95 %
  std::vector<std::string> not_run;  ///< names of the nulls that the network can have and that were not run

  /// The null that is hardest to beat: of the smallest lower bound.
  const NullGain& strongest() const;
  /// True if every null is beaten, false if one is not; nothing while the nulls that were run are beaten and others
  /// were not run. To be true at a level, all tests need that level each (intersection-union test, R. L. Berger,
  /// Technometrics 24 (1982) 295); the bound over all of them is stricter.
  std::optional<bool> learnt() const;
  /// Text such as "the devices learnt: 0.4512 nat [0.4010, 0.5013] below the strongest null, read-out alone (95 % over
  /// 4 nulls at once, 360 test samples)". Or it says that they did not, or that the question is open.
  std::string verdict() const;
};

/// Compares the run of a loop with its nulls; nothing without a null run.
std::optional<NullResult> null_result(const TrainingLoop& loop, const NetworkPlan* plan);

/// Gain of the run over the best constant answer on the part that it is judged by; nothing where that is not known.
struct ConstantGain {
  std::string part;
  LossGain gain;
  double loss = 0;  ///< mean loss of the constant answer
};
std::optional<ConstantGain> constant_gain(const TrainingLoop& loop);

/// Writes the tables /null/name, won, low, high and the verdict as attributes of /null.
void write_null(const NullResult& result, H5Document& document);

}  // namespace nudge
