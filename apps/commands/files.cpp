// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/info/cost_card.hpp"
#include "apps/info/describe.hpp"
#include "apps/report/report.hpp"
#include "apps/streams.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/io/atomic_file.hpp"

namespace nudge {
namespace {

struct InfoOptions {
  std::string file;
  std::vector<std::string> settings;
  bool json = false, card = false;
};

void print_card(const InfoOptions& options) {
  const CostCard card = read_cost_card(options.file, options.settings);
  answer("{}", options.json ? json_text(card_json(card), 2) + "\n" : card_text(card));
}

std::function<ExitCode()> add_info(CLI::App& app) {
  const auto options = std::make_shared<InfoOptions>();
  app.add_option("FILE", options->file, "HDF5 file of nudge")->required();
  app.add_flag("--json", options->json, "Print JSON");
  app.add_flag("--card", options->card,
               "Cost of the circuit of a training run instead: energy, latency and area by part, TOPS/W, endurance");
  app.add_option("--set", options->settings, "With --card: other sizes, --set cost.node=\"22 nm\" (keys of [cost])")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
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
                 "HDF5 files of train, gradcheck, sweep, compare, crossbar and devices characterize")
      ->required();
  app.add_option("-o,--out", options->out, "HTML page to write, which must not exist")->required();
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

}  // namespace nudge
