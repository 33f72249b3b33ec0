// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/device_fits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <sstream>

#include "apps/commands/text_lines.hpp"
#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "devices/fit/fit_bake.hpp"
#include "devices/fit/fit_noise.hpp"
#include "devices/fit/fit_pulses.hpp"
#include "devices/fit/fit_relaxation.hpp"
#include "devices/fit/pulse_law.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/io/atomic_file.hpp"

namespace nudge {
namespace {

using Json = nlohmann::ordered_json;

/// Fits all models that can describe the pulses; the one with the least Akaike criterion comes first.
std::vector<PopulationFit> tried_fits(const std::vector<LabRecord>& records, const PulseFitOptions& options) {
  if (options.model != "auto") return {fit_population(records, options.model, options.points)};
  const bool volts =
      std::none_of(records.begin(), records.end(), [](const LabRecord& r) { return r.pulses.volts.empty(); });
  std::vector<std::string> models;
  for (const std::string& model : fitted_models()) {
    if (volts || !has_volts(model)) models.push_back(model);
  }
  std::vector<std::optional<PopulationFit>> all(models.size());
  std::vector<std::string> problems(models.size());
  parallel_for(static_cast<Index>(models.size()), 0, [&](Index m, int) {
    const auto k = static_cast<std::size_t>(m);
    try {
      all[k] = fit_population(records, models[k], options.points);
    } catch (const UserError& error) {
      problems[k] = error.what();
    }
  });
  std::vector<PopulationFit> fits;
  for (auto& fit : all) {
    if (fit) fits.push_back(std::move(*fit));
  }
  if (fits.empty()) throw UserError(problems.front());
  std::stable_sort(fits.begin(), fits.end(), [](const PopulationFit& a, const PopulationFit& b) {
    return a.common.likelihood.akaike() < b.common.likelihood.akaike();
  });
  return fits;
}

std::string candidates_text(const std::vector<PopulationFit>& fits) {
  if (fits.size() < 2) return "";
  std::vector<std::vector<std::string>> cells = {{"model", "rms, % of the range", "numbers", "AIC", "BIC"}};
  const double least = fits.front().common.likelihood.akaike();
  double least_bic = fits.front().common.likelihood.schwarz();
  for (const PopulationFit& fit : fits) least_bic = std::min(least_bic, fit.common.likelihood.schwarz());
  for (const PopulationFit& fit : fits) {
    const LikelihoodFit& l = fit.common.likelihood;
    cells.push_back({fit.common.spec.model, fmt::format("{:.2f}", 100 * fit.common.curve_residual),
                     fmt::format("{}", l.numbers), fmt::format("+{:.1f}", l.akaike() - least),
                     fmt::format("+{:.1f}", l.schwarz() - least_bic)});
  }
  std::istringstream rows(text_table(cells, 0));
  std::string out;
  for (std::string row; std::getline(rows, row);) out += "# " + row + "\n";
  return out + fmt::format("# runner-up: {}\n", fits[1].common.spec.model);
}

Json candidates_json(const std::vector<PopulationFit>& fits) {
  Json all = Json::array();
  for (const PopulationFit& fit : fits) {
    const LikelihoodFit& l = fit.common.likelihood;
    all.push_back({{"model", fit.common.spec.model},
                   {"rms_over_window", fit.common.curve_residual},
                   {"numbers", l.numbers},
                   {"aic", l.akaike()},
                   {"bic", l.schwarz()}});
  }
  return all;
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json ends_json(const std::optional<double>& low, const std::optional<double>& high) {
  return {number_or_null(low), number_or_null(high)};
}

Json numbers_json(const std::vector<FittedNumber>& numbers) {
  Json all = Json::array();
  for (const FittedNumber& n : numbers) {
    all.push_back({{"name", n.name}, {"unit", n.unit}, {"value", n.value}, {"interval_95", ends_json(n.low, n.high)}});
  }
  return all;
}

/// JSON of an estimate; a single device has no deviation.
Json estimate_json(const DeviceEstimate& e) {
  Json out = {{"mean", e.mean}, {"mean_95", ends_json(e.mean_low, e.mean_high)}};
  if (e.n < 2) return out;
  out["deviation"] = e.deviation;
  out["deviation_95"] = ends_json(e.deviation_low, e.deviation_high);
  return out;
}

/// What was read in the files of a fit.
Json understood_json(const TableLook& look) {
  Json all = Json::array();
  for (const Understood& u : look.understood) {
    Json columns = Json::array();
    for (const auto& c : u.columns) columns.push_back({{"meaning", c.meaning}, {"name", c.name}, {"unit", c.unit}});
    all.push_back({{"file", u.file},
                   {"encoding", u.encoding},
                   {"separator", u.separator},
                   {"decimal_comma", u.decimal_comma},
                   {"header_line", u.header_line},
                   {"unit_line", u.unit_line},
                   {"rows", u.rows},
                   {"columns", columns},
                   {"left_columns", u.left_columns},
                   {"left_lines", u.left_lines}});
  }
  return all;
}

/// Intervals by the names of their numbers.
Json intervals_json(const std::vector<FittedNumber>& numbers) {
  Json all = Json::object();
  for (const FittedNumber& n : numbers) all[n.name] = ends_json(n.low, n.high);
  return all;
}

std::string understood_text(const TableLook& look) {
  std::string out;
  for (const Understood& one : look.understood) out += one.text("# ");
  return out;
}

Json each_json(const PopulationFit& fit) {
  Json all = Json::array();
  for (const DeviceFit& one : fit.each) {
    const DeviceSpec& spec = one.fit.spec;
    Json row = {{"device", one.name},
                {"rms_over_window", one.fit.curve_residual},
                {"g_min_S", spec.g_min_S},
                {"g_max_S", spec.g_max_S},
                {"pulses", spec.pulses},
                {"asymmetry", spec.asymmetry},
                {"update_noise", spec.update_noise},
                {"read_noise_S", one.fit.likelihood.noise.read_S}};
    for (const auto& [name, value] : spec.shape) row[name] = value;
    row["numbers"] = numbers_json(one.fit.intervals);
    row["intervals"] = intervals_json(one.fit.intervals);
    row["warnings"] = one.fit.warnings();
    all.push_back(std::move(row));
  }
  return all;
}

Json fit_json(const PopulationFit& fit, const std::vector<PopulationFit>& tried, const std::string& toml) {
  const PulseFit& common = fit.common;
  Json out = {{"model", common.spec.model},
              {"rms_over_window", common.curve_residual},
              {"mean_rms_over_window", common.mean_residual},
              {"noise_floor", common.read_noise},
              {"autocorrelation", common.autocorrelation},
              {"innovation_autocorrelation", common.likelihood.innovation_correlation},
              {"aic", common.likelihood.akaike()},
              {"bic", common.likelihood.schwarz()}};
  if (tried.size() > 1) out["runner_up"] = tried[1].common.spec.model;
  out["candidates"] = candidates_json(tried);
  out["numbers"] = numbers_json(common.intervals);
  out["warnings"] = common.warnings();
  out["step_residual_pulses"] = common.step_residual;
  out["curve_residual"] = common.curve_residual;
  out["devices"] = fit.devices;
  out["records"] = fit.records;
  out["g_min_S"] = estimate_json(fit.g_min_S);
  out["g_max_S"] = estimate_json(fit.g_max_S);
  out["pulse_S"] = estimate_json(fit.step_S);
  out["asymmetry"] = estimate_json(fit.asymmetry);
  out["joint_covariance"] = common.spec.joint_covariance;
  out["each"] = each_json(fit);
  out["repeat"] = std::isfinite(fit.repeat) ? Json(fit.repeat) : Json(nullptr);
  out["toml"] = toml;
  return out;
}

}  // namespace

ExitCode fit_pulse_files(const PulseFitOptions& options) {
  if (!options.out.empty()) check_output_path(options.out, Overwrite::must_not_exist);
  TableLook look{options.columns};
  const std::vector<LabRecord> records = read_lab_files(options.files, options.scale, &look);
  std::vector<PopulationFit> tried = tried_fits(records, options);
  PopulationFit& fit = tried.front();
  const std::string names = fmt::format("{}", fmt::join(options.files, ", "));
  if (!fit.common.better_than_mean()) {
    throw NumericalFailure(
        fmt::format("{} leaves {:.3g} % rms of the range of {}, a horizontal line {:.3g} %: the record is not of such "
                    "a device (is the direction column that of the pulse before each value?)",
                    fit.common.spec.model, 100 * fit.common.curve_residual, names, 100 * fit.common.mean_residual));
  }
  add_intervals(fit, records);
  const bool one = fit.records == 1;
  const std::string toml =
      understood_text(look) + candidates_text(tried) + (one ? fit_toml(fit.common, names) : fit_toml(fit, names));
  if (!options.out.empty()) {
    write_atomically(options.out, std::as_bytes(std::span(toml)), Overwrite::must_not_exist);
  }
  if (options.json) {
    Json all = fit_json(fit, tried, toml);
    all["understood"] = understood_json(look);
    answer("{}\n", json_text(all, 2));
    return ExitCode::ok;
  }
  if (options.out.empty()) {
    answer("{}", toml);
    return ExitCode::ok;
  }
  answer("{}: {}, curve residual {:.4g} % of the range, a horizontal line {:.4g} %, noise of reads {:.4g} %\n",
         options.out, fit.common.spec.model, 100 * fit.common.curve_residual, 100 * fit.common.mean_residual,
         100 * fit.common.read_noise);
  for (const std::string& warning : fit.common.warnings()) answer("warning: {}\n", warning);
  if (!one) answer("{}", population_text(fit));
  return ExitCode::ok;
}

namespace {

/// Returns the one file of an option, after a check of the path of the result.
const std::string& only_file(const TableFitOptions& options, const char* flag) {
  if (options.files.size() != 1) throw UserError(fmt::format("devices fit {}: one file is needed", flag));
  if (!options.out.empty()) check_output_path(options.out, Overwrite::must_not_exist);
  return options.files.front();
}

ExitCode answer_fit(const TableFitOptions& options, const TableLook& look, const std::string& toml,
                    const std::string& text, const Json& rows, const Json& more = Json::object()) {
  if (!options.out.empty()) {
    const std::string all = understood_text(look) + toml;
    write_atomically(options.out, std::as_bytes(std::span(all)), Overwrite::must_not_exist);
  }
  if (options.json) {
    Json all = {{"understood", understood_json(look)}, {"rows", rows}};
    all.update(more);
    answer("{}\n", json_text(all, 2));
  } else {
    answer("{}{}", understood_text(look), text);
  }
  return ExitCode::ok;
}

double rate_of(const TableFitOptions& options) {
  if (options.rate.empty()) return 0;
  const double rate = quantity_option("devices fit: --rate", options.rate, Unit::hertz);
  if (!(rate > 0)) throw UserError(fmt::format("devices fit: --rate \"{}\" (must be above 0 Hz)", options.rate));
  return rate;
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

namespace {

/// Quantiles and correlations of a fit of relaxation beside the measured ones, failed levels, and the verdict.
Json comparison_json(const RelaxationFit& fit) {
  Json quantiles = Json::array(), correlations = Json::array(), failed = Json::array();
  for (const RelaxationRow& r : fit.rows) {
    quantiles.push_back({{"level_S", r.level_S},
                         {"time_s", r.time_s},
                         {"share", {0.01, 0.99}},
                         {"measured_S", {r.low_measured_S, r.high_measured_S}},
                         {"model_S", {r.low_model_S, r.high_model_S}}});
  }
  for (const RelaxationPair& p : fit.pairs) {
    correlations.push_back({{"level_S", p.level_S},
                            {"times_s", {p.early_s, p.late_s}},
                            {"cells", p.cells},
                            {"measured", p.measured},
                            {"model", p.model}});
  }
  for (const FailedLevel& level : fit.failed) {
    failed.push_back({{"level_S", level.level_S}, {"cells", level.cells}, {"sd_measured_S", level.sd_S}});
  }
  const RelaxationErrors off = fit.errors();
  return {{"quantiles", quantiles},
          {"correlations", correlations},
          {"failed_levels", failed},
          {"off", {{"sd", off.sd}, {"quantiles", off.quantile}, {"correlations", off.correlation}}},
          {"describes", off.describes()}};
}

}  // namespace

ExitCode fit_relaxation_table(const TableFitOptions& options) {
  const std::string& file = only_file(options, "--relaxation");
  TableLook look{options.columns};
  const RelaxationFit fit = fit_relaxation(file, &look);
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
  return answer_fit(options, look, relaxation_toml(fit, file), relaxation_text(fit), rows, comparison_json(fit));
}

ExitCode fit_noise_table(const TableFitOptions& options) {
  const std::string& file = only_file(options, "--noise");
  TableLook look{options.columns};
  const NoiseFit fit = fit_noise(file, rate_of(options), &look);
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
  return answer_fit(options, look, noise_toml(fit, file), noise_text(fit), rows);
}

ExitCode fit_bake_table(const TableFitOptions& options) {
  if (!options.out.empty()) check_output_path(options.out, Overwrite::must_not_exist);
  TableLook look{options.columns};
  const BakeFit fit = fit_bake(options.files, activation_of(options), &look);
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
  return answer_fit(options, look, bake_toml(fit, fmt::format("{}", fmt::join(options.files, ", "))), bake_text(fit),
                    rows);
}

}  // namespace nudge
