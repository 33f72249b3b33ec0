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

/// The class that logits (k of them) choose: the largest one's, the first of equals; −1 where one is not a number.
template <class S>
int chosen_class(std::span<const S> logits);

/// How often a classifier took class t (row) for class p (column).
class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(Index classes = 0) : counts_(Matrix<std::int64_t>::Zero(classes, classes)) {}

  Index classes() const { return counts_.rows(); }

  /// Adds n samples: logits (n, k), labels (n) in [0, k). Rows with a NaN choose nothing and count as wrong.
  template <class S>
  void add(ConstMatrixRef<S> logits, std::span<const int> labels);
  /// Adds what another part of the same samples counted.
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
  /// The same from a file; nothing when it has none.
  static std::optional<ConfusionMatrix> read(const std::string& path, const H5Reader& file);

 private:
  Matrix<std::int64_t> counts_;
  std::int64_t undecided_ = 0;
};

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

/// What is asked of Task::references().
struct ReferenceRequest {
  /// Names of trivial models ("chance", "majority", "mean", "linear"); "auto": all that the task has; "off": none.
  std::vector<std::string> models = {"auto"};
  /// Multiply-adds that fitting may take: a number of the config alone, so that the scores have the same bits on any machine. What does not
  /// fit in it is fitted to fewer samples, or not at all.
  double operations = std::numeric_limits<double>::infinity();
  int threads = 0;  ///< 0: all; they change no bit
  /// Called before each pass over the samples with what is done, for a person; false: stop, which throws Interrupted.
  std::function<bool(const std::string& doing)> progress = {};

  bool off() const { return models == std::vector<std::string>{"off"}; }
  bool wants(const std::string& model) const {
    for (const std::string& one : models) {
      if (one == model || one == "auto") return true;
    }
    return false;
  }
};

/// Where what is dear to compute and a function of its key is kept between runs: $NUDGE_CACHE ("off": nowhere), else $XDG_CACHE_HOME/nudge,
/// else $HOME/.cache/nudge; nothing where none of them is set.
std::optional<std::filesystem::path> cache_folder();

/// The scores that are kept under the key, or what compute() returns, which then is kept. A file is believed only where it is whole (its
/// seal), holds the very key, and rows that can be: finite losses, shares in [0, 1], of `samples` training samples. A cache that cannot be read
/// or written is as none. What compute() throws is passed on.
ReferenceScores cached_references(const std::string& key, std::int64_t samples,
                                  const std::function<ReferenceScores()>& compute);

}  // namespace nudge
