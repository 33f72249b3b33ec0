// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "apps/columns.hpp"
#include "apps/commands/study_options.hpp"
#include "apps/commands/text_lines.hpp"
#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "apps/work_rate.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/ranks.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "training/batch/batch_ranks.hpp"
#include "training/config/config_table.hpp"
#include "training/config/feed_forward.hpp"
#include "training/config/run_options.hpp"
#include "training/train/train_json.hpp"
#include "training/train/train_run.hpp"

namespace nudge {
namespace {

struct TrainArguments {
  std::string config, out, resume;
  std::vector<std::string> settings;
  std::string log = "text";
  bool json = false;
};

/// Text of a loss of a run that may have run away: of 1e70 not all digits.
std::string number_text(double loss) {
  if (!std::isfinite(loss)) return "not finite";
  return std::abs(loss) < 1e6 ? fmt::format("{:.4f}", loss) : fmt::format("{:.4e}", loss);
}

/// Text of progress, with the validation results where they are new since the last line.
std::string text_of(const TrainProgress& p, bool validated) {
  const auto scored = [&](const std::string& lane) {
    return validated ? "  validation " + number_text(p.values.of(lane + "validation_loss")) : "";
  };
  std::string line =
      fmt::format("step {:>6}/{}  loss {}{}", p.done, p.steps, number_text(p.values.of("loss")), scored(""));
  const double damping = p.values.of("damping"), residual = p.values.of("residual");
  if (std::isfinite(damping)) {
    line += "  residual " + (std::isfinite(residual) ? fmt::format("{:.2e}", residual) : "not finite");
    if (damping != 0) line += fmt::format("  damping {:.3f}", damping);
  }
  if (validated && !p.metric.empty()) {
    line += fmt::format("  {} {}", p.metric, score_text(p.metric, p.values.of("validation_" + p.metric)));
  }
  const auto add = [&](const std::string& lane, const std::string& name) {
    const auto loss = p.values.find(lane + "loss");
    if (loss) line += fmt::format("  | {}: loss {:.4f}{}", name, *loss, scored(lane));
  };
  add("beside/", "alongside");
  for (const NullKind& null : null_kinds()) add(null.lane() + "/", null.words);
  return line;
}

/// Shows the progress of a run. On a terminal: one line, kept current within its width, with the rate and the time left;
/// the last one stays. In a pipe: a line every `every` steps, text or JSON. A signal that came to this rank stops all.
class Printer {
 public:
  Printer(std::uint64_t every, const std::string& format) : every_(every), json_(format == "json") {}

  bool show(const TrainProgress& p) {
    if (!json_) say("{}", given_text(p.given));
    if (!p.warning.empty()) {
      line_.print("nudge: warning: " + p.warning);
    } else if (!p.doing.empty()) {
      if (!json_) told_ || line_.terminal() ? line_.show(p.doing) : line_.print(p.doing);
      told_ = true;
    } else {
      step(p);
    }
    return !interrupted();
  }

 private:
  void step(const TrainProgress& p) {
    if (!rate_) rate_.emplace(p.done);  // the first step includes the preparations
    if (line_.terminal() && !json_) {
      const std::string text = text_of(p, std::isfinite(p.validated));
      line_.show(fmt::format("{}  {}", text, rate_->text(p.done, p.steps)));
      if (p.finished) line_.print(cut_to(text, terminal_columns(STDERR_FILENO)));
      return;
    }
    if (p.done % every_ != 0 && !p.finished) return;
    const bool is_new = p.validated > validated_;  // that before the first step is no score of a later one
    if (is_new) validated_ = p.validated;
    if (!json_) {
      line_.print(text_of(p, is_new));
      return;
    }
    nlohmann::json line = json_of(p);
    line["steps_per_s"] = rate_->per_second(p.done);
    line["seconds_left"] = rate_->seconds_left(p.done, p.steps);
    say("{}\n", json_text(line));
  }

  std::uint64_t every_;
  bool json_, told_ = false;
  double validated_ = 0;
  std::optional<WorkRate> rate_;
  ProgressLine line_;
};

TrainObserver printer(std::uint64_t every, const std::string& format) {
  if (!leads_batches()) return [](const TrainProgress&) { return !interrupted(); };
  return [shown = std::make_shared<Printer>(every, format)](const TrainProgress& p) { return shown->show(p); };
}

/// Text of the writes: "4.02e+06 pulses (12.1 uJ), 3.1e+05 verify reads".
std::string writes_text(double pulses, double energy, double reads) {
  std::string out = fmt::format("{:.3g} pulses", pulses);
  if (energy > 0) out += fmt::format(" ({})", format_quantity(energy, Unit::joule, 3));
  if (reads > 0) out += fmt::format(", {:.3g} verify reads", reads);
  return out;
}

/// Prints the cost of the simulated circuit; nothing for exact numbers.
void print_hardware(const TrainSummary& s) {
  const auto of = [&s](const std::string& name) { return s.of("hardware/" + name); };
  const double first = s.of("programming_pulses"), pulses = s.of("pulses"), failures = of("write_failures");
  if (s.of("array_energy") == 0 && pulses + first == 0) return;
  answer("on the simulated circuit: {} per sequence ({}), {:.3g} devices\n",
         format_quantity(of("phase_time_s"), Unit::second, 3), tokens_text(s), of("devices"));
  answer("programming: {}; training: {}",
         writes_text(first, of("programming/energy_J"), of("programming/verify_reads")),
         writes_text(pulses, of("write_energy_J"), s.of("verify_reads")));
  if (failures > 0) answer("; {:.3g} failures", failures);
  answer("\n{}", energy_lines(s));
}

/// Losses and scores of a lane: "", "beside/" or "null/frozen_devices/". Where the run has not ended there is no test loss.
std::string losses_text(const TrainSummary& s, const std::string& lane) {
  const double validation = s.of(lane + "validation_loss"), test = s.of(lane + "test_loss");
  const char* unit = s.metric.empty() ? " nat" : "";
  std::string out = "validation loss " + (std::isfinite(validation) ? number_text(validation) + unit
                                          : s.failure.empty()       ? "not measured"
                                                                    : "not finite");
  if (std::isfinite(test)) out += fmt::format(", test loss {}{}", number_text(test), unit);
  if (!s.metric.empty()) {
    const double of_validation = s.of(lane + "validation_" + s.metric), of_test = s.of(lane + "test_" + s.metric);
    const bool tested = std::isfinite(of_test);
    out += fmt::format(", {} {} on validation", s.metric, score_text(s.metric, of_validation));
    if (tested) out += fmt::format(", {} on test", score_text(s.metric, of_test));
    if (!s.references) return out;
    const double samples = tested && s.metric == "accuracy" ? s.of("test_samples") : 0;
    const std::string linear =
        linear_text(*s.references, tested ? "test" : "validation", tested ? of_test : of_validation, samples);
    return linear.empty() ? out : out + ", " + linear;
  }
  if (s.lines && validation >= s.lines->validation.unigram) out += ", learnt nothing beyond letter frequencies";
  return out;
}

std::string size_text(const TrainSummary& s) {
  if (s.beside != feed_forward_name) return "";
  return fmt::format(" ({:.0f} weights, the run has {:.0f})", s.of("beside/weights"), s.of("weights"));
}

bool has_lane(const TrainSummary& s, const std::string& lane) {
  const std::vector<RunValue>& all = s.values.all();
  return std::any_of(all.begin(), all.end(), [&](const RunValue& one) { return one.name == lane + "validation_loss"; });
}

void print_summary(const TrainSummary& s, const std::string& file, bool json) {
  if (json) {
    nlohmann::json out = json_of(s);
    out["file"] = file;
    answer("{}\n", json_text(out, 2));
    return;
  }
  answer("{} steps in {:.1f} s: {} ({:.0f} skipped, {:.0f} not finite steps)\n", s.done, s.seconds, losses_text(s, ""),
         s.of("skipped"), s.of("nonfinite"));
  if (!s.beside.empty()) answer("alongside, {}{}: {}\n", s.beside, size_text(s), losses_text(s, "beside/"));
  if (s.null) {
    for (const NullKind& null : null_kinds()) {
      const std::string lane = null.lane() + "/";
      if (has_lane(s, lane)) answer("baseline run, {}: {}\n", null.words, losses_text(s, lane));
    }
    answer("{}\n", s.null->verdict());
  }
  if (s.plateau) answer("{}\n", s.plateau->text());
  for (const RunValue& one : s.values.all()) {
    if (one.column != Column::measure || !one.value || !std::isfinite(*one.value)) continue;
    answer("{} {:.4g}: {}\n", one.name, *one.value, one.description);
  }
  if (s.lines) answer("{}\n", lines_text(*s.lines));
  if (s.references) answer("{}\n{}\n", references_text(*s.references), reference_work_text(*s.references));
  print_hardware(s);
  answer("{}\n", file);
}

ExitCode finish(const TrainSummary& summary, const std::string& file, bool json) {
  const bool stopped = !agreed(!interrupted());
  if (!leads_batches()) return ExitCode::ok;
  print_summary(summary, file, json);
  if (stopped) {
    say("interrupted; continue with: nudge train --resume {}\n", file);
    return ExitCode::ok;
  }
  for (const std::string& note : summary.notes) say("nudge: note: {}\n", note);
  if (const double drop = summary.of("ir_drop"); drop > 0.5) {
    say("nudge: warning: wire resistance: IR drop figure L = {:.2g} in the worst array, so up to L/(1 + L) = {:.0f} "
        "% of the signal is lost. Use smaller tiles, lower conductances, wider wires, or crossbar.line_ends = both\n",
        drop, 100 * drop / (1 + drop));
  }
  if (summary.failure.empty()) return ExitCode::ok;
  say("nudge: the run failed: {}. The events in {} say where. What may help: {}.\n", summary.failure, file,
      summary.advice);
  return ExitCode::numerical_failure;
}

std::string output_path(const TrainArguments& options, const Config& config) {
  if (!options.out.empty()) return options.out;
  if (const std::string file = run_options(config).output_file; !file.empty()) return file;
  return std::filesystem::path(options.config).filename().replace_extension(".h5").string();
}

ExitCode run_train(const TrainArguments& options) {
  join_ranks();
  share_batches();
  if (options.config.empty() && options.resume.empty())
    throw UserError(
        "train: CONFIG or --resume FILE is missing. "
        "Example: nudge train examples/digits.toml");
  if (!options.resume.empty() && !options.out.empty()) {
    throw UserError("train: --resume continues its own file. Leave --out away");
  }
  if (options.config.empty()) {
    if (!options.settings.empty())
      throw UserError(
          "train: --set changes a CONFIG, and none is given. Name it "
          "before --set");
    const TrainSummary summary = resume(options.resume, nullptr, printer(50, options.log));
    return finish(summary, options.resume, options.json);
  }
  const Config config = load_program_config(options.config, options.settings);
  const std::uint64_t every = run_options(config).print_every;
  if (leads_batches()) warn_of_keys(config);
  if (!options.resume.empty()) {
    const TrainSummary summary = resume(options.resume, &config, printer(every, options.log));
    return finish(summary, options.resume, options.json);
  }
  const std::string out = output_path(options, config);
  const TrainSummary summary = train(config, out, printer(every, options.log));
  return finish(summary, out, options.json);
}

std::function<ExitCode()> add_train(CLI::App& app) {
  const auto options = std::make_shared<TrainArguments>();
  app.add_option("CONFIG", options->config, "Config file (TOML)");
  add_set_option(app, options->settings);
  add_weights_option(app, options->settings);
  app.add_option("--out", options->out, "New HDF5 file to write (default: CONFIG's name with .h5)");
  app.add_option("--resume", options->resume,
                 "Continue the run of this HDF5 file; the result is bit by bit that of "
                 "an unbroken run");
  add_log_format(app, options->log);
  app.add_flag("--json", options->json, "Print the summary as JSON");
  return [options] { return run_train(*options); };
}

}  // namespace

Command train_command() {
  return {"train", "Train a network by equilibrium propagation", "nudge train examples/train_charlm.toml --out run.h5",
          add_train};
}

}  // namespace nudge
