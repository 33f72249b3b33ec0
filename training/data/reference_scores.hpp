// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// What a trivial model scores on a held-out part.
struct ReferenceScore {
  std::string model;  ///< "chance", "majority", "mean", "linear"
  std::string split;  ///< "validation" or "test"
  double loss = 0;    ///< mean of the task's cost
  double score = 0;   ///< in the metric of the table
};

/// The yardsticks of a task on samples, beside what a network scores on the same ones.
struct ReferenceScores {
  std::string metric;     ///< "accuracy" (share, larger is better) or "rmse" (smaller is better)
  std::string loss_unit;  ///< "nat" or "1"
  std::vector<ReferenceScore> rows;
  double ridge = 0;  ///< λ of the linear model, chosen on the validation part
  std::int64_t samples = 0,
               of_samples = 0;  ///< training samples that the linear model was fitted to, of so many; 0: not fitted
  double above_minimum = 0;     ///< about how far its objective is above the least one, in loss_unit
  std::string note = {};        ///< why there is no linear model; empty: there is one, or none was asked for
  double seconds = 0;           ///< that all took; from the cache about nothing
  std::int64_t splits = 1;      ///< of the data that the scores are means over

  /// The row of a model and part, or nothing.
  const ReferenceScore* find(const std::string& model, const std::string& split) const;
};

/// Means of the rows over several splits of the same data, which have the same models; the first one's λ, the fewest samples, the largest
/// above_minimum, the seconds of all. Where a split lacks a model, so does the mean.
ReferenceScores mean_of(const std::vector<ReferenceScores>& splits);

/// Writes /reference: model, split (texts), loss, score, a row each; attributes metric, ridge, samples, of_samples, above_minimum, note,
/// splits and wall_time_s.
void write_reference_scores(const ReferenceScores& scores, H5Document& document);

/// The same from a file; nothing when it has none.
std::optional<ReferenceScores> read_reference_scores(const H5Reader& file);

}  // namespace nudge
