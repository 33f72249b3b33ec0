// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/streams.hpp"
#include "sim/base/text.hpp"
#include "training/compare/merge.hpp"

namespace nudge {
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
        merged.outside == 0 ? "" : fmt::format("; {} finished runs outside the present grid are kept", merged.outside);
    answer("{} of {} points, {} did not end well{}\n{}\n", merged.finished, merged.points, merged.failed, outside,
           options.out);
  }
  return ExitCode::ok;
}

std::function<ExitCode()> add_merge(CLI::App& app) {
  const auto options = std::make_shared<MergeOptions>();
  app.add_option("FILES", options->inputs,
                 "Files of parts of one sweep or comparison: of --shard, of interrupted runs, merged ones")
      ->required();
  app.add_option("--out", options->out, "HDF5 file to write, which must not exist")->required();
  app.add_flag("--partial", options->partial, "Merge although points are missing; --resume runs them");
  app.add_flag("--json", options->json, "Print the counts as JSON");
  return [options] { return run_merge(*options); };
}

}  // namespace

Command merge_command() {
  return {"merge", "Join the files of the parts of a sweep or a comparison into one",
          "nudge merge part1.h5 part2.h5 --out sweep.h5", add_merge};
}

}  // namespace nudge
