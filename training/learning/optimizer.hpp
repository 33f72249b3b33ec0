// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "circuits/linear_map.hpp"
#include "sim/base/member.hpp"
#include "training/learning/gradient.hpp"

namespace nudge {

/// Constants of the update rules. A rule reads only its own.
struct OptimizerOptions {
  double momentum = 0.9;  ///< sgd: μ in [0, 1)
  double beta1 = 0.9;     ///< adam: decay of the first moment, in [0, 1)
  double beta2 = 0.99;    ///< adam: decay of the second moment, in [0, 1); 0.99 trained our prototype
  double epsilon = 1e-8;  ///< adam: added to the root of the second moment (Kingma & Ba's default)
  double offset = 0;  ///< comparator: standard deviation of the offset it adds to a gradient, element to element [≥ 0]
  double threshold = 0;    ///< comparator: gradients at or below it change nothing [≥ 0]
  bool sign = true;        ///< comparator: only the sign is told
  std::uint64_t seed = 0;  ///< comparator: seed of the offsets
};

/// Turns gradients into weight changes. It never touches weights: the caller hands each delta to its array, which may
/// take only part of it. A skipped training step must not call step(), then the state is as if the step had not been.
template <class S>
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Sets delta[p], the change to ask of parameter p, from gradient[p]; resizes delta. learning_rate ≥ 0.
  virtual void step(const std::vector<Matrix<S>>& gradient, double learning_rate, std::vector<Matrix<S>>& delta) = 0;

  /// Factor r of a rule without memory, whose change is r times the gradient; nothing for other rules. A rule with r
  /// need not be asked to step().
  virtual std::optional<S> factor(double /*learning_rate*/) const { return std::nullopt; }

  /// State that a checkpoint must hold; writing into the arrays restores. Names are "rule/quantity/number".
  virtual std::vector<StateArray<S>> state() = 0;
};

/// Update rule of numbers: a value of train.optimizer, the options it reads, what it costs and how it is made.
struct OptimizerKind {
  std::string name;
  std::string summary;
  double operations;                                   ///< digital operations per parameter of one step
  std::vector<Member<OptimizerOptions>> options;       ///< options that it reads
  double (*numbers)(const OptimizerOptions& options);  ///< numbers that it keeps per parameter
  std::unique_ptr<Optimizer<float>> (*make_float)(const OptimizerOptions&, std::span<const ParameterShape>);
  std::unique_ptr<Optimizer<double>> (*make_double)(const OptimizerOptions&, std::span<const ParameterShape>);
};

/// All update rules, and their names.
const std::vector<OptimizerKind>& optimizer_kinds();
std::vector<std::string> optimizer_names();

/// Update rule of a name; UserError when there is none.
const OptimizerKind& optimizer_kind(const std::string& name);

/// Digital operations per parameter that clip the norm of a gradient: square and addition of the norm, one product.
inline constexpr double clipping_operations = 3;

/// Makes an update rule. UserError when the name is unknown or an option is outside its range.
template <class S>
std::unique_ptr<Optimizer<S>> make_optimizer(const std::string& name, const OptimizerOptions& options,
                                             std::span<const ParameterShape> shapes);

/// Adds delta with the weight decay of AdamW (Loshchilov & Hutter 2019, arXiv:1711.05101, algorithm 2, the rate
/// included):
///   W ← (1 − decay) W + Δ,  decay = η λ.
template <class S>
void add_with_decay(const std::vector<Matrix<S>>& delta, double decay, std::vector<Matrix<S>>& parameters);

/// Learning rate over a run: η_max · warmup(k) · shape(k) at step k = 0, 1, ….
///   warmup(k) = min(1, (k + 1)/W)                              with W = warmup_steps; 1 when W = 0
///   constant:  shape = 1
///   cosine:    shape = f + (1 − f)(1 + cos πp)/2,  p = (k − W)/(N − W) in [0, 1], N = steps, f = final_fraction
/// (the half-cosine of Loshchilov & Hutter 2017, arXiv:1608.03983, eq. 5, without restarts).
struct Schedule {
  std::string shape = "cosine";  ///< name of the shape, of schedule_names()
  double learning_rate = 3e-3;   ///< η_max ≥ 0
  std::uint64_t steps = 1200;    ///< N ≥ 1: the whole run; the rate stays at its last value afterwards
  std::uint64_t warmup_steps = 50;
  double final_fraction = 0.0;  ///< f in [0, 1]: η_N/η_max of the cosine
};

/// Names of the shapes: constant, cosine.
const std::vector<std::string>& schedule_names();

/// Throws UserError when the shape is unknown or a value outside its range.
void check(const Schedule& schedule);

/// Learning rate of step k.
double learning_rate_at(const Schedule& schedule, std::uint64_t step);

}  // namespace nudge
