// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/score_lines.hpp"

#include <fmt/format.h>

#include <cmath>

namespace nudge {

std::string score_text(const std::string& metric, double value) {
  if (!std::isfinite(value)) return "-";
  return metric == "accuracy" ? fmt::format("{:.2f} %", 100 * value) : fmt::format("{:.4f}", value);
}

std::string score_difference_text(const std::string& metric, double value) {
  if (!std::isfinite(value)) return "-";
  return metric == "accuracy" ? fmt::format("{:+.2f}", 100 * value) : fmt::format("{:+.4f}", value);
}

std::string references_text(const ReferenceScores& references) {
  std::string out;
  for (const char* part : {"validation", "test"}) {
    std::string models;
    for (const ReferenceScore& row : references.rows) {
      if (row.split != part) continue;
      models += fmt::format("{}{} {}", models.empty() ? "" : ", ", row.model, score_text(references.metric, row.score));
    }
    if (!models.empty()) out += fmt::format("{}{} on the {} part", out.empty() ? "" : "; ", models, part);
  }
  const std::string mean = references.splits > 1 ? fmt::format(", means over {} splits", references.splits) : "";
  return fmt::format("trivial models{}: {}", mean, out);
}

std::string reference_work_text(const ReferenceScores& r) {
  std::string out = fmt::format("references: {:.1f} s beside the run", r.seconds);
  if (!r.note.empty()) return out + "; " + r.note;
  if (r.samples == 0) return out;
  const std::string of = r.samples < r.of_samples ? fmt::format(" of {}", r.of_samples) : "";
  const std::string unit = r.loss_unit == "nat" ? " nat" : "";
  return out + fmt::format("; linear: {}{} samples, ridge {:g}, about {:.0e}{} above its least loss", r.samples, of,
                           r.ridge, r.above_minimum, unit);
}

bool not_above_linear(const ReferenceScores& references, const std::string& part, double value) {
  const ReferenceScore* linear = references.find("linear", part);
  if (linear == nullptr || !std::isfinite(value)) return false;
  return references.metric == "accuracy" ? value <= linear->score : value >= linear->score;
}

}  // namespace nudge
