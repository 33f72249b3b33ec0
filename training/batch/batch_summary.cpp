// SPDX-License-Identifier: Apache-2.0
#include "training/batch/batch_summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

/// Upper median of a part of the adjoints' sizes; non-finite sizes count as infinite.
double median_adjoint(const std::vector<SequenceReport>& sequences, double AdjointSize::*part) {
  std::vector<double> sizes;
  for (const SequenceReport& one : sequences) {
    const double size = one.adjoint.*part;
    sizes.push_back(std::isfinite(size) ? size : std::numeric_limits<double>::infinity());
  }
  return upper_median(std::move(sizes));
}

}  // namespace

BatchReport summarise(const Batch& batch, bool coupled, std::vector<SequenceReport> sequences,
                      const std::vector<GrowthReport>& growth, const std::vector<double>& energy, Index slots) {
  BatchReport all;
  all.rows = batch.counted();
  all.passes = coupled ? batch.sequences : all.rows;
  const auto turns = static_cast<double>(slots);
  const double n = static_cast<double>(sequences.size());
  for (std::size_t b = 0; b < sequences.size(); ++b) {
    const SequenceReport& one = sequences[b];
    if (all.rows > 0) all.loss += one.loss / static_cast<double>(all.rows);
    all.residual += one.free.residual / n;
    all.residual_max = std::max(all.residual_max, one.free.residual);
    all.nudged_residual += one.nudged_residual / n;
    all.nudge_ratio += one.nudge_ratio / n;
    all.signal += one.signal;
    all.steps += one.free.steps / n;
    all.decay += one.free.decay / n;
    all.time += turns * one.free.time / n;
    all.nudged_time += turns * one.nudged_time / n;
    all.cost_in_forces += one.cost_in_forces / n;
    all.clipped += one.clipped;
    all.left_out += one.left_out ? 1 : 0;
    all.diverged += one.free.status == Status::diverged || one.nudged == Status::diverged ? 1 : 0;
    const double share = coupled || all.rows == 0 ? 1 / n
                                                  : static_cast<double>(batch.counted(static_cast<Index>(b))) /
                                                        static_cast<double>(all.rows);
    all.growth += growth[b].growth * share;
    all.growth_active += growth[b].active * share;
    all.growth_drowned += growth[b].drowned * share;
    all.energy += energy[b] / (coupled ? n : n * static_cast<double>(batch.tokens));
  }
  all.adjoint = {median_adjoint(sequences, &AdjointSize::norm), median_adjoint(sequences, &AdjointSize::gain)};
  all.sequences = std::move(sequences);
  return all;
}

}  // namespace nudge
