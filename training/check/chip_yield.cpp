// SPDX-License-Identifier: Apache-2.0
#include "training/check/chip_yield.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "training/check/choices.hpp"
#include "training/check/gradient_agreement.hpp"
#include "training/config/assembly.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"
#include "training/config/run_parts.hpp"

namespace nudge {
namespace {

struct ChipStudy {
  ChipStability chip;
  HopfForm hopf;
  StabilityReport report;
};

template <class S>
ChipStudy study_chip(const Config& config, const RunParts& parts, const Batch& batch, bool first) {
  const auto network = make_network<S>(config, parts.plan, Weights::configured);
  const auto exact = exact_copy(*network, Truth::circuit);
  const double step = RelaxationStep(config).of(network->circuit());
  const Reference points = reference_gradient(config, *exact, step, batch);
  const RunOptions run = run_options(config);
  ChipStudy out;
  out.chip.seed = run.seed;
  out.chip.residual = points.facts.residual;
  out.chip.abscissa = std::numeric_limits<double>::quiet_NaN();
  const bool finite =
      std::all_of(points.states.begin(), points.states.end(), [](const Matrix<double>& z) { return z.allFinite(); });
  if (!finite) return out;
  out.report = measure_stability(*exact, batch, points.states, step, run.seed, run.threads);
  if (out.report.leading.empty()) return out;
  out.chip.abscissa = out.report.abscissa;
  out.chip.frequency = turning_rate(out.report);
  const int worst = out.report.worst;
  if (first && out.chip.frequency > 0)
    out.hopf = hopf_of(*exact, batch, worst, points.states[static_cast<std::size_t>(worst)]);
  out.chip.settles = points.facts.settled == points.facts.sequences && out.report.abscissa < 0;
  return out;
}

}  // namespace

double turning_rate(const StabilityReport& report) {
  if (report.leading.empty()) return 0;
  const auto& first = report.leading.front().value;
  const double frequency = std::abs(first.imag());
  return frequency > 1e-6 * std::abs(first) ? frequency : 0;
}

ChipYield chip_yield(const Config& asked, int chips, const std::function<void(const std::string&)>& tell) {
  const RunParts parts = circuit_parts(asked);
  const Config config = leaves_circuit_open(asked) ? chosen_circuit(asked, parts) : asked;
  const Batch batch = parts.task->training(0);
  const std::uint64_t first = run_options(config).seed;
  ChipYield out;
  int settled = 0;
  for (int k = 0; k < chips; ++k) {
    if (tell) tell(fmt::format("chip {} of {}", k + 1, chips));
    Config own = config;
    own.set_from_text("seed", std::to_string(first + static_cast<std::uint64_t>(k)));
    const ChipStudy study = run_options(own).twofold() ? study_chip<double>(own, parts, batch, k == 0)
                                                       : study_chip<float>(own, parts, batch, k == 0);
    if (k == 0) {
      out.report = study.report;
      out.hopf = study.hopf;
    }
    settled += study.chip.settles ? 1 : 0;
    out.chips.push_back(study.chip);
  }
  out.verdict = stability_verdict(out.report, phase_options(config).phases.free.max_steps);
  out.margin = -out.chips.front().abscissa;
  out.hopf_frequency = out.chips.front().frequency;
  out.yield = static_cast<double>(settled) / chips;
  out.interval = share_interval(out.yield, chips);
  return out;
}

}  // namespace nudge
