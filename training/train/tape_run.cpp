// SPDX-License-Identifier: Apache-2.0
#include "training/train/tape_run.hpp"

#include <cmath>

#include "sim/base/interrupts.hpp"
#include "sim/base/rng.hpp"
#include "training/batch/batch_ranks.hpp"
#include "training/config/run_options.hpp"
#include "training/learning/estimators/registry.hpp"

namespace nudge {
namespace {

std::vector<ParameterShape> shapes_of(const std::vector<Field>& fields) {
  std::vector<ParameterShape> shapes;
  shapes.reserve(fields.size());
  for (const Field& field : fields) shapes.push_back({field.rows(), field.cols()});
  return shapes;
}

template <class S>
std::unique_ptr<TapeModel<S>> make_model(const Config& config, const TaskSizes& sizes) {
  const TapeKind& tape = network_kind(config).tape;
  if constexpr (std::is_same_v<S, float>) {
    return tape.single(config, sizes);
  } else {
    return tape.double_precision(config, sizes);
  }
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
TapeRun<S>::TapeRun(const Config& config, const TaskSizes& sizes)
    : LearningRun(run_options(config).log_rows),
      kind_(network_kind(config).name),
      loss_unit_(sizes.classes > 0 ? "nat" : "1"),
      scored_(!score_metric(config).empty()),
      options_(train_options(config)),
      measures_(network_measures(config)),
      model_(make_model<S>(config, sizes)),
      fields_(model_->fields()),
      parameters_(initial_parameters<S>(fields_, run_options(config).seed)),
      optimizer_(make_optimizer<S>(options_.optimizer, options_.rule, shapes_of(fields_))),
      tapes_([this] { return model_->record(parameters_); }, fields_, run_options(config).threads,
             batches_are_shared()),
      gradient_(shapes_of(fields_)) {}

template <class S>
Index TapeRun<S>::weights() const {
  Index count = 0;
  for (const Matrix<S>& values : parameters_) count += values.size();
  return count;
}

template <class S>
void TapeRun<S>::step(std::uint64_t step, const Batch& batch) {
  const double loss = tapes_.gradient(batch, step * static_cast<std::uint64_t>(batch.sequences), gradient_);
  const Interruptible kept(false);
  const double rate = learning_rate_at(options_.rate, step);
  log_.axis("train/step");
  log_.add("train/step", static_cast<double>(step), "1", "number of the training step");
  log_.add("train/loss", loss, loss_unit_, "training loss of the step's batch, before the step");
  log_.add("train/gradient_norm", std::sqrt(gradient_.squared_norm()), "1", "norm of the gradient before clipping");
  log_.add("train/learning_rate", rate, "1", "learning rate");
  clip_by_norm(gradient_, options_.gradient_clip);
  if (!std::isfinite(loss)) stuck_ = "the loss is not finite";
  if (stuck_.empty() && !gradient_.all_finite()) stuck_ = "the gradient is not finite";
  if (!stuck_.empty()) return;
  optimizer_->step(gradient_.matrices(), rate, deltas_);
  add_with_decay<S>(deltas_, rate * options_.weight_decay, parameters_);
}

template <class S>
typename TapeRun<S>::Evaluation TapeRun<S>::evaluation(const std::vector<Batch>& batches, std::uint64_t first,
                                                       bool finished) {
  Evaluation all{0, SampleScores(scored_), {}};
  double rows = 0, examples = 0;
  for (const Batch& batch : batches) {
    const auto count = static_cast<std::size_t>(batch.sequences);
    std::vector<double> costs(count);
    std::vector<std::vector<double>> each(count);
    std::vector<Matrix<S>> outputs(scored_ ? count : 0);
    tapes_.run(batch, first, [&](Index b, ExampleTape<S>& tape) {
      const auto at = static_cast<std::size_t>(b);
      costs[at] = tape.cost();
      each[at] = tape.measured();
      if (scored_) outputs[at] = tape.output();
    });
    first += count;
    all.scores.add(batch, outputs);
    for (std::size_t b = 0; b < count; ++b) {
      const Index counted = batch.counted(static_cast<Index>(b));
      const double summed = costs[b] * static_cast<double>(counted);
      all.losses.add(summed, counted);
      all.loss += summed;
      rows += static_cast<double>(counted);
      all.measured.resize(each[b].size());
      for (std::size_t m = 0; m < each[b].size(); ++m) all.measured[m] += each[b][m];
      examples += 1;
    }
  }
  all.loss /= rows;
  for (double& sum : all.measured) sum /= examples;
  for (const double of_model : model_->measured(parameters_, finished)) all.measured.push_back(of_model);
  return all;
}

template <class S>
void TapeRun<S>::record_measures(const std::string& part, const std::vector<double>& measured) {
  for (std::size_t m = 0; m < measures_.size(); ++m) {
    if (part == "test" && !std::isfinite(measured[m])) continue;  // taken of the finished model once, at its validation
    log_.add("train/" + part + "_" + measures_[m].name, measured[m], measures_[m].unit, measures_[m].description);
  }
}

template <class S>
void TapeRun<S>::evaluate(std::uint64_t done, const std::vector<Batch>& validation) {
  Evaluation all = evaluation(validation, 0, done == options_.rate.steps);
  const Interruptible kept(false);
  record_part("validation", done, all.loss, loss_unit_, all.scores, std::move(all.losses));
  record_measures("validation", all.measured);
}

template <class S>
void TapeRun<S>::evaluate_test(std::uint64_t done, const std::vector<Batch>& test, std::size_t first) {
  Evaluation all = evaluation(test, first * static_cast<std::size_t>(options_.batch), false);
  const Interruptible kept(false);
  record_part("test", done, all.loss, loss_unit_, all.scores, std::move(all.losses));
  record_measures("test", all.measured);
}

template <class S>
std::vector<StateArray<S>> TapeRun<S>::arrays() {
  std::vector<StateArray<S>> all;
  all.reserve(fields_.size());
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    all.push_back({"parameters/" + fields_[k].name, "1", "parameter of the model", &parameters_[k]});
  }
  for (StateArray<S>& array : optimizer_->state()) {
    array.name = "checkpoint/optimizer/" + array.name;
    all.push_back(std::move(array));
  }
  return all;
}

template <class S>
void TapeRun<S>::write(H5Document& document, const std::string& prefix) {
  write_log(document, prefix, loss_unit_);
  document.attribute("estimator", std::string(backprop_name), prefix + "train");
  document.attribute("network", kind_, prefix + "train");
  document.attribute("weights", static_cast<std::int64_t>(weights()), prefix + "train");
  for (const auto& array : arrays()) {
    document.matrix<S>(prefix + array.name, *array.values, {array.unit, array.description, {}});
  }
}

template <class S>
void TapeRun<S>::restore(const H5Reader& file, const std::string& prefix) {
  restore_log(file, prefix);
  for (auto& array : arrays()) {
    const H5Shape expected{array.values->rows(), array.values->cols()};
    *array.values = file.matrix<S>(prefix + array.name, expected, NonFinite::rejected);
  }
}

std::unique_ptr<LearningRun> make_tape_run(const Config& config, const TaskSizes& sizes) {
  if (run_options(config).double_precision()) return std::make_unique<TapeRun<double>>(config, sizes);
  return std::make_unique<TapeRun<float>>(config, sizes);
}

#define NUDGE_TAPE_LEARNER(S)                                                                   \
  template std::vector<Matrix<S>> initial_parameters<S>(std::span<const Field>, std::uint64_t); \
  template class TapeRun<S>;
NUDGE_BOTH_PRECISIONS(NUDGE_TAPE_LEARNER)

}  // namespace nudge
