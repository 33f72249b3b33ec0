// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "circuits/correction_spec.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "sim/config/config.hpp"
#include "training/batch_gradient.hpp"
#include "training/optimizer.hpp"
#include "training/schedule.hpp"
#include "training/text_dataset.hpp"

namespace nudge {

/// The objects that a configuration describes; every command starts from these.

/// Makes product.kernel the choice of the whole process; the start of every run.
void use_product_kernel(const Config& config);

/// The corpus of data.text, or the text that ships with the project when that is empty.
TextDataset load_dataset(const Config& config);

ModelShape model_shape(const Config& config, Index vocabulary);

/// The mixer of model.mixer; the sizes that the config leaves at 0 follow from channels and heads.
MixerChoice mixer_choice(const Config& config);

/// Learning rate over train.steps, and constants of the update rules.
Schedule schedule_of(const Config& config);
OptimizerOptions optimizer_options(const Config& config);

/// The arrays of a run: crossbar_spec(config), programmed and solved on the threads of the config (within parallel loops, as
/// the points of a sweep are, OpenMP gives them one), and used by the tokens of its model: T, and slots as long as a step
/// of the relaxation at the initial damping.
CrossbarSpec model_arrays(const Config& config);

/// UserError when the arrays that hold one matrix of the model (replicas of all tokens included) are larger than this
/// machine's memory: before anything of it is made.
void check_arrays_fit(const CrossbarSpec& spec, const ModelShape& shape, std::size_t scalar_bytes);

/// What holds the weights.
enum class Weights {
  configured,  ///< device.model
  digital,     ///< exact numbers and circuits: references, and the lane trained beside
};

/// What real circuits make of the correction of the nudged phase.
CorrectionSpec correction_spec(const Config& config);

/// The model with its initial weights (a function of the seed), programmed into the configured maps.
template <class S>
std::unique_ptr<LanguageModel<S>> make_model(const Config& config, const ModelShape& shape, Weights weights);

/// ε = relaxation.step, or relaxation.step_fraction/(1 + s·c) for the present damping c when that is 0.
double relaxation_step(const Config& config, double damping);

/// Options of a BatchGradient for one estimator ("" : the configured one) at the initial damping. beta = 0 in the config
/// chooses default_beta. Growth penalty included.
template <class S>
BatchGradientOptions gradient_options(const Config& config, const std::string& estimator);

/// The exact adjoint at the z* that a noise-free free phase reaches, without growth penalty and with an ideal correction
/// path: the truth of gradient comparisons, to be run on an exact_copy() of the model.
template <class S>
BatchGradientOptions exact_options(const Config& config);

}  // namespace nudge
