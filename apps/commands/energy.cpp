// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/text_lines.hpp"
#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/text.hpp"
#include "sim/io/run_record.hpp"
#include "training/check/mixer_energy.hpp"
#include "training/config/run_options.hpp"

namespace nudge {
namespace {

struct EnergyOptions {
  ConfigArguments arguments;
  std::string out;
  bool json = false;
};

std::string table_of(const MixerEnergy& trace) {
  std::vector<std::vector<std::string>> cells = {{"iteration", "mean F*", "change", "largest rise", "tokens risen"}};
  for (std::size_t n = 0; n < trace.mean.size() && (n == 0 || std::isfinite(trace.mean[n - 1])); ++n) {
    cells.push_back({std::to_string(n), fmt::format("{:.6g}", trace.mean[n]),
                     n == 0 ? "-" : fmt::format("{:+.3e}", trace.mean[n] - trace.mean[n - 1]),
                     n == 0 ? "-" : fmt::format("{:+.3e}", trace.largest_rise[n]),
                     n == 0 ? "-" : fmt::format("{:.3g} %", 100 * trace.share_risen[n])});
  }
  return fmt::format("{}: free energy per token, {} sequences of {} tokens\n{}", trace.mixer, trace.sequences,
                     trace.tokens, text_table(cells, 0));
}

nlohmann::json json_of(const MixerEnergy& trace) {
  return {{"mixer", trace.mixer},
          {"mean", trace.mean},
          {"largest_rise", trace.largest_rise},
          {"share_risen", trace.share_risen}};
}

ExitCode run_energy(const EnergyOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Config config = load_config(options.arguments);
  RunRecord record = record_of("energy", config);
  if (!options.out.empty()) check_output_path(options.out, Overwrite::must_not_exist);
  const MixerEnergy trace = mixer_energy(config);
  if (!options.out.empty()) {
    H5Document file;
    write(file, trace);
    record.wall_time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    add_run_record(file, record);
    file.write(options.out, Overwrite::must_not_exist);
  }
  answer("{}", options.json ? json_text(json_of(trace), 2) + "\n" : table_of(trace));
  if (!options.out.empty() && !options.json) answer("{}\n", options.out);
  if (trace.finite()) return ExitCode::ok;
  say("nudge: the energy is not finite: the iteration diverges. Lower mixer.eta or the initial scale\n");
  return ExitCode::numerical_failure;
}

std::function<ExitCode()> add_energy(CLI::App& app) {
  const auto options = std::make_shared<EnergyOptions>();
  add_config_arguments(app, options->arguments);
  app.add_option("--out", options->out, "New HDF5 file to write");
  app.add_flag("--json", options->json, "Print JSON");
  return [options] { return run_energy(*options); };
}

}  // namespace

Command energy_command() {
  return {"energy", "Log the free energy of an attention mixer per iteration",
          "nudge energy examples/attention_energy.toml --out energy.h5", add_energy};
}

}  // namespace nudge
