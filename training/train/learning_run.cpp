// SPDX-License-Identifier: Apache-2.0
#include "training/train/learning_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace nudge {

const SampleLosses& LearningRun::losses(const std::string& part) const {
  static const SampleLosses none;
  const auto found = losses_.find(part);
  return found == losses_.end() ? none : found->second;
}

std::string LearningRun::cost_text(const std::string& unit, const std::string& where) {
  return unit == "nat" ? "mean cross-entropy per token or sample on the " + where
                       : "mean cost 1/2 |z - y|^2 of a sample on the " + where;
}

void LearningRun::record_part(const std::string& part, std::uint64_t done, double loss, const std::string& unit,
                              const SampleScores& scores, SampleLosses losses) {
  losses_.insert_or_assign(part, std::move(losses));
  const std::string name = "train/" + part;
  log_.axis(name + "_step");
  log_.add(name + "_step", static_cast<double>(done), "1", "training steps done at the evaluation");
  log_.add(name + "_loss", loss, unit,
           cost_text(unit, part == "test" ? "test split, which no choice has seen" : part + " split"));
  const auto value = scores.value();
  if (!value) return;
  if (!scores.of_classes()) {
    log_.add(name + "_rmse", *value, "1",
             "root mean square error of a value on the " + part + " samples, as data.value_scaling scales it");
    return;
  }
  log_.add(name + "_accuracy", *value, "1", "share of the " + part + " samples whose class was found");
  if (part == "test") {
    log_.add(name + "_samples", static_cast<double>(scores.counted()), "1",
             "answers in the test split, the denominator of its accuracy");
  }
  if (!scores.confusion()) return;
  log_.add(name + "_macro_accuracy", scores.confusion()->macro_accuracy(), "1",
           "mean of that share over the classes that occur");
  confusion_.insert_or_assign(part, *scores.confusion());
}

void LearningRun::expect(double cosine, const std::string& noise) {
  if (!noise.empty()) log_.event(0, noise);
  if (!std::isnan(cosine)) expect_cosine(0, cosine);
}

void LearningRun::expect_cosine(std::uint64_t step, double cosine) {
  log_.axis("train/forecast_step");
  log_.add("train/forecast_step", static_cast<double>(step), "1", "steps before which the gradient was compared");
  log_.add("train/forecast_cosine", cosine, "1",
           "cosine of the batch's gradient with the exact one of the simulated circuit, before that step");
}

void LearningRun::write_log(H5Document& document, const std::string& prefix, const std::string& loss_unit) const {
  log_.write(document, prefix);
  for (const auto& [part, matrix] : confusion_) matrix.write(fmt::format("{}confusion/{}", prefix, part), document);
  for (const auto& [part, losses] : losses_) losses.write(prefix + "sample_losses/" + part, loss_unit, document);
}

void LearningRun::restore_log(const H5Reader& file, const std::string& prefix) {
  log_.restore(file, prefix);
  for (const std::string part : {"validation", "test"}) {
    losses_.insert_or_assign(part, SampleLosses::read(prefix + "sample_losses/" + part, file));
    if (const auto matrix = ConfusionMatrix::read(fmt::format("{}confusion/{}", prefix, part), file))
      confusion_.insert_or_assign(part, *matrix);
  }
}

template <class S>
void SampleScores::add(const Batch& batch, const std::vector<Matrix<S>>& outputs) {
  if (!scored_) return;
  const bool classes = batch.values.size() == 0;
  if (classes && !confusion_ && outputs.front().cols() <= kMostConfused) confusion_.emplace(outputs.front().cols());
  for (Index b = 0; b < batch.sequences; ++b) {
    const Matrix<S>& out = outputs[static_cast<std::size_t>(b)];
    for (Index t = 0; t < batch.tokens; ++t) {
      const Index row = b * batch.tokens + t;
      if (!batch.counts(row)) continue;
      if (classes) {
        const auto label = batch.targets_of(b).subspan(static_cast<std::size_t>(t), 1);
        const S* const scores = out.row(t).data();
        right_ += chosen_class<S>({scores, static_cast<std::size_t>(out.cols())}) == label.front() ? 1 : 0;
        ++counted_;
        if (confusion_) confusion_->add<S>(out.middleRows(t, 1), label);
      } else {
        squares_ += (out.row(t).template cast<double>() - batch.values.row(row).cast<double>()).squaredNorm();
        numbers_ += static_cast<double>(out.cols());
      }
    }
  }
}

std::optional<double> SampleScores::value() const {
  if (of_classes()) return static_cast<double>(right_) / static_cast<double>(counted_);
  if (numbers_ > 0) return std::sqrt(squares_ / numbers_);
  return std::nullopt;
}

template void SampleScores::add(const Batch&, const std::vector<Matrix<float>>&);
template void SampleScores::add(const Batch&, const std::vector<Matrix<double>>&);

}  // namespace nudge
