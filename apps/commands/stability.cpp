// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/commands.hpp"
#include "apps/commands/text_lines.hpp"
#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "devices/device_config.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/equilibrium_json.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/check/stability.hpp"
#include "training/config/config_table.hpp"
#include "training/config/stored_config.hpp"

namespace nudge {
namespace {

constexpr int kMostChips = 100000;
constexpr int kMostPoints = 100000;

struct StabilityArguments {
  ConfigArguments arguments;
  int chips = 20;
  std::string follow;  ///< KEY=TO; empty: follow nothing
  int points = 400;
  bool json = false;
};

/// Loads the config of a run with its trained weights, and the damping that the run had reached; or a config as it is.
Config config_of(const StabilityArguments& options) {
  if (!options.arguments.file.ends_with(".h5")) return load_config(options.arguments);
  const H5Reader file(options.arguments.file);
  if (const std::string kind = file.text_attribute("kind"); kind != "train") {
    file.fail("attribute kind", fmt::format("kind \"{}\" has no network. Give a file of nudge train", kind));
  }
  const Config stored = stored_program_config(file);
  std::vector<std::string> settings = options.arguments.settings;
  for (std::string& one : trained_settings(stored, options.arguments.file)) settings.push_back(std::move(one));
  return config_on_top(stored, options.arguments.file, settings);
}

FollowedKey follow(const StabilityArguments& options, const Config& config) {
  const std::size_t equals = options.follow.find('=');
  if (equals == std::string::npos) {
    throw UserError(fmt::format("--follow {} (must be KEY=TO, as in model.damping=0.1)", options.follow));
  }
  const std::string key = options.follow.substr(0, equals);
  Config there = config;
  there.set_from_text(key, options.follow.substr(equals + 1), "--follow");
  if (const auto broken = broken_rules(program_schema(), there); !broken.empty()) {
    throw UserError(fmt::format("{}", fmt::join(broken, "\n")));
  }
  ProgressLine progress;
  return follow_key(config, there, key, options.points, [&progress](const std::string& what) { progress.show(what); });
}

nlohmann::json continuation_json(const FollowedKey& followed) {
  nlohmann::json points = nlohmann::json::array();
  for (const BranchPoint& point : followed.branch.points) {
    points.push_back({{"parameter", point.parameter},
                      {"abscissa", point.abscissa},
                      {"kind", to_string(point.kind)},
                      {"frequency", point.frequency},
                      {"first_lyapunov", point.hopf.found ? nlohmann::json(point.hopf.lyapunov) : nlohmann::json()},
                      {"unstable", point.unstable},
                      {"residual", point.residual}});
  }
  return points;
}

/// Text on the ends of a branch, and on points between them that are not regular.
std::string continuation_text(const FollowedKey& followed) {
  const auto& points = followed.branch.points;
  std::vector<std::vector<std::string>> rows{{"kind", followed.key, "abscissa", "frequency", "unstable", "Lyapunov"}};
  for (std::size_t k = 0; k < points.size(); ++k) {
    const BranchPoint& point = points[k];
    if (point.kind == BranchKind::regular && k != 0 && k + 1 != points.size()) continue;
    rows.push_back({to_string(point.kind), fmt::format("{:.6g}", point.parameter),
                    fmt::format("{:.4f}", point.abscissa), fmt::format("{:.4f}", point.frequency),
                    std::to_string(point.unstable),
                    point.hopf.found ? fmt::format("{:.4g}", point.hopf.lyapunov) : "-"});
  }
  return fmt::format("equilibrium of sequence {} as {} goes from {:.6g} to {:.6g}, {} points, {}{}:\n",
                     followed.sequence, followed.key, followed.from, followed.to, points.size(),
                     to_string(followed.branch.end),
                     followed.branch.converged ? "" : ", not all of their eigenvalues converged") +
         text_table(rows, 1);
}

nlohmann::json stability_json(const ChipYield& found) {
  nlohmann::json leading = nlohmann::json::array(), chips = nlohmann::json::array();
  for (const Eigenvalue& e : found.report.leading) leading.push_back({e.value.real(), e.value.imag()});
  for (const ChipStability& chip : found.chips) {
    chips.push_back({{"seed", chip.seed},
                     {"abscissa", chip.abscissa},
                     {"hopf_frequency", chip.frequency},
                     {"residual", chip.residual},
                     {"settles", chip.settles}});
  }
  return {{"abscissa", found.chips.front().abscissa},
          {"hopf_frequency", found.hopf_frequency},
          {"first_lyapunov", found.hopf.found ? nlohmann::json(found.hopf.lyapunov) : nlohmann::json()},
          {"margin", found.margin},
          {"yield", found.yield},
          {"yield_interval", {found.interval.low, found.interval.high}},
          {"asymmetry", found.report.asymmetry},
          {"converged", found.report.converged},
          {"leading", leading},
          {"equilibrium", json_of(found.phases)},
          {"verdict", found.verdict},
          {"chips", chips}};
}

/// How the equilibria are lost; empty where there are none.
std::string margin_text(const ChipYield& found) {
  if (found.report.leading.empty()) return "";
  const int looked = found.report.sequences;
  std::string out =
      fmt::format("Jacobian at z*, {} sequence{}: abscissa {:.4f} 1/tau, margin {:.4f}, asymmetry {:.3g}\n", looked,
                  looked == 1 ? "" : "s", found.chips.front().abscissa, found.margin, found.report.asymmetry);
  if (found.report.feed_forward) return out;
  out += found.hopf_frequency > 0
             ? fmt::format(
                   "leading pair turns at {:.4f} radians per tau: beyond the margin follows a Hopf "
                   "bifurcation\n",
                   found.hopf_frequency)
             : std::string(
                   "leading eigenvalue is real: beyond the margin follows a fold or a branching, no "
                   "oscillation\n");
  if (found.hopf.found) {
    const double l1 = found.hopf.lyapunov;
    const bool seen = std::abs(l1) > 1e-8;  // rounding of its differences (sim/spectrum.hpp)
    out += fmt::format("first Lyapunov coefficient {:.4g}: {}\n", l1,
                       !seen    ? "the rotation is linear to third order"
                       : l1 < 0 ? "a small oscillation replaces the lost equilibrium (soft)"
                                : "no small oscillation exists, the state leaves (hard)");
  }
  return out;
}

std::string stability_text(const ChipYield& found) {
  int settled = 0;
  double worst = -std::numeric_limits<double>::infinity();
  for (const ChipStability& chip : found.chips) {
    settled += chip.settles ? 1 : 0;
    worst = std::isfinite(chip.abscissa) ? std::max(worst, chip.abscissa) : worst;
  }
  return fmt::format("{}{}\nyield: {} of {} chips settle, {:.1f} % [{:.1f}, {:.1f}] (95 %, Wilson){}\n",
                     margin_text(found), found.verdict, settled, found.chips.size(), 100 * found.yield,
                     100 * found.interval.low, 100 * found.interval.high,
                     std::isfinite(worst) ? fmt::format("; largest abscissa {:.4f}", worst) : "");
}

ExitCode run_stability(const StabilityArguments& options) {
  if (options.chips < 1 || options.chips > kMostChips) {
    throw UserError(fmt::format("--chips {} (must be in [1, {}])", options.chips, kMostChips));
  }
  if (options.points < 1 || options.points > kMostPoints) {
    throw UserError(fmt::format("--points {} (must be in [1, {}])", options.points, kMostPoints));
  }
  const Config config = config_of(options);
  warn_of_keys(config);
  ChipYield found;
  {
    ProgressLine progress;
    found = chip_yield(config, options.chips, [&progress](const std::string& what) { progress.show(what); });
  }
  std::optional<FollowedKey> followed;
  if (!options.follow.empty()) followed = follow(options, config);
  if (options.json) {
    nlohmann::json json = stability_json(found);
    if (followed) {
      json["continuation"] = continuation_json(*followed);
      json["continuation_end"] = to_string(followed->branch.end);
      json["continuation_key"] = followed->key;
      json["continuation_sequence"] = followed->sequence;
    }
    answer("{}", json_text(json, 2) + "\n");
  } else {
    answer("{}", stability_text(found) + (followed ? continuation_text(*followed) : ""));
  }
  if (options.chips > 1 && !on_devices(config)) {
    say("nudge: device.model = digital: no devices are configured, so chips differ in their initial weights at "
        "most. Set device.preset\n");
  }
  if (followed && followed->branch.points.empty()) {
    const std::string mends = remedy(found.phases);
    say("nudge: --follow: the free phase ends near no equilibrium{}{}\n", mends.empty() ? "" : ": ", mends);
    return ExitCode::numerical_failure;
  }
  if (found.chips.front().settles) return ExitCode::ok;
  say("nudge: the chip of this seed does not settle\n");
  return ExitCode::numerical_failure;
}

std::function<ExitCode()> add_stability(CLI::App& app) {
  const auto options = std::make_shared<StabilityArguments>();
  add_config_arguments(app, options->arguments);
  app.add_option("--chips", options->chips,
                 "Number of chips, with the seeds seed, seed + 1, ... Each has its own devices and circuits. "
                 "Without trained weights each has its own initial weights too")
      ->capture_default_str();
  app.add_option(
      "--follow", options->follow,
      "KEY=TO: move one number of the config from its value to TO and follow the equilibrium, through folds. Prints "
      "where it loses stability (fold, hopf, branching)");
  app.add_option("--points", options->points, "With --follow: most points of the branch")->capture_default_str();
  app.add_flag("--json", options->json, "Print JSON");
  return [options] { return run_stability(*options); };
}

}  // namespace

Command stability_command() {
  return {"stability",
          "Measure the stability margin of equilibria, and how many chips settle (RUN.h5 or "
          "CONFIG.toml)",
          "nudge stability run.h5 --chips 50 --json", add_stability};
}

}  // namespace nudge
