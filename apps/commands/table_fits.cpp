// SPDX-License-Identifier: Apache-2.0
// Fits of long tables: relaxation, noise, bakes, sweeps and endurance.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>
#include <span>

#include "apps/commands/device_fits.hpp"
#include "apps/commands/fit_answers.hpp"
#include "apps/commands/wait_line.hpp"
#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "devices/fit/fit_bake.hpp"
#include "devices/fit/fit_disturb.hpp"
#include "devices/fit/fit_endurance.hpp"
#include "devices/fit/fit_iv.hpp"
#include "devices/fit/fit_noise.hpp"
#include "devices/fit/fit_relaxation.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/io/atomic_file.hpp"

namespace nudge {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json ends_json(const std::optional<double>& low, const std::optional<double>& high) {
  const auto end = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  return {end(low), end(high)};
}

Json numbers_json(const std::vector<FittedNumber>& numbers) {
  Json all = Json::array();
  for (const FittedNumber& n : numbers) {
    all.push_back({{"name", n.name}, {"unit", n.unit}, {"value", n.value}, {"interval_95", ends_json(n.low, n.high)}});
  }
  return all;
}

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
                   {"left_lines", u.left_lines},
                   {"missing_lines", u.missing_lines},
                   {"notes", u.notes}});
  }
  return all;
}

std::string understood_text(const TableLook& look) {
  std::string out;
  for (const Understood& one : look.understood) out += one.text("# ");
  return out;
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
          {"off",
           {{"sd", off.sd},
            {"quantiles", off.judges_quantiles() ? Json(off.quantile) : Json(nullptr)},
            {"correlations", off.correlation}}},
          {"describes", off.describes()}};
}

}  // namespace

ExitCode fit_relaxation_table(const TableFitOptions& options) {
  const std::string& file = only_file(options, "--relaxation");
  TableLook look{options.columns, {}, options.read_voltage_V};
  const RelaxationFit fit = while_fitting(
      "fitting relaxation", [&] { return read_and_tell(look, [&] { return fit_relaxation(file, &look); }); });
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
  TableLook look{options.columns, {}, options.read_voltage_V};
  const NoiseFit fit = while_fitting(
      "fitting spectra", [&] { return read_and_tell(look, [&] { return fit_noise(file, rate_of(options), &look); }); });
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
  TableLook look{options.columns, {}, options.read_voltage_V};
  const BakeFit fit = while_fitting("fitting bakes", [&] {
    return read_and_tell(look, [&] { return fit_bake(options.files, activation_of(options), &look); });
  });
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

namespace {

/// Ends of an interval that are known.
Json interval_json(double low, double high) {
  const auto end = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
  return {end(low), end(high)};
}

Json iv_number_json(const IvNumber& n) {
  if (!n.known()) return nullptr;
  return {{"value", n.value}, {"interval_95", interval_json(n.low, n.high)}, {"lobes", n.n}};
}

Json iv_numbers_json(const std::vector<IvNumber>& numbers) {
  Json all = Json::array();
  for (const IvNumber& n : numbers) all.push_back(iv_number_json(n));
  return all;
}

/// JSON of a fit whose numbers stand beside what was understood.
ExitCode answer_numbers(const TableFitOptions& options, const TableLook& look, const std::string& toml,
                        const std::string& text, Json all) {
  const std::string whole = understood_text(look) + toml;
  if (!options.out.empty()) {
    write_atomically(options.out, std::as_bytes(std::span(whole)), Overwrite::must_not_exist);
  }
  if (options.json) {
    all["toml"] = whole;
    all["understood"] = understood_json(look);
    answer("{}\n", json_text(all, 2));
  } else {
    answer("{}", options.out.empty() ? whole : understood_text(look) + text);
  }
  return ExitCode::ok;
}

}  // namespace

ExitCode fit_iv_table(const TableFitOptions& options) {
  const std::string& file = only_file(options, "--iv");
  TableLook look{options.columns, {}, options.read_voltage_V};
  const IvData data =
      read_and_tell(look, [&] { return parse_iv(read_table_text(file), file, rate_of(options), look); });
  const IvFit fit = while_fitting("fitting laws to sweeps",
                                  [&] { return read_and_tell(look, [&] { return fit_iv(data, options.model); }); });
  const IvReads& r = fit.reads;
  Json all = {{"set_V", iv_number_json(r.set_V)},
              {"reset_V", iv_number_json(r.reset_V)},
              {"on_S", iv_number_json(r.on_S)},
              {"off_S", iv_number_json(r.off_S)},
              {"on_off", iv_number_json(r.ratio)},
              {"off_below_S", r.off_below_S > 0 ? Json(r.off_below_S) : Json(nullptr)},
              {"on_off_above", r.off_below_S > 0 ? Json(r.ratio_above()) : Json(nullptr)},
              {"returned_lobes", r.returned},
              {"other_set_V", iv_number_json(r.other_set_V)},
              {"other_reset_V", iv_number_json(r.other_reset_V)},
              {"threshold_V", iv_numbers_json(r.threshold_V)},
              {"hold_V", iv_numbers_json(r.hold_V)},
              {"curvature_per_V2", iv_number_json(r.curvature_per_V2)},
              {"iv_sinh_V", r.sinh_V() > 0 ? Json(r.sinh_V()) : Json(nullptr)}};
  Json laws = Json::array();
  for (const IvLaw& law : fit.laws) {
    laws.push_back({{"model", law.spec.model},
                    {"rms_ln_current", law.rms},
                    {"pulses", law.spec.pulses},
                    {"aic", law.akaike},
                    {"numbers", numbers_json(law.numbers)}});
  }
  all["laws"] = laws;
  all["no_law"] = fit.why_no_law.empty() ? Json(nullptr) : Json(fit.why_no_law);
  all["warnings"] = fit.warnings;
  return answer_numbers(options, look, iv_toml(fit, file), iv_text(fit), std::move(all));
}

ExitCode fit_endurance_table(const TableFitOptions& options) {
  const std::string& file = only_file(options, "--endurance");
  TableLook look{options.columns, {}, options.read_voltage_V};
  bool counts_pulses = false;
  const std::vector<CycledDevice> devices =
      read_and_tell(look, [&] { return parse_endurance(read_table_text(file), file, look, counts_pulses); });
  const EnduranceFit fit = fit_endurance(devices, counts_pulses);
  const auto number = [](const EnduranceNumber& n, double factor) -> Json {
    if (!n.known()) return nullptr;
    return {{"value", factor * n.value}, {"interval_95", interval_json(factor * n.low, factor * n.high)}};
  };
  Json all = {{"devices", fit.lives.size()},
              {"failed", fit.failed},
              {"pulses_per_cycle", fit.pulses_per_cycle},
              {"all_lasted_pulses", fit.pulses_per_cycle * fit.longest},
              {"on_off_first", fit.first_ratio},
              {"on_off_last", fit.last_ratio},
              {"on_drift_per_decade", number(fit.on_drift, 1)},
              {"off_drift_per_decade", number(fit.off_drift, 1)},
              {"endurance", number(fit.mean_cycles, fit.pulses_per_cycle)},
              {"endurance_spread", number(fit.spread, 1)}};
  return answer_numbers(options, look, endurance_toml(fit, file), endurance_text(fit), std::move(all));
}

ExitCode fit_disturb_table(const TableFitOptions& options) {
  const std::string& file = only_file(options, "--disturb");
  double read_time_s = 0;
  if (!options.read_time.empty()) {
    read_time_s = quantity_option("devices fit: --read-time", options.read_time, Unit::second);
    if (!(read_time_s > 0)) {
      throw UserError(fmt::format("devices fit: --read-time \"{}\" (must be above 0 s)", options.read_time));
    }
  }
  TableLook look{options.columns, {}, options.read_voltage_V};
  const std::vector<ReadCell> cells =
      read_and_tell(look, [&] { return parse_reads(read_table_text(file), file, read_time_s, look); });
  const DisturbFit fit = fit_disturb(cells);
  const auto number = [&](const DisturbNumber& n) -> Json {
    if (!fit.shows) return nullptr;
    return {{"value", n.value}, {"interval_95", interval_json(n.low, n.high)}};
  };
  Json all = {{"cells", fit.cells},
              {"reads", fit.reads},
              {"shows", fit.shows},
              {"read_disturb_time_s", number(fit.time_s)},
              {"rms_S", fit.rms_S},
              {"target_S", number(fit.target_S)},
              {"rms_still_S", fit.rms_still_S},
              {"autocorrelation", fit.correlation}};
  return answer_numbers(options, look, disturb_toml(fit, file, options.g_min_S, options.g_max_S), disturb_text(fit),
                        std::move(all));
}

}  // namespace nudge
