// SPDX-License-Identifier: Apache-2.0
#include "training/experiments/tapes/learner.hpp"

#include <cmath>

#include "sim/base/rng.hpp"

namespace nudge {

template <class S>
std::vector<Matrix<S>> initial_parameters(std::span<const Field> fields, std::uint64_t seed) {
  std::vector<Matrix<S>> parameters;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    Matrix<S> values = Matrix<S>::Zero(fields[k].rows(), fields[k].cols());
    if (fields[k].deviation > 0) {
      const RngKey key{seed, Purpose::weight_init, static_cast<std::uint32_t>(k)};
      fill_normal<S>(key, 0, 0, std::span<S>(values.data(), static_cast<std::size_t>(values.size())));
    }
    values.array() = values.array() * static_cast<S>(fields[k].deviation) + static_cast<S>(fields[k].mean);
    parameters.push_back(std::move(values));
  }
  return parameters;
}

template <class S>
Curves learn(const Problem<S>& problem, const LearnerOptions& options, const LearnerProgress& progress,
             std::vector<Matrix<S>>* final_parameters) {
  const std::vector<Field> fields = problem.fields();
  std::vector<ParameterShape> shapes;
  for (const Field& field : fields) shapes.push_back({field.rows(), field.cols()});
  auto parameters = initial_parameters<S>(fields, options.seed);
  const auto adam = make_optimizer<S>("adam", options.adam, shapes);
  TapeBatch<S> tapes([&] { return problem.record(parameters); }, fields, options.threads);
  Gradient<S> gradient(shapes);
  std::vector<Matrix<S>> delta;
  Curves curves;
  const std::uint64_t steps = options.schedule.steps;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::vector<Example> examples = problem.batch(step);
    curves.loss.push_back(tapes.gradient(examples, gradient));
    clip_by_norm(gradient, options.gradient_clip);
    if (!std::isfinite(curves.loss.back()) || !gradient.all_finite()) {
      curves.status = std::isfinite(curves.loss.back()) ? "the gradient is not finite" : "the loss is not finite";
      return curves;
    }
    const double rate = learning_rate_at(options.schedule, step);
    adam->step(gradient.matrices(), rate, delta);
    add_with_decay<S>(delta, rate * options.weight_decay, parameters);
    const bool last = step + 1 == steps;
    if (last || (options.evaluate_every > 0 && (step + 1) % options.evaluate_every == 0)) {
      curves.evaluated_at.push_back(static_cast<std::int64_t>(step + 1));
      curves.measures.push_back(
          problem.evaluate(tapes, parameters, last ? Problem<S>::When::finished : Problem<S>::When::underway));
    }
    if (!progress(step, curves) && !last) return curves;
  }
  curves.status = "ok";
  if (final_parameters != nullptr) *final_parameters = std::move(parameters);
  return curves;
}

#define NUDGE_INSTANTIATE(S)                                                                    \
  template std::vector<Matrix<S>> initial_parameters<S>(std::span<const Field>, std::uint64_t); \
  template Curves learn<S>(const Problem<S>&, const LearnerOptions&, const LearnerProgress&, std::vector<Matrix<S>>*);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
