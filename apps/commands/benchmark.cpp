// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <span>

#include "apps/commands/benchmark_answer.hpp"
#include "apps/commands/study_options.hpp"
#include "apps/report/report.hpp"
#include "apps/streams.hpp"
#include "sim/base/build_info.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/ranks.hpp"
#include "sim/base/text.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/run_record.hpp"
#include "training/benchmark/zoo.hpp"
#include "training/compare/compare.hpp"

namespace nudge {
namespace {

struct BenchmarkOptions {
  std::vector<std::string> devices, networks, rules, settings;
  std::string out, resume, shard, zoo, log = "text";
  bool brief = false, json = false, dry_run = false, ranking = false;
};

/// What is asked for: one protocol, and the parts of each device.
struct BenchmarkWork {
  BenchmarkProtocol protocol;
  std::vector<BenchmarkDevice> devices;
  std::vector<std::vector<BenchmarkPart>> parts;  ///< by device
  std::filesystem::path folder;
  Shard shard;
  bool resumes = false;

  std::filesystem::path file(const BenchmarkPart& part) const {
    return folder / fmt::format("{}.{}.h5", part.device.name, part.network);
  }
  SweepFiles files(const BenchmarkPart& part) const {
    SweepFiles out;
    out.output = file(part);
    out.resume = resumes && std::filesystem::exists(out.output);
    out.shard = shard;
    return out;
  }
};

BenchmarkProtocol protocol_of(const BenchmarkOptions& options) {
  BenchmarkProtocol protocol = options.brief ? short_benchmark() : full_benchmark();
  choose_parts(protocol, options.networks, options.rules);
  add_settings(protocol, options.settings);
  return protocol;
}

BenchmarkWork work_of(const BenchmarkOptions& options) {
  if (!options.resume.empty() && !options.out.empty())
    throw UserError("benchmark: --resume continues its own folder. Leave --out away");
  BenchmarkWork work{protocol_of(options), {}, {}, "", {}, !options.resume.empty()};
  work.folder = work.resumes ? options.resume : options.out.empty() ? "benchmark" : options.out;
  if (work.resumes && !std::filesystem::is_directory(work.folder))
    throw UserError(work.folder.string() + ": no such folder (--resume)");
  if (!options.shard.empty()) work.shard = read_shard(options.shard);
  if (work.shard.count > 1 && rank_count() > 1)
    throw UserError("benchmark: --shard is for job arrays, and mpirun distributes the runs itself. Use one of the two");
  std::set<std::string> names;
  for (const std::string& one : options.devices) work.devices.push_back(benchmark_device(one));
  if (options.devices.empty()) work.devices = benchmark_presets();
  for (const BenchmarkDevice& device : work.devices) {
    if (!names.insert(device.name).second)
      throw UserError(fmt::format("benchmark: two devices are called {}. Rename one of the files", device.name));
    work.parts.push_back(benchmark_parts(work.protocol, device));
  }
  return work;
}

/// Measures what the runs of all parts take; prints a line for each. Nothing where it was interrupted.
double told_time(const BenchmarkWork& work, const std::function<void(const std::string&)>& tell) {
  double seconds = 0;
  std::size_t left = 0, parts = 0;
  ProgressLine line;
  for (const auto& of_device : work.parts) {
    for (const BenchmarkPart& part : of_device) {
      const std::string name = fmt::format("{} on {}", part.device.name, part.network);
      const StudyEstimate one =
          estimate_compare(part.comparison.source, work.files(part), [&](std::size_t done, std::size_t of) {
            line.show(fmt::format("{}: measuring kind {} of {}", name, done + 1, of));
            return !interrupted();
          });
      if (one.interrupted) throw Interrupted();
      tell(fmt::format("{}: {} runs left of {}, about {} ({} at a time)\n", name, one.left, one.points,
                       duration_text(one.seconds), one.at_once));
      seconds += one.seconds;
      left += one.left;
      ++parts;
    }
  }
  if (parts > 1) tell(fmt::format("all: {} runs, about {}\n", left, duration_text(seconds)));
  return seconds;
}

BenchmarkEntry entry_of(const BenchmarkWork& work, const BenchmarkDevice& device) {
  const MachineFacts machine = machine_facts();
  return {device.name,
          device.settings,
          work.protocol.name,
          work.protocol.digest(),
          version_and_revision(),
          fmt::format("{}, {} processors, {}", machine.cpu_model, machine.cores, machine.system),
          now_utc(),
          {}};
}

void write_text(const std::filesystem::path& path, const std::string& text, Overwrite overwrite) {
  write_atomically(path, std::as_bytes(std::span(text)), overwrite);
}

/// How a run of all parts ended.
enum class Ending { whole, interrupted, part };

/// Runs the comparisons of all parts, and adds the entry of each device that is complete.
Ending run_parts(const BenchmarkWork& work, const std::string& log_format, std::vector<BenchmarkEntry>& entries) {
  Ending ending = Ending::whole;
  for (std::size_t d = 0; d < work.devices.size(); ++d) {
    BenchmarkEntry entry = entry_of(work, work.devices[d]);
    for (const BenchmarkPart& part : work.parts[d]) {
      if (is_leader() && log_format == "text") say("{} on {}\n", part.device.name, part.network);
      Comparison done;
      {
        StudyLog log(log_format, part.comparison.source);
        done = run_compare(part.comparison.source, work.files(part), comparison_observer(log));
      }
      if (done.interrupted) return Ending::interrupted;
      if (work.shard.count > 1) {
        ending = Ending::part;
        continue;
      }
      entry.networks.push_back(benchmark_result(part, done));
    }
    if (ending == Ending::part) continue;
    if (is_leader()) {
      write_text(work.folder / (entry.device + ".json"), json_text(json_of(entry), 1) + "\n", Overwrite::replace);
    }
    entries.push_back(std::move(entry));
  }
  return ending;
}

std::vector<BenchmarkEntry> whole_zoo(const BenchmarkOptions& options) {
  std::vector<BenchmarkEntry> zoo = shipped_zoo();
  if (!options.zoo.empty()) join_zoo(zoo, zoo_in(options.zoo));
  return zoo;
}

/// Writes the page and the picture of the ranking beside the run files.
void draw(const BenchmarkWork& work, const report::BenchmarkMap& map) {
  std::vector<std::filesystem::path> files;
  for (const auto& of_device : work.parts) {
    for (const BenchmarkPart& part : of_device) files.push_back(work.file(part));
  }
  const report::Section lead = report::benchmark_section(map);
  write_text(work.folder / "benchmark.html", report::report_html(files, &lead), Overwrite::replace);
  write_text(work.folder / "benchmark.svg", report::benchmark_svg(map), Overwrite::replace);
}

ExitCode print_ranking(const BenchmarkOptions& options) {
  if (!options.devices.empty())
    throw UserError("benchmark: --ranking prints the ranking of the zoo and runs nothing. Leave the devices away");
  const std::vector<BenchmarkEntry> zoo = whole_zoo(options);
  const BenchmarkAnswer result{{}, ranked_entries(zoo, protocol_of(options).digest()), ""};
  answer("{}", options.json ? json_text(answer_json(result), 2) + "\n" : answer_text(result));
  return ExitCode::ok;
}

std::string again(const BenchmarkOptions& options, const BenchmarkWork& work) {
  std::string line = "nudge benchmark";
  for (const std::string& one : options.devices) line += " " + one;
  if (options.brief) line += " --short";
  for (const std::string& one : options.networks) line += " --network " + one;
  for (const std::string& one : options.rules) line += " --rule " + one;
  for (const std::string& one : options.settings) line += fmt::format(" --set '{}'", one);
  return line + " --resume " + work.folder.string();
}

ExitCode finish(const BenchmarkOptions& options, const BenchmarkWork& work, const std::vector<BenchmarkEntry>& own) {
  std::vector<BenchmarkEntry> zoo = whole_zoo(options);
  join_zoo(zoo, own);
  const BenchmarkAnswer result{own, ranked_entries(zoo, work.protocol.digest()), work.folder.string()};
  report::BenchmarkMap map{result.ranked, {}};
  for (const BenchmarkEntry& one : own) map.own.push_back(one.device);
  draw(work, map);
  answer("{}", options.json ? json_text(answer_json(result), 2) + "\n" : answer_text(result));
  const bool any = std::any_of(own.begin(), own.end(), [](const BenchmarkEntry& one) { return one.score().known(); });
  if (any) return ExitCode::ok;
  say("nudge: no device has a score: {}\n", own.front().score().unknown);
  return ExitCode::numerical_failure;
}

ExitCode run_benchmark(const BenchmarkOptions& options) {
  join_ranks();
  if (options.ranking) return print_ranking(options);
  const BenchmarkWork work = work_of(options);
  static_cast<void>(whole_zoo(options));  // a wrong --zoo is told before the runs
  if (options.dry_run) {
    if (rank_count() > 1) throw UserError("--dry-run measures in one process. Start it without mpirun");
    static_cast<void>(told_time(work, [](const std::string& line) { answer("{}", line); }));
    return ExitCode::ok;
  }
  if (is_leader()) std::filesystem::create_directories(work.folder);
  if (rank_count() == 1 && options.log == "text")
    static_cast<void>(told_time(work, [](const std::string& line) { say("{}", line); }));
  std::vector<BenchmarkEntry> own;
  const Ending ending = run_parts(work, options.log, own);
  if (!is_leader()) return ExitCode::ok;
  if (ending == Ending::interrupted) {
    say("interrupted; continue with: {}{}\n", again(options, work),
        work.shard.count > 1 ? " --shard " + work.shard.text() : "");
    return ExitCode::ok;
  }
  if (ending == Ending::part) {
    answer("part {} is done. Join the parts of each file with nudge merge into one folder, and continue with: {}\n",
           work.shard.text(), again(options, work));
    return ExitCode::ok;
  }
  return finish(options, work, own);
}

std::function<ExitCode()> add_benchmark(CLI::App& app) {
  const auto options = std::make_shared<BenchmarkOptions>();
  app.add_option("DEVICE", options->devices,
                 "Presets (nudge devices list), or TOML files with [device]; none: every preset");
  app.add_flag("--short", options->brief,
               "One small network and two rules: minutes for a device. Ranked among short results alone");
  app.add_option("--network", options->networks, "Only this network: hopfield, resistive, transformer (repeatable)")
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--rule", options->rules, "Only this update rule, a value of crossbar.update (repeatable)")
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_set_option(app, options->settings,
                 "Set a key for every device and network. Results are then ranked only among those with the same "
                 "settings; data.folder, threads and sweep.parallel do not count");
  app.add_option("--out", options->out, "New run files, results, page and picture go to this folder (benchmark)")
      ->type_name("FOLDER");
  app.add_option("--resume", options->resume, "Continue in this folder: keep the runs that ended well")
      ->type_name("FOLDER");
  app.add_option("--shard", options->shard,
                 "i/n: run the i-th of n parts of the runs, for job arrays. Join the files with nudge merge");
  app.add_option("--zoo", options->zoo, "Rank among the results (.json) of this folder too")->type_name("FOLDER");
  app.add_flag("--ranking", options->ranking, "Print the ranking of the known devices and run nothing");
  app.add_flag("--dry-run", options->dry_run, "Print how long the runs take, from short runs, and run nothing else");
  add_log_format(app, options->log);
  app.add_flag("--json", options->json, "Print score, interval and rank as JSON");
  return [options] { return run_benchmark(*options); };
}

}  // namespace

Command benchmark_command() {
  return {"benchmark",
          "Score a device by what it learns of what digital weights learn, and rank it among known devices",
          "nudge benchmark ecram --short --out ecram", add_benchmark};
}

}  // namespace nudge
