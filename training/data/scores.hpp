// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// Class that k logits choose: the largest logit's, the first of equals; −1 where a logit is not a number.
template <class S>
int chosen_class(std::span<const S> logits);

/// Counts of how often a classifier took class t (row) for class p (column).
class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(Index classes = 0) : counts_(Matrix<std::int64_t>::Zero(classes, classes)) {}

  Index classes() const { return counts_.rows(); }

  /// Adds n samples: logits (n, k), labels (n) in [0, k). Rows with a NaN choose nothing and count as wrong.
  template <class S>
  void add(ConstMatrixRef<S> logits, std::span<const int> labels);
  /// Adds the counts of another part of the same samples.
  void add(const ConfusionMatrix& other);

  const Matrix<std::int64_t>& counts() const { return counts_; }
  std::int64_t undecided() const { return undecided_; }
  std::int64_t samples() const { return counts_.sum() + undecided_; }
  std::int64_t correct() const { return counts_.trace(); }
  /// Share of samples whose class was found; 0 without samples.
  double accuracy() const;
  /// Mean over the classes that occur of the share of their samples that was found; 0 without samples.
  double macro_accuracy() const;

  /// Writes PATH, (truth, choice), with the attribute undecided.
  void write(const std::string& path, H5Document& document) const;
  /// Reads a confusion matrix from a file; nothing when it has none.
  static std::optional<ConfusionMatrix> read(const std::string& path, const H5Reader& file);

 private:
  Matrix<std::int64_t> counts_;
  std::int64_t undecided_ = 0;
};

/// Score of a trivial model on a held-out part.
struct ReferenceScore {
  std::string model;  ///< "chance", "majority", "mean", "linear"
  std::string split;  ///< "validation" or "test"
  double loss = 0;    ///< mean of the task's cost
  double score = 0;   ///< score in the metric of the table
};

/// Reference scores of trivial models on the samples of a task, to compare a network's score with.
struct ReferenceScores {
  std::string metric;     ///< "accuracy" (share, larger is better) or "rmse" (smaller is better)
  std::string loss_unit;  ///< "nat" or "1"
  std::vector<ReferenceScore> rows;
  double ridge = 0;  ///< λ of the linear model, chosen on the validation split
  /// Number of training samples that the linear model was fitted to, and number of all; 0: not fitted.
  std::int64_t samples = 0, of_samples = 0;
  double above_minimum = 0;  ///< about the distance of the linear model's objective from its minimum, in loss_unit
  std::string note = {};     ///< reason why there is no linear model; empty: there is one, or none was asked for
  double seconds = 0;        ///< computing time; about 0 from the cache
  std::int64_t splits = 1;   ///< number of splits of the data that the scores are means over

  /// Finds the row of a model and part; null: there is none.
  const ReferenceScore* find(const std::string& model, const std::string& split) const;
};

/// Averages the rows over several splits of the same data. Takes the first λ, the fewest samples, the largest
/// above_minimum and the sum of the seconds. Where a split lacks a model, so does the mean.
ReferenceScores mean_of(const std::vector<ReferenceScores>& splits);

/// Writes /reference: model, split (texts), loss, score, a row each; attributes metric, ridge, samples, of_samples, above_minimum, note,
/// splits and wall_time_s.
void write_reference_scores(const ReferenceScores& scores, H5Document& document);

/// Reads reference scores from a file; nothing when it has none.
std::optional<ReferenceScores> read_reference_scores(const H5Reader& file);

/// Request to Task::references().
struct ReferenceRequest {
  /// Names of trivial models ("chance", "majority", "mean", "linear"); "auto": all that the task has; "off": none.
  std::vector<std::string> models = {"auto"};
  /// Multiply-adds that fitting may take: a number of the config alone, so that the scores have the same bits on any
  /// machine. A larger fit uses fewer samples, or is left out.
  double operations = std::numeric_limits<double>::infinity();
  int threads = 0;  ///< number of threads; 0: all; does not change a bit of the result
  /// Callback before each pass over the samples, with a text for a person on the work. false: stop, which throws
  /// Interrupted.
  std::function<bool(const std::string& doing)> progress = {};

  bool off() const { return models == std::vector<std::string>{"off"}; }
  bool wants(const std::string& model) const {
    for (const std::string& one : models) {
      if (one == model || one == "auto") return true;
    }
    return false;
  }
};

/// Folder for results that are costly to compute and a function of their key, kept between runs. It is $NUDGE_CACHE
/// ("off": nowhere), else $XDG_CACHE_HOME/nudge, else $HOME/.cache/nudge. Nothing if none of them is set.
std::optional<std::filesystem::path> cache_folder();

/// Returns the scores kept under the key, or the result of compute(), which it then keeps. A file is believed only if
/// it is whole (its seal), holds the same key, and has possible rows. These have finite losses, shares in [0, 1], and
/// `samples` training samples. An unreadable or unwritable cache is ignored. Exceptions of compute() are passed on.
ReferenceScores cached_references(const std::string& key, std::int64_t samples,
                                  const std::function<ReferenceScores()>& compute);

}  // namespace nudge
