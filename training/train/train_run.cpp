// SPDX-License-Identifier: Apache-2.0
#include "training/train/train_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/output_lock.hpp"
#include "sim/io/run_record.hpp"
#include "training/config/config_table.hpp"
#include "training/config/setup.hpp"
#include "training/train/device_notes.hpp"
#include "training/train/final_loss.hpp"
#include "training/train/trainee.hpp"

namespace nudge {
namespace {

/// A run whose steps are not finite this many times in a row will not recover: every one leaves the weights as they were.
constexpr int kHopeless = 50;

/// Where ‖F‖ ≥ ‖z‖ the state changes by its own size within a τ: that is no equilibrium.
constexpr double kUnsettled = 1;

template <class S>
class TrainRun {
 public:
  TrainRun(const Config& config, FinalTest final_test)
      : config_(config),
        task_(make_task(config)),
        lines_(task_->lines()),
        metric_(score_metric(config)),
        final_test_(final_test),
        steps_(static_cast<std::uint64_t>(config.integer("train.steps"))) {
    const auto plan = network_plan(config, task_->sizes());
    trainees_.push_back(std::make_unique<Trainee<S>>(config, plan, "", Weights::configured));
    const std::string& beside = config.text("train.beside");
    if (beside != "none") trainees_.push_back(std::make_unique<Trainee<S>>(config, plan, beside, Weights::digital));
    validation_ = task_->validation();
    record_.kind = "train";
    record_.config = dump_toml(config, DumpComments::none);
    record_.seed = config.integer("seed");
    record_.precision = config.text("precision");
    record_.threads = thread_count(static_cast<int>(config.integer("threads")));
    record_.started = now_utc();
  }

  void restore(const H5Reader& file) {
    if (file.integer_attribute("checkpoint_text") != task_->fingerprint()) {
      file.fail(
          "attribute checkpoint_text",
          "the data of the task (data.text, data.file) has changed since the run was started (restore it, or start a "
          "new run)");
    }
    done_ = static_cast<std::uint64_t>(file.integer_attribute("checkpoint_done"));
    record_.started = file.text_attribute("started");
    earlier_ = file.real_attribute("wall_time_s");
    references_ = read_reference_scores(file);
    for (std::size_t i = 0; i < trainees_.size(); ++i) trainees_[i]->restore(file, prefix(i));
  }

  TrainSummary run(const std::optional<std::filesystem::path>& output, Overwrite first_write,
                   const TrainObserver& observer) {
    overwrite_ = first_write;
    if (done_ == 0) evaluate();
    bool stop = false;
    bool hopeless = false;
    while (done_ < steps_ && !stop && !hopeless) {
      const Batch batch = task_->training(done_);
      for (auto& trainee : trainees_) trainee->step(done_, batch);
      ++done_;
      for (const auto& trainee : trainees_) hopeless = hopeless || trainee->nonfinite_in_a_row() >= kHopeless;
      if (due("train.evaluate_every") || done_ == steps_) evaluate();
      if (done_ == steps_ && !hopeless) evaluate_test();
      if (output && (due("train.checkpoint_every") || done_ == steps_)) write(*output);
      stop = observer && !observer(progress());
    }
    if (output && (stop || hopeless)) write(*output);
    TrainSummary result = summary();
    result.failure = hopeless ? fmt::format("stopped: the gradient was not finite {} steps in a row", kHopeless)
                              : failure_of(result);
    return result;
  }

 private:
  static std::string prefix(std::size_t trainee) { return trainee == 0 ? "" : "beside/"; }

  bool due(const char* key) const {
    const auto every = static_cast<std::uint64_t>(config_.integer(key));
    return every > 0 && done_ % every == 0;
  }

  void evaluate() {
    for (auto& trainee : trainees_) trainee->evaluate(done_, validation_);
  }

  /// The one look at the test part, of a run that has ended.
  void evaluate_test() {
    if (final_test_ == FinalTest::leave) return;
    const std::vector<Batch> test = task_->test();
    if (test.empty()) return;
    for (auto& trainee : trainees_) trainee->evaluate_test(done_, test, validation_.size());
  }

  double seconds() const {
    return earlier_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  void write(const std::filesystem::path& path) {
    H5Document document;
    record_.wall_time_s = seconds();
    add_run_record(document, record_);
    document.attribute("checkpoint_done", static_cast<std::int64_t>(done_));
    document.attribute("checkpoint_text", task_->fingerprint());
    if (lines_) write_text_lines(*lines_, document);
    if (!references_) references_ = task_->references();
    if (references_) write_reference_scores(*references_, document);
    for (std::size_t i = 0; i < trainees_.size(); ++i) trainees_[i]->write(document, prefix(i));
    document.write(path, overwrite_);
    overwrite_ = Overwrite::replace;
  }

  TrainProgress progress() const {
    const TrainLog& log = trainees_[0]->log();
    TrainProgress p{done_,
                    steps_,
                    log.last("train/loss"),
                    log.last("train/validation_loss"),
                    log.last("train/residual"),
                    log.last("train/damping"),
                    std::numeric_limits<double>::quiet_NaN(),
                    std::numeric_limits<double>::quiet_NaN(),
                    done_ == steps_,
                    metric_,
                    score(0).validation};
    if (trainees_.size() > 1) {
      p.beside_loss = trainees_[1]->log().last("train/loss");
      p.beside_validation = trainees_[1]->log().last("train/validation_loss");
    }
    return p;
  }

  TrainSummary summary() const {
    TrainSummary s;
    const TrainLog& log = trainees_[0]->log();
    s.done = done_;
    s.loss = final_training_loss(log.values("train/loss"));
    s.validation_loss = log.last("train/validation_loss");
    s.test_loss = log.last("train/test_loss");
    if (lines_) s.lines = *lines_;
    s.residual = log.last("train/residual");
    s.damping = log.last("train/damping");
    s.skipped = trainees_[0]->skipped();
    s.nonfinite = trainees_[0]->nonfinite();
    s.array_energy = median_of_accepted("train/array_energy");
    s.phase_time = median_of_accepted("train/phase_time");
    s.pulses = log.sum_last("device", "pulses_up") + log.sum_last("device", "pulses_down");
    s.verify_reads = log.sum_last("device", "verify_reads");
    s.ir_drop = log.largest_last("device", "ir_drop");
    s.write_failures = log.sum_last("device", "write_failures");
    s.write_energy = log.sum_last("device", "write_energy");
    const double fixed = config_.real("train.step_time");
    const double step_s = fixed > 0 ? fixed : s.phase_time * static_cast<double>(config_.integer("train.batch"));
    s.notes = device_notes(config_, step_s * static_cast<double>(done_));
    s.cosine = log.last("train/cosine_all");
    s.group_cosines = last_cosines(log.values("train/cosine"));
    add_circuit(s);
    if (trainees_.size() > 1) {
      s.beside = trainees_[1]->estimator();
      s.beside_validation_loss = trainees_[1]->log().last("train/validation_loss");
      s.beside_test_loss = trainees_[1]->log().last("train/test_loss");
    }
    s.metric = metric_;
    s.score = score(0);
    if (trainees_.size() > 1) s.beside_score = score(1);
    s.references = references_;
    s.seconds = seconds();
    return s;
  }

  /// What a run has that is no result, or nothing.
  std::string failure_of(const TrainSummary& s) const {
    const auto nonfinite = static_cast<double>(s.nonfinite);
    const auto steps = static_cast<double>(done_);
    if (done_ > 0 && s.nonfinite + s.skipped == done_) return "no step was accepted";
    if (nonfinite > 0.5 * steps) return fmt::format("{} of {} steps were not finite", s.nonfinite, done_);
    const bool tested = !trainees_[0]->log().values("train/test_loss").empty();
    if (!std::isfinite(s.validation_loss) || (tested && !std::isfinite(s.test_loss)) ||
        (done_ > 0 && !std::isfinite(s.loss))) {
      return "the loss is not finite";
    }
    const double residual = final_training_loss(trainees_[0]->log().values("train/residual"));
    if (done_ > 0 && !(residual < kUnsettled)) {  // not a number either: the state ran away
      return fmt::format("it does not settle: |F|/|z| after the free phase is {:.2g} in the last steps", residual);
    }
    return "";
  }

  HeldOutScore score(std::size_t trainee) const {
    if (metric_.empty()) return {};
    const TrainLog& log = trainees_[trainee]->log();
    return {log.last("train/validation_" + metric_), log.last("train/test_" + metric_)};
  }

  void add_circuit(TrainSummary& s) const {
    const TrainLog& log = trainees_[0]->log();
    s.devices = log.sum_last("device", "devices");
    if (s.devices == 0) return;
    s.token_use = config_.text("circuit.tokens");
    s.tokens = coupled_rows(config_);
    StepEnergy& e = s.step_energy;
    e.items.arrays_J = s.array_energy;
    e.conversions = median_of_accepted("train/conversions");
    e.items.dac_J = median_of_accepted("train/conversion_energy");  // of both kinds
    e.items.amplifiers_J = median_of_accepted("train/amplifier_energy");
    e.items.drivers_J = median_of_accepted("train/driver_energy");
    e.items.digital_J = median_of_accepted("train/digital_energy");
    e.lines = median_of_accepted("train/lines");
    e.amplifier_s = median_of_accepted("train/amplifier_time");
    e.cell_V2 = median_of_accepted("train/driven_cells");
    e.operations = median_of_accepted("train/digital_operations");
    const double steps = std::max<double>(1, static_cast<double>(done_));
    e.items.writes_J = log.sum_growth("device", "write_energy") / steps;
    e.items.verify_J = log.sum_growth("device", "verify_energy") / steps;
    e.items.transfers_J = log.sum_growth("device", "transfer_energy") / steps;
    e.pulses_known = s.pulses == 0 || s.write_energy > 0;
  }

  /// Median of a column over the steps that were neither skipped nor rolled back; 0 for an empty column. Not the mean: a
  /// state that runs away draws any power in the model, where the amplifiers of a circuit saturate.
  double median_of_accepted(const char* column) const {
    const TrainLog& log = trainees_[0]->log();
    const auto& values = log.values(column);
    const auto& skipped = log.values("train/skipped");
    const auto& nonfinite = log.values("train/nonfinite");
    std::vector<double> kept;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (skipped[i] == 0 && nonfinite[i] == 0 && std::isfinite(values[i])) kept.push_back(values[i]);
    }
    if (kept.empty()) return 0;
    const auto middle = kept.begin() + static_cast<std::ptrdiff_t>(kept.size() / 2);
    std::nth_element(kept.begin(), middle, kept.end());
    return *middle;
  }

  /// The last comparison, per group; empty without one.
  std::vector<GroupCosine> last_cosines(const std::vector<double>& cosines) const {
    const auto groups = trainees_[0]->network().groups();
    std::vector<GroupCosine> out;
    for (std::size_t g = 0; g < groups.size() && cosines.size() >= groups.size(); ++g) {
      out.push_back({groups[g].name, cosines[cosines.size() - groups.size() + g]});
    }
    return out;
  }

  const Config& config_;
  std::unique_ptr<Task> task_;
  std::optional<TextLines> lines_;
  std::string metric_;
  std::optional<ReferenceScores> references_;  ///< made for the first file: a sweep's points need none
  FinalTest final_test_;
  std::uint64_t steps_;
  std::uint64_t done_ = 0;
  double earlier_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<Trainee<S>>> trainees_;
  std::vector<Batch> validation_;
  RunRecord record_;
  Overwrite overwrite_ = Overwrite::must_not_exist;
};

void expect_same_config(const Config& stored, const Config& given, const std::string& file) {
  std::string problems;
  for (const auto& d : difference(stored, given)) {
    if (d.key == "threads" || d.key.starts_with("output.")) continue;
    problems += fmt::format("\n  {}: {} in the file, {} in the config", d.key, d.first, d.second);
  }
  if (!problems.empty()) {
    throw UserError(
        fmt::format("{}: the checkpoint is of another config:{}\nresume without a config to continue it as it "
                    "was, or start a new run with another --out",
                    file, problems));
  }
}

template <class S>
TrainSummary continue_run(const Config& config, const H5Reader& file, const std::filesystem::path& path,
                          const TrainObserver& observer) {
  TrainRun<S> run(config, FinalTest::evaluate);
  run.restore(file);
  return run.run(path, Overwrite::replace, observer);
}

}  // namespace

TrainSummary train(const Config& config, const std::optional<std::filesystem::path>& output,
                   const TrainObserver& observer, FinalTest final_test) {
  use_product_kernel(config);
  std::optional<OutputLock> lock;
  if (output) {
    check_output_path(*output, Overwrite::must_not_exist);
    lock.emplace(*output);
  }
  if (config.text("precision") == "double") {
    return TrainRun<double>(config, final_test).run(output, Overwrite::must_not_exist, observer);
  }
  return TrainRun<float>(config, final_test).run(output, Overwrite::must_not_exist, observer);
}

TrainSummary resume(const std::filesystem::path& path, const Config* config, const TrainObserver& observer) {
  const OutputLock lock(path);
  const H5Reader file(path);
  if (const std::string kind = file.text_attribute("kind"); kind != "train") {
    file.fail("attribute kind", fmt::format("\"{}\" (only a file of kind \"train\" can be resumed)", kind));
  }
  check_output_path(path, Overwrite::replace);
  Config stored = parse_program_config(path.string() + " (stored config)", file.text_attribute("config"));
  if (config != nullptr) {
    expect_same_config(stored, *config, path.string());
    stored = *config;
  }
  use_product_kernel(stored);
  if (stored.text("precision") == "double") return continue_run<double>(stored, file, path, observer);
  return continue_run<float>(stored, file, path, observer);
}

}  // namespace nudge
