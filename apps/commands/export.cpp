// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/export/csv_export.hpp"
#include "apps/streams.hpp"
#include "sim/base/text.hpp"

namespace nudge {
namespace {

struct ExportOptions {
  std::string file, csv;
  bool json = false;
};

std::function<ExitCode()> add_export(CLI::App& app) {
  const auto options = std::make_shared<ExportOptions>();
  app.add_option("FILE", options->file, "HDF5 file of nudge")->required();
  app.add_option("--csv", options->csv, "Directory for the CSV files, none of which may exist")->required();
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

}  // namespace nudge
