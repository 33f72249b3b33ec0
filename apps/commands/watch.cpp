// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/commands/text_lines.hpp"
#include "apps/streams.hpp"
#include "apps/watch/run_state.hpp"
#include "apps/work_rate.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/text.hpp"
#include "sim/io/output_lock.hpp"

namespace nudge {
namespace {

struct WatchOptions {
  std::string file;
  bool once = false, json = false;
  double every = 2;
};

/// Look at a file: its state, and its rate since the last look that saw progress, or over all work that the file tells
/// of.
struct Look {
  RunState state;
  std::optional<std::string> writer;
  double rate = std::nan("");  ///< rate per second
  double left() const { return static_cast<double>(state.total - state.done) / rate; }
};

std::string text_of(const Look& look) {
  const RunState& s = look.state;
  std::string out = fmt::format("{}: {}/{} {}", s.kind, s.done, s.total, s.unit);
  if (s.failed > 0) out += fmt::format(", {} did not end well", s.failed);
  for (const auto& [name, value] : s.numbers) {
    out += fmt::format("  {} {}", name, std::isfinite(value) ? fmt::format("{:.4g}", value) : "-");
  }
  if (s.complete()) return out + "  complete";
  if (std::isfinite(look.rate) && look.rate > 0) {
    out += fmt::format("  {}, {} left", rate_text(look.rate), duration_text(look.left()));
  }
  return out;
}

nlohmann::json json_of(const Look& look, const std::string& file) {
  const RunState& s = look.state;
  nlohmann::json out = {{"file", file},
                        {"kind", s.kind},
                        {"unit", s.unit},
                        {"done", s.done},
                        {"total", s.total},
                        {"failed", s.failed},
                        {"seconds", s.seconds},
                        {"complete", s.complete()},
                        {"rate_per_s", look.rate},
                        {"seconds_left", s.complete() ? 0.0 : look.left()}};
  out["writer"] = look.writer ? nlohmann::json(*look.writer) : nlohmann::json(nullptr);
  for (const auto& [name, value] : s.numbers) out["numbers"][name] = value;
  return out;
}

/// Looks at a file. Nothing: it is not there yet, and somebody is about to write it.
std::optional<Look> look_at(const std::string& path, const RunState& first, double first_at, double now) {
  const auto writer = output_writer(path);
  if (writer && !std::filesystem::exists(path)) return std::nullopt;
  Look look{read_run_state(path), writer};
  const bool moved = first.total > 0 && look.state.done > first.done;
  look.rate = moved ? static_cast<double>(look.state.done - first.done) / (now - first_at)
                    : static_cast<double>(look.state.done) / look.state.seconds;
  return look;
}

double clock_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void report(const WatchOptions& options, const Look& look, ProgressLine* line) {
  if (options.json) {
    answer_now(json_text(json_of(look, options.file)) + "\n");
  } else if (line != nullptr && line->terminal()) {
    line->show(text_of(look));
  } else {
    answer_now(text_of(look) + "\n");
  }
}

ExitCode follow(const WatchOptions& options) {
  ProgressLine line;
  RunState first;
  double first_at = clock_s();
  std::size_t seen = static_cast<std::size_t>(-1);
  while (!interrupted()) {
    const auto look = look_at(options.file, first, first_at, clock_s());
    if (look && first.total == 0) {
      first = look->state;
      first_at = clock_s();
    }
    if (look && look->state.complete()) {
      report(options, *look, nullptr);
      return ExitCode::ok;
    }
    if (look && look->state.done != seen) report(options, *look, &line);
    if (look) seen = look->state.done;
    if (look && !look->writer) {
      report(options, *look, nullptr);
      say("no process of this machine writes {}. Continue it with --resume\n", options.file);
      return ExitCode::ok;
    }
    if (!look) line.show("waiting for the first results");
    for (const double until = clock_s() + options.every; clock_s() < until && !interrupted();) wait_a_moment();
  }
  return ExitCode::ok;
}

ExitCode run_watch(const WatchOptions& options) {
  if (!options.once) return follow(options);
  const auto look = look_at(options.file, {}, 0, 0);
  if (!look) throw UserError(options.file + ": has no results yet, its first runs are under way");
  report(options, *look, nullptr);
  return ExitCode::ok;
}

std::function<ExitCode()> add_watch(CLI::App& app) {
  const auto options = std::make_shared<WatchOptions>();
  app.add_option("FILE", options->file, "HDF5 file that train, sweep or compare is writing")->required();
  app.add_flag("--once", options->once, "Print the progress once, and end");
  app.add_option("--every", options->every, "Seconds between two looks")->check(CLI::Range(0.1, 86400.0));
  app.add_flag("--json", options->json, "Print a JSON object per line");
  return [options] { return run_watch(*options); };
}

}  // namespace

Command watch_command() {
  return {"watch", "Follow a run of another process from its file", "nudge watch sweep.h5", add_watch};
}

}  // namespace nudge
