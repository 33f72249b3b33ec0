// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/section.hpp"
#include "training/data/task.hpp"
#include "training/models/hopfield/hopfield_plan.hpp"

namespace nudge {

/// How a layer hears the one above.
enum class HopfieldFeedback { transpose, separate, none };

/// The section [hopfield].
/// The section [neuron].
struct NeuronOptions {
  double gain_spread = {}, offset_spread = {};  ///< of the units of a layer (UnitSpread)
};
const Section<NeuronOptions>& neuron_section();

struct HopfieldOptions {
  std::vector<Index> hidden;
  HopfieldForm form = {};
  std::string activation, output_activation;
  HopfieldFeedback feedback = {};
  std::string cost;
  double gain = {};
};
const Section<HopfieldOptions>& hopfield_section();

/// The section [convolutional], a list entry per layer or one for all.
struct ConvolutionOptions {
  std::vector<Index> maps, kernel, pool;
};
const Section<ConvolutionOptions>& convolutional_section();

/// The layered Hopfield network of [hopfield] for samples: n_0 = their features, the hidden layers, and, with the squared
/// error, a last layer of as many units as classes or values. UserError for tasks of symbols and costs that do not fit.
std::shared_ptr<const NetworkPlan> hopfield_plan(const Config& config, const TaskSizes& task);

/// The same with the convolutions of [convolutional] below the dense layers. UserError for features that are no image and
/// blocks that do not divide it.
std::shared_ptr<const NetworkPlan> convolutional_plan(const Config& config, const TaskSizes& task);

/// What they read.
ParamTable hopfield_keys();
ParamTable convolutional_keys();

/// A read-out needs classes and a layer to read.
void check_hopfield(const Config& config);

/// A reciprocal network has an energy.
bool hopfield_contrasts(const Config& config);
/// Which weights have no layer energy (NetworkKind::lacks_layer_energy); empty: all have.
std::string hopfield_lacks_energy(const Config& config);
/// Whether hopfield.feedback = none.
bool hopfield_feeds_forward(const Config& config);

}  // namespace nudge
