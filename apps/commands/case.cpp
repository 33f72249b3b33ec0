// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/streams.hpp"
#include "reference/case_kind.hpp"

namespace nudge {
namespace {

struct CaseOptions {
  std::string file, out;
};

std::function<ExitCode()> add_case(CLI::App& app) {
  const auto options = std::make_shared<CaseOptions>();
  app.add_option("FILE", options->file, "Reference case (HDF5)")->required();
  app.add_option("--out", options->out, "New HDF5 file for every computed dataset");
  return [options] {
    const std::optional<std::filesystem::path> out =
        options->out.empty() ? std::nullopt : std::optional<std::filesystem::path>(options->out);
    const CaseOutcome outcome = run_case(options->file, out);
    answer("{}", outcome.report);
    return outcome.failed > 0 ? ExitCode::numerical_failure : ExitCode::ok;
  };
}

}  // namespace

Command case_command() {
  return {"case", "Compute a reference case and compare it with the values in the file",
          "nudge case eqblock_h1.h5 --out computed.h5", add_case};
}

}  // namespace nudge
