// SPDX-License-Identifier: Apache-2.0
#include "training/experiments/tape_learner.hpp"

#include <cmath>

#include "sim/base/interrupts.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

std::vector<ParameterShape> shapes_of(const std::vector<Field>& fields) {
  std::vector<ParameterShape> shapes;
  shapes.reserve(fields.size());
  for (const Field& field : fields) shapes.push_back({field.rows(), field.cols()});
  return shapes;
}

}  // namespace

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
TapeLearner<S>::TapeLearner(std::unique_ptr<TapeModel<S>> model, std::vector<Measure> measures,
                            const TapeLearnerOptions& options)
    : Learner(options.log_rows),
      model_(std::move(model)),
      measures_(std::move(measures)),
      options_(options),
      fields_(model_->fields()),
      parameters_(initial_parameters<S>(fields_, options.seed)),
      adam_(make_optimizer<S>("adam", options.adam, shapes_of(fields_))),
      tapes_([this] { return model_->record(parameters_); }, fields_, options.threads),
      gradient_(shapes_of(fields_)) {}

template <class S>
void TapeLearner<S>::step(std::uint64_t step, const Batch& batch) {
  const double loss = tapes_.gradient(batch, step * static_cast<std::uint64_t>(batch.sequences), gradient_);
  const Stoppable kept(false);
  log_.axis("step");
  log_.add("step", static_cast<double>(step), "1", "number of the training step");
  log_.add("loss", loss, measures_.front().unit, "training loss of the step's batch, before the step");
  clip_by_norm(gradient_, options_.gradient_clip);
  if (!std::isfinite(loss)) stuck_ = "the loss is not finite";
  if (stuck_.empty() && !gradient_.all_finite()) stuck_ = "the gradient is not finite";
  if (!stuck_.empty()) return;
  const double rate = learning_rate_at(options_.schedule, step);
  adam_->step(gradient_.matrices(), rate, deltas_);
  add_with_decay<S>(deltas_, rate * options_.weight_decay, parameters_);
}

template <class S>
void TapeLearner<S>::evaluate(std::uint64_t done, const std::vector<Batch>& validation) {
  using When = typename TapeModel<S>::When;
  const When when = done == options_.schedule.steps ? When::finished : When::underway;
  const std::vector<double> values = model_->evaluate(tapes_, validation, parameters_, when);
  const Stoppable kept(false);
  log_.axis("validation_step");
  log_.add("validation_step", static_cast<double>(done), "1", "training steps taken before the evaluation");
  for (std::size_t m = 0; m < measures_.size(); ++m) {
    log_.add(measures_[m].name, values[m], measures_[m].unit, measures_[m].description);
  }
}

template <class S>
std::vector<StateArray<S>> TapeLearner<S>::arrays() {
  std::vector<StateArray<S>> all;
  all.reserve(fields_.size());
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    all.push_back({"parameters/" + fields_[k].name, "1", "parameter of the model", &parameters_[k]});
  }
  for (StateArray<S>& array : adam_->state()) {
    array.name = "optimizer/" + array.name;
    all.push_back(std::move(array));
  }
  return all;
}

template <class S>
void TapeLearner<S>::write(H5Document& document, const std::string& prefix) {
  log_.write(document, prefix);
  for (const auto& array : arrays()) {
    document.matrix<S>(prefix + "checkpoint/" + array.name, *array.values, {array.unit, array.description, {}});
  }
}

template <class S>
void TapeLearner<S>::restore(const H5Reader& file, const std::string& prefix) {
  log_.restore(file, prefix);
  for (auto& array : arrays()) {
    const H5Shape expected{array.values->rows(), array.values->cols()};
    *array.values = file.matrix<S>(prefix + "checkpoint/" + array.name, expected, NonFinite::rejected);
  }
}

#define NUDGE_INSTANTIATE(S)                                                                    \
  template std::vector<Matrix<S>> initial_parameters<S>(std::span<const Field>, std::uint64_t); \
  template class TapeLearner<S>;
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
