// SPDX-License-Identifier: Apache-2.0
#include "sim/base/open_list.hpp"
#include "training/data/characters.hpp"
#include "training/data/data_options.hpp"
#include "training/data/generated_task.hpp"
#include "training/data/mad/mad_task.hpp"
#include "training/data/sample_task.hpp"
#include "training/data/series.hpp"

namespace nudge {
namespace {

/// Table of all keys of [data] but the text.
ParamTable of_samples() {
  return data_section().rows_without({&DataOptions::examples, &DataOptions::vocabulary, &DataOptions::text});
}

ParamTable of_series() {
  ParamTable rows = series_section().rows();
  add_rows(rows, data_section().rows_of(
                     {&DataOptions::references, &DataOptions::validation_fraction, &DataOptions::test_fraction}));
  return rows;
}

/// Keys of [series], and of [data] what does not say where samples come from.
ParamTable of_windows() {
  ParamTable rows = of_series();
  add_rows(rows, data_section().rows_of(
                     {&DataOptions::frames, &DataOptions::side_by_side, &DataOptions::validation_samples}));
  return rows;
}

template <MadKind kind>
TaskKind mad_kind(const char* summary, const char* only_network = "") {
  return {to_string(kind),
          summary,
          [](const Config& config) { return make_mad_task(kind, config); },
          "accuracy",
          Rows::symbols,
          [](const Config& config) { mad_sizes(kind, config); },
          data_section().rows_of({&DataOptions::examples, &DataOptions::vocabulary, &DataOptions::references}),
          only_network};
}

OpenList<TaskKind>& list() {
  static OpenList<TaskKind> kinds(std::vector<TaskKind>{
      {"characters", "next character of a text (data.text)",
       [](const Config& config) -> std::unique_ptr<Task> { return std::make_unique<CharacterTask>(config); }, "",
       Rows::symbols, nullptr,
       data_section().rows_of({&DataOptions::text, &DataOptions::validation_fraction, &DataOptions::test_fraction})},
      {"classification", "class of a sample (data.file, or the digits that ship)",
       [](const Config& config) -> std::unique_ptr<Task> { return std::make_unique<ClassificationTask>(config); },
       "accuracy", Rows::features, [](const Config& config) { sample_options(config); }, of_samples()},
      {"regression", "real values of a sample (data.file)",
       [](const Config& config) -> std::unique_ptr<Task> { return std::make_unique<RegressionTask>(config); }, "rmse",
       Rows::features, [](const Config& config) { sample_options(config); }, of_samples()},
      mad_kind<MadKind::in_context_recall>("the value that followed a key earlier in the sequence"),
      mad_kind<MadKind::noisy_recall>("the same among noise"),
      mad_kind<MadKind::fuzzy_recall>("the same with keys and values of several tokens"),
      mad_kind<MadKind::selective_copy>("tokens among blanks, copied in order"),
      mad_kind<MadKind::compression>("random tokens, from the last token's vector alone", "sequence_model"),
      mad_kind<MadKind::memorization>("values of keys that the weights must hold"),
      {"argmax",
       "the largest value of every channel, read at once",
       argmax_task,
       "rmse",
       Rows::steps,
       nullptr,
       {},
       "argmax_read"},
      {"forecasting", "the next values of a series (series.file, or a generated one)", forecasting_task, "rmse",
       Rows::steps, check_forecasting_task, of_series(), "sequence_model"},
      {"series", "the next values of a series, shown to a network of samples in frames", series_task, "rmse",
       Rows::features, check_series_task, of_windows()},
      {"latent", "sequences with a hidden position and noise", latent_task, "", Rows::symbols, check_latent_task},
  });
  return kinds;
}

}  // namespace

const std::vector<TaskKind>& task_kinds() { return list().all(); }

void add_task_kind(TaskKind kind) { list().add(std::move(kind)); }

HeldOutSizes held_out_sizes(const Config& config) {
  const auto batch = static_cast<Index>(config.integer("train.batch"));
  return {static_cast<Index>(config.integer("train.evaluation_batches")), batch,
          static_cast<Index>(config.integer("train.test_batches")), batch};
}

const TaskKind& task_kind(const Config& config) { return named(task_kinds(), config.text("task.kind")); }

const std::string& score_metric(const Config& config) { return task_kind(config).metric; }

std::unique_ptr<Task> make_task(const Config& config) { return task_kind(config).make(config); }

}  // namespace nudge
