// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/device_fits.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "apps/streams.hpp"
#include "devices/fit/fit_bake.hpp"
#include "devices/fit/fit_noise.hpp"
#include "devices/fit/fit_relaxation.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/io/atomic_file.hpp"

namespace nudge {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the one file of an option, after a check of the path of the result.
const std::string& only_file(const TableFitOptions& options, const char* flag) {
  if (options.files.size() != 1) throw UserError(fmt::format("devices fit {}: one file is needed", flag));
  if (!options.out.empty()) check_output_path(options.out, Overwrite::must_not_exist);
  return options.files.front();
}

ExitCode answer_fit(const TableFitOptions& options, const std::string& toml, const std::string& text,
                    const Json& rows) {
  if (!options.out.empty()) {
    write_atomically(options.out, std::as_bytes(std::span(toml)), Overwrite::must_not_exist);
  }
  if (options.json) {
    answer("{}\n", json_text(rows, 2));
  } else {
    answer("{}", text);
  }
  return ExitCode::ok;
}

double rate_of(const TableFitOptions& options) {
  if (options.rate.empty()) return 0;
  const Quantity q = read_quantity(options.rate, Unit::hertz);
  if (!q.problem.empty()) throw UserError(fmt::format("devices fit: --rate \"{}\": {}", options.rate, q.problem));
  if (!(q.value > 0)) throw UserError(fmt::format("devices fit: --rate \"{}\" (must be above 0 Hz)", options.rate));
  return q.value;
}

/// Reads --activation in eV.
std::optional<double> activation_of(const TableFitOptions& options) {
  if (options.activation.empty()) return {};
  std::string text = options.activation;
  if (text.ends_with("eV")) text.resize(text.size() - 2);
  const Quantity q = read_quantity(text, Unit::none);
  if (!q.problem.empty() || !(q.value >= 0 && q.value <= 10)) {
    throw UserError(fmt::format("devices fit: --activation \"{}\" (an energy from 0 to 10 eV, like \"1.2 eV\")",
                                options.activation));
  }
  return q.value;
}

}  // namespace

ExitCode fit_relaxation_table(const TableFitOptions& options) {
  const std::string& file = only_file(options, "--relaxation");
  const RelaxationFit fit = fit_relaxation(file);
  Json rows = Json::array();
  for (const RelaxationRow& r : fit.rows) {
    rows.push_back({{"level_S", r.level_S},
                    {"time_s", r.time_s},
                    {"cells", r.cells},
                    {"sd_measured_S", r.sd_measured_S},
                    {"sd_model_S", r.sd_model_S},
                    {"mean_measured_S", r.mean_measured_S},
                    {"mean_model_S", r.mean_model_S},
                    {"beyond_4_sd_measured", r.tail_measured},
                    {"beyond_4_sd_model", r.tail_model}});
  }
  return answer_fit(options, relaxation_toml(fit, file), relaxation_text(fit), rows);
}

ExitCode fit_noise_table(const TableFitOptions& options) {
  const std::string& file = only_file(options, "--noise");
  const NoiseFit fit = fit_noise(file, rate_of(options));
  Json rows = Json::array();
  for (const NoiseRow& r : fit.rows) {
    rows.push_back({{"level_S", r.level_S},
                    {"frequency_Hz", r.frequency_Hz},
                    {"psd_measured", r.psd_measured},
                    {"psd_model", r.psd_model},
                    {"psd_unit", "S^2/Hz"},
                    {"difference_dB", r.off_dB()},
                    {"standard_error_dB", r.error_dB}});
  }
  return answer_fit(options, noise_toml(fit, file), noise_text(fit), rows);
}

ExitCode fit_bake_table(const TableFitOptions& options) {
  if (!options.out.empty()) check_output_path(options.out, Overwrite::must_not_exist);
  const BakeFit fit = fit_bake(options.files, activation_of(options));
  Json rows = Json::array();
  for (const BakeRowFit& r : fit.rows) {
    rows.push_back({{"level_S", r.level_S},
                    {"temperature_K", r.temperature_K},
                    {"time_s", r.time_s},
                    {"cells", r.cells},
                    {"sd_measured_S", r.sd_measured_S},
                    {"sd_model_S", r.sd_model_S},
                    {"mean_measured_S", r.mean_measured_S},
                    {"mean_model_S", r.mean_model_S}});
  }
  return answer_fit(options, bake_toml(fit, fmt::format("{}", fmt::join(options.files, ", "))), bake_text(fit), rows);
}

}  // namespace nudge
