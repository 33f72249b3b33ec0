// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "training/config/set_by.hpp"
#include "training/data/scores.hpp"
#include "training/data/text_dataset.hpp"
#include "training/sweep/spread.hpp"
#include "training/train/train_run.hpp"

namespace nudge {

/// Text of the reference losses of counting on the same text: "text: chance 4.174, unigram 3.345, bigram 2.506 nat on
/// the validation part; …".
std::string lines_text(const TextLines& lines);

/// Mark " !" behind a loss that is above the unigram line, else empty; kUnigramNote explains it.
std::string unigram_mark(double loss, const std::optional<TextEntropy>& line);
constexpr const char* kUnigramNote = "!: not below the unigram baseline: learnt nothing beyond letter frequencies";

/// Formats rows of cells as aligned text, the first row a heading; the first `left` columns are aligned left, the
/// others right.
std::string text_table(const std::vector<std::vector<std::string>>& rows, std::size_t left);

/// Table with its first `kept` columns and at most `most` of the others: those whose cells differ between the rows, of
/// which the names that `rank` puts first, 0 before 1. A note below says how many --all shows. All columns where `all`.
std::string short_table(const std::vector<std::vector<std::string>>& rows, std::size_t kept, std::size_t left, bool all,
                        const std::function<int(const std::string& name)>& rank);

/// Shows what a command is doing on stderr: one line that is kept current on a terminal, within its width; nothing in a
/// pipe.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text);   ///< shows text on a terminal only
  void print(const std::string& text);  ///< prints a line that stays, in a pipe too
  bool terminal() const { return terminal_; }

 private:
  bool terminal_;
};

/// Text of a cell: "2.414 ± 0.012" if its runs all ended well, "2.414" of a single one; else cell_text(). A dash where
/// nothing was measured. `digits`: the format of a number; `deviation`: that of the deviation.
std::string spread_text(const CellSpread& cell, const char* digits = "{:.4g}", const char* deviation = "{:.2g}");

/// Text of a score: "97.22 %" of an accuracy, "0.1234" of an rmse, a dash where it is not finite.
std::string score_text(const std::string& metric, double value);

/// Text of a difference of two scores: "+1.39" percentage points, "-0.0021".
std::string score_difference_text(const std::string& metric, double value);

/// Text of reference scores: "trivial models on the test part: chance 10.00 %, majority 10.31 %, linear 96.66 %", of
/// the validation part too.
std::string references_text(const ReferenceScores& references);

/// Text of the work for reference scores: "references: 3.4 s beside the run; linear: 57000 samples, ridge 0.001, about
/// 1e-04 nat above its least loss".
std::string reference_work_text(const ReferenceScores& references);

/// True if a score on a part is no better than that of the linear model; false where there is none.
bool not_above_linear(const ReferenceScores& references, const std::string& part, double value);
constexpr const char* kLinearNote = "!: no better than a linear model of the same samples";

/// Text on a score that is not above the linear model's: "below a linear model (96.66 %)", or "no better than a linear
/// model (...)" where the 95 % interval of the difference contains 0. Empty: it is better, or there is no such model.
/// An accuracy of n samples: the interval of the difference of two shares with two successes and two failures added
/// (Agresti and Caffo, Am. Stat. 54 (2000) 280). Both use the same samples, which only makes the interval wider than it
/// need be. For an error, or with n = 0, no interval is known and the two numbers of these samples are compared.
std::string linear_text(const ReferenceScores& references, const std::string& part, double value, double n);

/// Text of the use of arrays by tokens: "32 tokens in turn", "T = 32 replicas", "32 tokens at once: an idealisation".
std::string tokens_text(const TrainSummary& summary);

/// Lines on what a step takes, item by item, and a list of what is not counted, with the key that counts it and how
/// large it would be at a round figure (1 pJ a conversion or operation, 1 uW an amplifier, 0.1 fF a cell).
std::string energy_lines(const TrainSummary& summary);

/// Block for the start of a run on standard error: values that the user did not set, by what set them, wrapped to the
/// terminal or the usual width. All of auto, six of each preset or level; what was measured has its reason. Empty: none.
std::string given_text(const std::vector<GivenValue>& values);

/// All values of auto with their reasons, a line each; empty: none.
std::string auto_text(const std::vector<GivenValue>& values);

}  // namespace nudge
