// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/device_fits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <sstream>

#include "apps/commands/fit_answers.hpp"
#include "apps/commands/text_lines.hpp"
#include "apps/commands/wait_line.hpp"
#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "devices/fit/fit_pulses.hpp"
#include "devices/fit/fit_waits.hpp"
#include "devices/fit/fit_watch.hpp"
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

/// Warning where Akaike's criterion chose a model with more numbers than Schwarz's would; empty: both agree.
std::string criteria_disagree(const std::vector<PopulationFit>& fits) {
  const LikelihoodFit& chosen = fits.front().common.likelihood;
  const auto least = std::min_element(fits.begin(), fits.end(), [](const PopulationFit& a, const PopulationFit& b) {
    return a.common.likelihood.schwarz() < b.common.likelihood.schwarz();
  });
  if (least->common.likelihood.numbers >= chosen.numbers) return "";
  return fmt::format(
      "the criteria disagree: {} has {} numbers and the least AIC, {} has {} and a BIC lower by {:.0f}. The larger "
      "model may "
      "fit the scatter of the pulses: compare both (--model {})",
      fits.front().common.spec.model, chosen.numbers, least->common.spec.model, least->common.likelihood.numbers,
      chosen.schwarz() - least->common.likelihood.schwarz(), least->common.spec.model);
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

/// JSON of an estimate; a single device has no deviation.
Json estimate_json(const DeviceEstimate& e) {
  Json out = {{"mean", e.mean}, {"mean_95", ends_json(e.mean_low, e.mean_high)}};
  if (e.n < 2) return out;
  out["deviation"] = e.deviation;
  out["deviation_95"] = ends_json(e.deviation_low, e.deviation_high);
  return out;
}

/// Intervals by the names of their numbers.
Json intervals_json(const std::vector<FittedNumber>& numbers) {
  Json all = Json::object();
  for (const FittedNumber& n : numbers) all[n.name] = ends_json(n.low, n.high);
  return all;
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

Json leak_json(const LeakFit& leak) {
  return {{"reads", leak.reads},
          {"shows", leak.shows},
          {"time_s", leak.shows ? Json(leak.time_s) : Json(nullptr)},
          {"time_95", ends_json(leak.low_s, leak.high_s)},
          {"rest_S", leak.shows ? Json(leak.rest_S) : Json(nullptr)},
          {"rms_S", leak.rms_S},
          {"rms_still_S", leak.rms_still_S}};
}

/// The fits of all models that are tried, the best first. NumericalFailure where the time is over before the fit is there.
std::vector<PopulationFit> fits_in_time(const std::vector<LabRecord>& records, const PulseFitOptions& options,
                                        const TableLook& look) {
  try {
    std::set<std::string> devices;
    for (const LabRecord& record : records) devices.insert(record.device);
    begin_fit_stage(options.model == "auto" ? 1 : static_cast<int>(devices.size()));
    return while_fitting(
        "fitting pulses", [&] { return read_and_tell(look, [&] { return tried_fits(records, options); }); },
        FitWatch::reached);
  } catch (const FitTimeOver&) {
    const std::string reached = FitWatch::reached();
    throw NumericalFailure(
        fmt::format("devices fit: --seconds {:g} ended before the fit{}. Give more time, or a model with fewer numbers "
                    "(--model linear_step)",
                    options.seconds, reached.empty() ? "" : ": it had done " + reached));
  }
}

/// Adds intervals, and returns the reason why there are none: the time was over.
std::string add_intervals_in_time(PopulationFit& fit, const std::vector<LabRecord>& records, double seconds) {
  PopulationFit with = fit;
  try {
    while_fitting(
        "finding intervals", [&] { add_intervals(with, records); }, FitWatch::reached);
  } catch (const FitTimeOver&) {
    const std::string reached = FitWatch::reached();
    const std::string reason = fmt::format("there are no intervals: --seconds {:g} ended while they were looked for{}",
                                           seconds, reached.empty() ? "" : " (" + reached + " had theirs)");
    fit.common.of_devices.push_back(reason);
    return reason;
  }
  fit = std::move(with);
  return "";
}

}  // namespace

ExitCode fit_pulse_files(const PulseFitOptions& options) {
  if (!options.out.empty()) check_output_path(options.out, Overwrite::must_not_exist);
  TableLook look{options.columns};
  const std::vector<LabRecord> records =
      read_and_tell(look, [&] { return read_lab_files(options.files, options.scale, &look); });
  const FitWatch watch(options.seconds > 0 ? options.seconds : std::numeric_limits<double>::infinity());
  std::vector<PopulationFit> tried = fits_in_time(records, options, look);
  PopulationFit& fit = tried.front();
  const std::string names = fmt::format("{}", fmt::join(options.files, ", "));
  if (!fit.common.better_than_mean()) {
    std::string noted;
    for (const Understood& one : look.understood) {
      for (const std::string& note : one.notes) noted += "\n  note: " + note;
    }
    throw NumericalFailure(fmt::format(
        "{} leaves {:.3g} % rms of the range of {}, a horizontal line {:.3g} %: the record is not of such "
        "a device. The direction column must tell the pulse before each value{}",
        fit.common.spec.model, 100 * fit.common.curve_residual, names, 100 * fit.common.mean_residual, noted));
  }
  const std::string stopped = add_intervals_in_time(fit, records, options.seconds);
  const LeakFit leak = tell_leak(fit, records);
  if (const std::string warning = criteria_disagree(tried); !warning.empty()) {
    fit.common.of_devices.push_back(warning);
  }
  const bool one = fit.records == 1;
  const std::string toml =
      understood_text(look) + candidates_text(tried) + (one ? fit_toml(fit.common, names) : fit_toml(fit, names));
  if (!options.out.empty()) {
    write_atomically(options.out, std::as_bytes(std::span(toml)), Overwrite::must_not_exist);
  }
  if (options.json) {
    Json all = fit_json(fit, tried, toml);
    if (leak.reads > 0) all["leak"] = leak_json(leak);
    all["understood"] = understood_json(look);
    all["stopped"] = stopped.empty() ? Json(nullptr) : Json(stopped);
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

}  // namespace nudge
