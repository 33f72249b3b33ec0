// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <span>

#include "apps/commands.hpp"
#include "apps/config_arguments.hpp"
#include "apps/export/csv_export.hpp"
#include "apps/info/card_text.hpp"
#include "apps/info/describe.hpp"
#include "apps/info/run_card.hpp"
#include "apps/info/study_card.hpp"
#include "apps/report/report.hpp"
#include "apps/streams.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/io/atomic_file.hpp"
#include "training/compare/merge.hpp"

namespace nudge {
namespace {

struct InfoOptions {
  std::string file;
  std::vector<std::string> settings;
  bool json = false, card = false;
};

/// Prints the card of a training, or the costs that the points of a study carry.
void print_card(const InfoOptions& options) {
  const report::RunFile run = report::load_run_file(options.file);
  if (run.kind == "sweep" || run.kind == "spec") {
    if (!options.settings.empty()) {
      throw UserError(
          fmt::format("{}: --set: its points were costed when they ran. Change [chip] in the config and run it again",
                      options.file));
    }
    answer("{}", options.json ? json_text(study_card_json(options.file), 2) + "\n" : study_card_text(options.file));
    return;
  }
  const CostCard card = read_run_card(options.file, options.settings);
  answer("{}", options.json ? json_text(card_json(card), 2) + "\n" : card_text(card));
}

std::function<ExitCode()> add_info(CLI::App& app) {
  const auto options = std::make_shared<InfoOptions>();
  app.add_option("FILE", options->file, "HDF5 file of nudge")->required();
  app.add_flag("--json", options->json, "Print JSON");
  app.add_flag(
      "--card", options->card,
      "Cost card of a training run instead: energy, latency, area by part, TOPS/W, endurance. Of a sweep: energy, "
      "latency and area of its points");
  add_set_option(app, options->settings, "With --card: another value of [chip], as in --set chip.node=\"22 nm\"");
  return [options] {
    if (!options->card && !options->settings.empty()) throw UserError("info: --set is for --card");
    if (options->card) {
      print_card(*options);
      return ExitCode::ok;
    }
    answer("{}", describe_run_file(options->file, options->json ? DescribeFormat::json : DescribeFormat::text));
    return ExitCode::ok;
  };
}

struct ReportOptions {
  std::vector<std::filesystem::path> files;
  std::string out;
};

std::function<ExitCode()> add_report(CLI::App& app) {
  const auto options = std::make_shared<ReportOptions>();
  app.add_option("FILE", options->files,
                 "HDF5 files of train, gradcheck, sweep, spec, compare, crossbar and devices characterize")
      ->required();
  app.add_option("-o,--out", options->out, "New HTML page to write")->required();
  return [options] {
    check_output_path(options->out, Overwrite::must_not_exist);
    const std::string page = report::report_html(options->files);
    write_atomically(options->out, std::as_bytes(std::span(page)), Overwrite::must_not_exist);
    answer("{}: report of {} file{}\n", options->out, options->files.size(), options->files.size() == 1 ? "" : "s");
    return ExitCode::ok;
  };
}

}  // namespace

Command info_command() { return {"info", "Show what is in an HDF5 file of nudge", "nudge info run.h5", add_info}; }

Command report_command() {
  return {"report", "Write one self-contained HTML page about runs", "nudge report run.h5 -o report.html", add_report};
}

namespace {

struct ExportOptions {
  std::string file, csv;
  bool json = false;
};

std::function<ExitCode()> add_export(CLI::App& app) {
  const auto options = std::make_shared<ExportOptions>();
  app.add_option("FILE", options->file, "HDF5 file of nudge")->required();
  app.add_option("--csv", options->csv, "Directory for the CSV files; none is overwritten")->required();
  app.add_flag("--json", options->json, "Print the paths as JSON");
  return [options] {
    nlohmann::json paths = nlohmann::json::array();
    for (const auto& path : export_csv(options->file, options->csv)) {
      paths.push_back(path.string());
      if (!options->json) answer("{}\n", path.string());
    }
    if (options->json) answer("{}\n", json_text(nlohmann::json({{"files", paths}}), 2));
    return ExitCode::ok;
  };
}

}  // namespace

Command export_command() {
  return {"export", "Write everything of an HDF5 file as CSV", "nudge export run.h5 --csv run_csv", add_export};
}

namespace {

struct MergeOptions {
  std::vector<std::string> inputs;
  std::string out;
  bool partial = false, json = false;
};

ExitCode run_merge(const MergeOptions& options) {
  const std::vector<std::filesystem::path> inputs(options.inputs.begin(), options.inputs.end());
  const MergeSummary merged =
      merge_sweeps(inputs, options.out, options.partial ? MissingPoints::accept : MissingPoints::refuse);
  if (options.json) {
    const nlohmann::json out{{"file", options.out},
                             {"points", merged.points},
                             {"finished", merged.finished},
                             {"failed", merged.failed},
                             {"outside", merged.outside}};
    answer("{}\n", json_text(out, 2));
  } else {
    const std::string outside =
        merged.outside == 0
            ? ""
            : fmt::format("; {} finished runs outside the present grid are kept in the file", merged.outside);
    answer("{} of {} points, {} did not end well{}\n{}\n", merged.finished, merged.points, merged.failed, outside,
           options.out);
  }
  return ExitCode::ok;
}

std::function<ExitCode()> add_merge(CLI::App& app) {
  const auto options = std::make_shared<MergeOptions>();
  app.add_option("FILES", options->inputs,
                 "Files of one sweep or comparison: from --shard, interrupted runs or an earlier merge")
      ->required();
  app.add_option("--out", options->out, "New HDF5 file to write")->required();
  app.add_flag("--partial", options->partial, "Merge although points are missing; run them later with --resume");
  app.add_flag("--json", options->json, "Print the counts as JSON");
  return [options] { return run_merge(*options); };
}

}  // namespace

Command merge_command() {
  return {"merge", "Join the files of the parts of a sweep or a comparison into one",
          "nudge merge part1.h5 part2.h5 --out sweep.h5", add_merge};
}

}  // namespace nudge
