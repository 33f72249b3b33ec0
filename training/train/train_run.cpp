// SPDX-License-Identifier: Apache-2.0
#include "training/train/train_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "sim/base/build_info.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/product.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/output_lock.hpp"
#include "sim/io/run_record.hpp"
#include "training/batch/batch_ranks.hpp"
#include "training/check/choices.hpp"
#include "training/check/free_phase_check.hpp"
#include "training/check/gradient_forecast.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/config/feed_forward.hpp"
#include "training/config/hardware.hpp"
#include "training/config/input_files.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"
#include "training/config/run_parts.hpp"
#include "training/config/step_stages.hpp"
#include "training/config/stored_config.hpp"
#include "training/config/train_options.hpp"
#include "training/data/data_options.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/train/equilibrium_run.hpp"
#include "training/train/equilibrium_verdict.hpp"
#include "training/train/tape_run.hpp"

namespace nudge {
namespace {

/// Makes all that a run trains side by side, each by its name. The nulls end nothing: they may never settle.
std::vector<NamedRun> make_runs(const Config& config, const TaskSizes& sizes,
                                const std::shared_ptr<const NetworkPlan>& plan) {
  std::vector<NamedRun> runs;
  if (plan == nullptr) {
    runs.push_back({"", make_tape_run(config, sizes)});
    return runs;
  }
  runs.push_back({"", make_equilibrium_run(config, plan, "", Weights::configured)});
  const TrainOptions options = train_options(config);
  if (options.beside == feed_forward_name) {
    const Config plain = feed_forward_config(config);
    runs.push_back({"beside", make_equilibrium_run(plain, network_plan(plain, sizes), "", Weights::digital)});
  } else if (options.beside != "none")
    runs.push_back({"beside", make_equilibrium_run(config, plan, options.beside, Weights::digital)});
  for (const NullKind& null : null_runs(config, *plan))
    runs.push_back(
        {null.lane(), make_equilibrium_run(null_config(config, null), plan, "", Weights::configured), false});
  return runs;
}

/// Resolves train.null and the estimator as they are run, so that the file tells them.
Config resolved(Config config) {
  config.set_from_text("train.null", resolved_null(config));
  if (!network_kind(config).is_circuit()) config.set_from_text("estimator", backprop_name);
  return config;
}

class TrainRun {
 public:
  TrainRun(const Config& config, FinalTest final_test)
      : TrainRun(config, run_parts(config, Work::learns), final_test) {}

  TrainRun(const Config& config, RunParts parts, FinalTest final_test)
      : config_(config),
        task_(std::move(parts.task)),
        plan_(std::move(parts.plan)),
        loop_(task_, make_runs(config, task_->sizes(), plan_), loop_settings(config, final_test)),
        metric_(score_metric(config)),
        stages_(plan_ ? step_stages(config, *plan_) : std::vector<StepStage>{}) {
    record_ = record_of("train", config);
  }

  void restore(const H5Reader& file) {
    loop_.restore(file, "");
    expect_as_on_rank_0("the file to resume", fmt::format("{} steps done", loop_.done()));
    record_.started = file.text_attribute("started");
    earlier_ = file.real_attribute("wall_time_s");
    lines_ = read_text_lines(file);
    references_ = read_reference_scores(file);
    given_ = read_given(file);
    asked_ = references_.has_value();
  }

  /// Keeps the values that the user did not set, and tells them with the first progress.
  void give(std::vector<GivenValue> values) { given_ = untold_ = std::move(values); }

  void expect(const GradientForecast& forecast) { loop_.main_run().expect(forecast.cosine, noise_text(forecast)); }

  void note(const std::string& what) {
    if (!what.empty()) loop_.main_run().note(what);
  }

  void warn(const std::string& what, const TrainObserver& observer) {
    if (what.empty() || !observer) return;
    TrainProgress p = progress();
    p.warning = what;
    observer(p);
  }

  /// Runs without a file of its own: no references, and the kept file is written now and then.
  TrainSummary run(const KeptRun& kept, const TrainObserver& observer) {
    asked_ = true;
    const auto since = [](Clock::time_point then) {
      return std::chrono::duration<double>(Clock::now() - then).count();
    };
    Clock::time_point last = start_;
    overwrite_ = Overwrite::replace;
    const auto save = [&] {
      if (!loop_.stopped() && (loop_.finished() || since(last) < kept.every_s)) return;
      const Interruptible whole(false);
      try {
        write(kept.file);
      } catch (const UserError&) {  // a full disk: the run itself goes on
      }
      last = Clock::now();
    };
    loop_.run(save, [&] { return agreed(!observer || observer(progress())); });
    return summary();
  }

  TrainSummary run(const std::optional<std::filesystem::path>& output, Overwrite first_write,
                   const TrainObserver& observer) {
    overwrite_ = first_write;
    const auto save = [&] {
      if (output) write(*output);
    };
    loop_.run(save, [&] {
      if (written_) add_references(observer);
      warn(new_finding(), observer);
      return agreed(!observer || observer(progress()));
    });
    if (output && loop_.finished() && !loop_.stopped()) {
      add_references(observer);  // of a resumed run that had ended before they were known
      if (references_later_) write(*output);
    }
    return summary();
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// What the free phases were found to lack, the first time that it is found.
  std::string new_finding() {
    const std::size_t judged = log().values("train/equilibrium_step").size();
    if (warned_ || judged == judged_) return "";
    judged_ = judged;
    Equilibrium last = logged_verdict(log());
    last.keys = advisable_keys(config_);
    warned_ = !last.clean();
    return warned_ ? sentence(last) : "";
  }

  TrainSummary summary() const {
    TrainSummary result = summarise(config_, loop_, plan_.get());
    result.lines = lines_ ? lines_ : task_->lines();
    result.references = references_;
    result.seconds = seconds();
    return result;
  }

  const TrainLog& log() const { return loop_.main_run().log(); }

  double seconds() const { return earlier_ + std::chrono::duration<double>(Clock::now() - start_).count(); }

  void write(const std::filesystem::path& path) {
    static_cast<void>(interrupted());  // from here on there is something to save
    H5Document document;
    record_.wall_time_s = seconds();
    add_run_record(document, record_);
    document.attribute("ideal_parts", fmt::format("{}", fmt::join(ideal_parts(config_), ", ")));
    write_given(given_, document);
    if (!stages_.empty()) write_step_stages(stages_, document);
    if (!lines_) lines_ = task_->lines();
    if (lines_) write_text_lines(*lines_, document);
    if (references_) write_reference_scores(*references_, document);
    loop_.write(document, "");
    if (const auto null = null_result(loop_, plan_.get())) write_null(*null, document);
    const TrainSummary now = summarise(config_, loop_, plan_.get());
    if (now.equilibrium.known()) document.attribute("equilibrium", sentence(now.equilibrium));
    if (loop_.finished() || !loop_.stuck().empty()) {
      if (!now.failure.empty()) document.attribute("failure", now.failure);
      if (now.plateau) write_plateau(*now.plateau, document);
    }
    document.write(path, overwrite_);
    overwrite_ = Overwrite::replace;
    written_ = true;
    references_later_ = false;
  }

  /// Adds the scores of trivial models, once a checkpoint is written. So nobody waits for them to see the run's first
  /// steps, and a signal leaves them to the resumed run. Their time does not count as the run's.
  void add_references(const TrainObserver& observer) {
    if (asked_ || interrupted()) return;
    const auto start = Clock::now();
    const auto tell = [&](const std::string& doing) {
      TrainProgress p = progress();
      p.doing = doing;
      return !observer || observer(p);
    };
    try {
      const Interruptible here;
      references_ = task_->references(reference_request(config_, loop_.main_run().weights(), tell));
      asked_ = true;
      references_later_ = references_.has_value();
    } catch (const Interrupted&) {
    }
    earlier_ -= std::chrono::duration<double>(Clock::now() - start).count();
  }

  TrainProgress progress() {
    TrainProgress p{loop_.done(), loop_.steps(), loop_.finished(), log().last("train/validation_step")};
    p.metric = metric_;
    p.given = std::exchange(untold_, {});
    const auto add = [&p](const std::string& lane, const TrainLog& log, const std::string& column) {
      Measured one = log.measured("train/" + column);
      one.name = lane + column;
      p.values.add({one, one.name});
    };
    for (const char* column : {"residual", "damping"}) add("", log(), column);
    if (!metric_.empty()) add("", log(), "validation_" + metric_);
    for (const std::string& lane : loop_.names()) {
      const LearningRun* run = loop_.named(lane);
      if (run == nullptr || (!lane.empty() && !std::isfinite(run->log().last("train/loss")))) continue;
      for (const char* column : {"loss", "validation_loss"}) {
        add(lane.empty() ? "" : lane + "/", run->log(), column);
      }
    }
    return p;
  }

  const Config& config_;
  std::shared_ptr<const Task> task_;
  std::shared_ptr<const NetworkPlan> plan_;
  TrainingLoop loop_;
  std::optional<TextLines> lines_;
  std::string metric_;
  std::vector<StepStage> stages_;
  std::vector<GivenValue> given_, untold_;
  /// Reference scores, made after the first file: a sweep's points need none.
  std::optional<ReferenceScores> references_;
  bool asked_ = false;      ///< true: the references are there, or there are none
  std::size_t judged_ = 0;  ///< verdicts on free phases that were looked at
  bool warned_ = false;     ///< of one that is not clean
  /// Flags of files. written_: there is a file; references_later_: references came after the last file.
  bool written_ = false, references_later_ = false;
  double earlier_ = 0;  ///< s of the runs before, without what was no part of the run
  Clock::time_point start_ = Clock::now();
  RunRecord record_;
  Overwrite overwrite_ = Overwrite::must_not_exist;
};

void start_run(const Config& config) {
  use_product_kernel(config);
  expect_as_on_rank_0("build and products", version_and_revision() + ", " + product_kernel_name());
}

void expect_same_config(const Config& stored, const Config& given, const std::string& file) {
  std::string problems;
  for (const auto& d : difference(stored, given)) {
    if (d.key == "threads" || d.key.starts_with("output.")) continue;
    problems += fmt::format("\n  {}: {} in the file, {} in the config", d.key, d.first, d.second);
  }
  if (!problems.empty()) {
    throw UserError(
        fmt::format("{}: the checkpoint has another config:{}\n"
                    "Resume without a config to continue it as it was, or start a new run with another --out",
                    file, problems));
  }
}

/// Config of the file's run, or the caller's where it is the same.
Config resumed_config(const H5Reader& file, const std::filesystem::path& path, const Config* config) {
  expect_same_inputs(file, stored_program_config(file));
  Config stored = stored_program_config(file);
  // Of a file of an older version, which has no such lane.
  if (stored.text("train.null") == "auto") stored.set_from_text("train.null", "off");
  if (config != nullptr) {
    Config given = settled_as(stored, *config);
    if (given.text("train.null") == "auto") given.set_from_text("train.null", stored.text("train.null"));
    if (!network_kind(given).is_circuit()) given.set_from_text("estimator", stored.text("estimator"));
    expect_same_config(stored, given, path.string());
    return given;
  }
  return stored;
}

/// Begins a new run of the config, with the choices that are left to the program made.
template <class Run>
TrainSummary begin(const Config& config, FinalTest final_test, const TrainObserver& observer, const Run& run) {
  const Config ours = resolved(config);
  RunParts parts = run_parts(ours, Work::learns);
  if (parts.plan == nullptr) {
    std::vector<GivenValue> given = given_values(config, ours, &parts);
    TrainRun tapes(ours, std::move(parts), final_test);
    tapes.give(std::move(given));
    return run(tapes);
  }
  const std::string fast = bandwidth_warning(ours, parts);
  const Config placed = chosen_circuit(ours, parts);
  const NudgeChoice nudge = chosen_nudge(placed, parts);
  check_placed(placed, [&nudge](const Config& c) { check_nudge(c, nudge); });
  const Config chosen = with_nudge(placed, nudge);
  const LookAt what = LookAt::of_run(chosen);
  const GradientForecast forecast =
      begins_with_forecast(chosen) ? forecast_gradient(chosen, parts, what) : GradientForecast{};
  check_placed(chosen, [&forecast](const Config& c) { check_forecast(c, forecast); });
  std::vector<GivenValue> given = given_values(config, chosen, &parts);
  TrainRun circuit(chosen, std::move(parts), final_test);
  circuit.give(std::move(given));
  circuit.warn(fast, observer);
  circuit.warn(nudge_warning(chosen, nudge), observer);
  circuit.expect(forecast);
  circuit.note(no_forecast_text(chosen));
  circuit.warn(forecast_warning(chosen, forecast), observer);
  return run(circuit);
}

}  // namespace

TrainSummary train(const Config& config, const std::optional<std::filesystem::path>& output,
                   const TrainObserver& observer, FinalTest final_test) {
  expect_training_reads(config);
  start_run(config);
  std::optional<OutputLock> lock;
  if (output && leads_batches()) {
    check_output_path(*output, Overwrite::must_not_exist);
    lock.emplace(*output);
  }
  const std::optional<std::filesystem::path> written = leads_batches() ? output : std::nullopt;
  return begin(config, final_test, observer,
               [&](TrainRun& run) { return run.run(written, Overwrite::must_not_exist, observer); });
}

TrainSummary train_kept(const Config& config, const KeptRun& kept, const TrainObserver& observer,
                        FinalTest final_test) {
  NUDGE_EXPECT(!batches_are_shared());
  expect_training_reads(config);
  start_run(config);
  if (kept.resume && std::filesystem::exists(kept.file)) {
    std::optional<Config> stored;
    std::optional<TrainRun> run;
    try {
      const H5Reader file(kept.file);
      stored = resumed_config(file, kept.file, &config);
      run.emplace(*stored, final_test);
      run->restore(file);
    } catch (const UserError&) {  // of another config or version: the run begins anew
      run.reset();
    }
    if (run) return run->run(kept, observer);
  }
  return begin(config, final_test, observer, [&](TrainRun& run) { return run.run(kept, observer); });
}

TrainSummary resume(const std::filesystem::path& path, const Config* config, const TrainObserver& observer) {
  const bool leads = leads_batches();
  std::optional<OutputLock> lock;
  if (leads) lock.emplace(path);
  const H5Reader file(path);
  expect_kind(file, "train", "can be resumed");
  if (leads) check_output_path(path, Overwrite::replace);
  const Config stored = resumed_config(file, path, config);
  start_run(stored);
  TrainRun run(stored, FinalTest::evaluate);
  run.restore(file);
  return run.run(leads ? std::optional(path) : std::nullopt, Overwrite::replace, observer);
}

ReferenceRequest reference_request(const Config& config, Index weights,
                                   const std::function<bool(const std::string& doing)>& progress) {
  constexpr double kAlways = 2e10;
  const TrainOptions options = train_options(config);
  const double samples = static_cast<double>(options.rate.steps) * static_cast<double>(options.batch);
  return {data_options(config).references, std::max(kAlways, 5 * samples * static_cast<double>(weights)),
          run_options(config).threads, progress};
}

}  // namespace nudge
