// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "apps/columns.hpp"
#include "apps/commands/text_lines.hpp"
#include "apps/config_arguments.hpp"
#include "apps/info/gradient_errors.hpp"
#include "apps/streams.hpp"
#include "sim/base/ranks.hpp"
#include "sim/base/text.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/run_record.hpp"
#include "training/batch/batch_ranks.hpp"
#include "training/check/choices.hpp"
#include "training/config/config_table.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rounding.hpp"
#include "training/config/run_options.hpp"
#include "training/config/set_by.hpp"
#include "training/data/data_options.hpp"
#include "training/gradcheck/gradcheck_file.hpp"

namespace nudge {
namespace {

struct GradcheckOptions {
  ConfigArguments arguments;
  std::string out;
  bool json = false;
};

/// Text of a cosine: 1 within the rounding of sums in double, and 1 − 3e-7 as such, since seven nines cannot be told
/// apart by eye.
std::string cosine_text(double cosine) {
  if (!std::isfinite(cosine)) return "not finite";
  const double lost = 1 - cosine;
  if (lost < 1e-14) return "1";
  return lost < 1e-4 ? fmt::format("1-{:.1e}", lost) : fmt::format("{:.5f}", cosine);
}

/// Text of a residual; 0 means that the estimator has none.
std::string residual_text(double residual) { return residual == 0 ? "-" : fmt::format("{:.1e}", residual); }

std::string rows_text(const GradcheckReport& report) {
  std::vector<std::vector<std::string>> table = {{"estimator", "group", "cosine", "relative L2", "signs", "forces"}};
  std::string last;
  bool any_empty = false;
  for (const GradcheckRow& row : report.rows) {
    const bool first = row.estimator != last;
    if (first && !last.empty()) table.emplace_back();
    last = row.estimator;
    const bool empty = !row.agreement.has_gradient;
    any_empty = any_empty || empty;
    table.push_back({first ? row.estimator : "", row.group, empty ? "-" : cosine_text(row.agreement.cosine),
                     fmt::format("{:.2e}", row.agreement.relative_l2),
                     empty ? "-" : fmt::format("{:.1f} %", 100 * row.agreement.sign_agreement),
                     first ? fmt::format("{:.0f}", row.force_evaluations) : ""});
  }
  const std::string note =
      any_empty ? "-: the exact gradient of the group is zero; relative L2: of the whole gradient\n" : "";
  return text_table(table, 2) + note;
}

/// The answer first: which estimator is closest, the verdict on the equilibrium, and why the others are wrong.
std::string answer_of(const GradcheckReport& report) {
  const std::vector<GradientError> errors = gradient_errors(report);
  const bool exact = report.reference_converged();
  const GradcheckAnswer found = gradcheck_answer(errors, exact ? "" : report.failure);
  const std::string text = fmt::format("{}\n{}\nequilibrium: {}\n", found.title, found.sentence, report.verdict);
  std::string out = wrapped(text, terminal_columns(STDOUT_FILENO));
  std::vector<std::vector<std::string>> why = {{"below 0.99", "cosine", "largest part of the error"}};
  for (const GradientError& one : errors) {
    const std::string part = main_error(one, errors);
    if (exact && one.cosine < 0.99 && !part.empty()) why.push_back({one.estimator, short_cosine(one.cosine), part});
  }
  if (why.size() > 1) out += text_table(why, 3);
  return out + "\n";
}

std::string phases_text(const GradcheckReport& report) {
  std::vector<std::vector<std::string>> table = {
      {"phases", "beta", "free residual", "nudged residual", "|z-z*|/|z*|", "snr", "gates flipped", "diverged"}};
  for (const EstimatorFacts& e : report.estimators) {
    const bool nudged = e.beta > 0;
    table.push_back({e.name, nudged ? fmt::format("{:.1e}", e.beta) : "-", fmt::format("{:.1e}", e.free_residual),
                     residual_text(e.nudged_residual), nudged ? fmt::format("{:.1e}", e.nudge_ratio) : "-",
                     snr_text(e.signal.snr()), nudged ? fmt::format("{:.2g} %", 100 * e.flipped_gates) : "-",
                     std::to_string(e.diverged)});
  }
  return text_table(table, 1);
}

std::string reference_text(const GradcheckReport& report) {
  std::string out;
  for (std::size_t k = 0; k < report.references.size(); ++k) {
    const ReferenceFacts& r = report.references[k];
    if (r.adjoint == "bptt") {
      out += fmt::format("reference, batch {}: backprop through the trajectories of {} of {} sequences\n", k + 1,
                         r.settled, r.sequences);
      continue;
    }
    out += fmt::format(
        "reference, batch {}: {} of {} sequences reach the fixed point ({}, residual at most {:.1e}), {} adjoints "
        "are solved ({}, residual at most {:.1e})\n",
        k + 1, r.settled, r.sequences, to_string(r.solver), r.residual, r.solved, r.adjoint, r.adjoint_residual);
  }
  if (report.difference_entries > 0) {
    out += fmt::format("finite_difference: {} entries in all, cost of the first {} sequences of the first batch{}\n",
                       report.difference_entries, report.difference_sequences,
                       report.difference_settled ? "" : "; NOT all of these reached a fixed point");
  } else if (report.difference_sequences > 0) {
    out += fmt::format("finite_difference: left out, because there is no fixed point to perturb (residual {:.1e})\n",
                       report.difference_residual);
  }
  return out;
}

/// How the free phases of a config go: "24 steps of 0.7 tau", or by a solver that takes none.
std::string phase_text(const Config& config, double step) {
  const SettleOptions free = phase_options(config).phases.free;
  if (free.solver == SettleSolver::direct) return "a direct solution";
  if (free.solver == SettleSolver::euler && !phase_options(config).sweeps())
    return fmt::format("{} steps of {:.4g} tau", free.max_steps, step);
  return fmt::format("at most {} {} of {}", free.max_steps, free.solver == SettleSolver::euler ? "sweeps" : "steps",
                     config.text(free.solver == SettleSolver::euler ? "relaxation.schedule" : "relaxation.solver"));
}

std::string diagnostics_text(const GradcheckReport& report, const Config& config) {
  std::string out;
  if (const Equilibrium& e = report.equilibrium; e.known()) {
    out += fmt::format(
        "settled: {:.3g} % of the {} samples of the first batch, read without noise, end within {:g} % of "
        "an equilibrium; residual at most {:.2g}\n",
        100 * e.settled, e.samples, 100 * Equilibrium::settled_within, e.residual);
  }
  if (moves_input(config))
    return out + fmt::format("loss {:.4f}{}\n", report.loss, report.loss_unit == "nat" ? " nat" : "");
  out += fmt::format(
      "free phase as read, all batches: residual |F|/|z| after {}: mean {:.2e}, max {:.2e}; {}loss {:.4f}{}\n",
      phase_text(config, report.step), report.residual, report.residual_max,
      network_reads(config, "model.damping") ? fmt::format("damping c = {:.4g}; ", report.damping) : "", report.loss,
      report.loss_unit == "nat" ? " nat" : "");
  const StabilityReport& s = report.stability;
  if (s.sequences == 0) return out;
  out += fmt::format("Jacobian at {}, {} sequence{}: |Jv - J'v|/|Jv| = {:.3g}", s.at_rest() ? "z*" : "no equilibrium",
                     s.sequences, s.sequences == 1 ? "" : "s", s.asymmetry);
  if (!s.leading.empty()) {
    out += "; leading eigenvalues";
    for (const Eigenvalue& e : s.leading) out += fmt::format(" {:.4f}{:+.4f}i", e.value.real(), e.value.imag());
    out += fmt::format(" 1/tau{}; abscissa {:.4f}", s.converged ? "" : " (not all converged)", s.abscissa);
  }
  out += std::isfinite(s.decay) ? fmt::format("; rho = {:.4f} per step\n", s.decay) : "\n";
  const MultistabilityReport& m = report.multistability;
  if (m.starts == 0) return out;
  return out +
         fmt::format(
             "{} random starts for each of {} samples: {:.1f} % settle. Of these {:.1f} % end in the state of the "
             "free phase and {:.1f} % in one of lower energy. A sample has {:.2f} different states\n",
             m.starts, m.sequences, 100 * m.settled, 100 * m.same, 100 * m.lower, m.states);
}

ExitCode run_gradcheck(const GradcheckOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  join_ranks();
  share_batches();
  const bool leads = leads_batches();
  const Config config = load_config(options.arguments);
  const std::string out = options.out.empty() ? run_options(config).output_file : options.out;
  if (!out.empty() && leads) check_output_path(out, Overwrite::must_not_exist);
  if (leads) warn_of_keys(config);
  const std::string started = now_utc();
  GradcheckReport report;
  {
    ProgressLine progress;
    report = gradcheck(config, {},
                       [&progress, leads, choices = given_text(given_values(config))](const std::string& what) mutable {
                         if (!leads) return;
                         say("{}", std::exchange(choices, {}));
                         progress.show(what);
                       });
  }
  if (!leads) return ExitCode::ok;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.json) {
    answer("{}\n", json_text(json_of(report), 2));
  } else {
    answer("{}{}\n{}\n{}{}{:.1f} s\n", answer_of(report), rows_text(report), phases_text(report),
           reference_text(report), diagnostics_text(report, config), seconds);
  }
  if (!out.empty()) {
    write_gradcheck_file(report, config, started, seconds, out);
    if (!options.json) answer("{}\n", out);
  }
  if (report.finite() && report.reference_converged()) return ExitCode::ok;
  say("nudge: {}\n", report.failure);
  return ExitCode::numerical_failure;
}

std::function<ExitCode()> add_gradcheck(CLI::App& app) {
  const auto options = std::make_shared<GradcheckOptions>();
  add_config_arguments(app, options->arguments);
  add_weights_option(app, options->arguments.settings);
  app.add_option("--out", options->out, "New HDF5 file to write (default: none)");
  app.add_flag("--json", options->json, "Print the table and the diagnostics as JSON");
  return [options] { return run_gradcheck(*options); };
}

}  // namespace

Command gradcheck_command() {
  return {"gradcheck", "Compare gradient estimators with the exact adjoint",
          "nudge gradcheck examples/compare_gradients.toml", add_gradcheck};
}

}  // namespace nudge
