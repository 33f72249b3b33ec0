// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <span>

#include "apps/info/describe.hpp"
#include "apps/report/report.hpp"
#include "apps/streams.hpp"
#include "sim/io/atomic_file.hpp"

namespace nudge {
namespace {

struct InfoOptions {
  std::string file;
  bool json = false;
};

std::function<ExitCode()> add_info(CLI::App& app) {
  const auto options = std::make_shared<InfoOptions>();
  app.add_option("FILE", options->file, "HDF5 file of nudge")->required();
  app.add_flag("--json", options->json, "Print JSON");
  return [options] {
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
