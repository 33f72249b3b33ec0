// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/report/run_file.hpp"
#include "apps/report/svg_chart.hpp"
#include "training/compare/paired.hpp"

namespace nudge::report {

/// A trainee with the name it has in legends: its estimator, with the file's name in front when several files are shown.
struct NamedLane {
  std::string name;
  const RunFile* run = nullptr;
  const Lane* trainee = nullptr;
  int color = 0;

  bool beside() const { return trainee->lane == "beside"; }
  bool frozen() const { return trainee->lane == "null"; }
};

/// What a lane is called: the words of its estimator, "beside" of one without, "frozen devices".
std::string lane_name(const Lane& lane);

/// What a page says before anything else: a title, plain sentences made from the numbers, and the figure that shows them.
struct Opening {
  std::string title, sentence;  ///< plain text
  std::string figure;           ///< HTML; may be empty
};

/// A part of the page; body is empty when no file is of that kind.
struct Section {
  Opening opening;
  std::string body;
};

Section training_section(const std::vector<RunFile>& runs);
Section gradcheck_section(const std::vector<RunFile>& runs);
Section sweep_section(const std::vector<RunFile>& runs);
Section compare_section(const std::vector<RunFile>& runs);
/// Loss and score over the time that devices were left alone.
Section age_section(const std::vector<RunFile>& runs);
Section device_section(const std::vector<RunFile>& runs);
Section crossbar_section(const std::vector<RunFile>& runs);
std::string provenance_section(const std::vector<RunFile>& runs);

/// Title and sentences about trained networks.
Opening training_opening(const std::vector<NamedLane>& trainees);
/// Title and sentences about the points of a sweep; `line`: of the validation part, for losses; `references`: of its samples, for scores.
Opening sweep_opening(const Table& points, const std::optional<TextEntropy>& line,
                      const std::optional<ReferenceScores>& references = std::nullopt);

/// The points with what a run that failed ranks as, worse than any other, instead of its results (failed_value); one that was not run, its values
/// break a rule, has none.
Table ranked_failures(Table points);

/// Says how many finished runs of earlier grids the file keeps, which nothing on the page counts; empty where there are none.
std::string outside_note(const RunFile& run);

/// "accuracy" or "rmse", where a run learned samples; empty otherwise.
std::string metric_of(const Lane& trainee);
/// "97.22 %", "0.1234", a dash.
std::string score_cell(const std::string& metric, double value);
/// Scores over the steps, beside what trivial models reach; empty of text.
std::string score_figure(const std::vector<NamedLane>& trainees);
/// Of every classifier of the page its confusion matrices as tables whose cells are shaded.
std::string confusion_tables(const std::vector<NamedLane>& trainees);
/// What trivial models score on the samples; empty where there is nothing to say.
std::string reference_note(const std::optional<ReferenceScores>& references);

/// Readings and pictures of the arrays of the trainees that have some; empty otherwise.
std::string hardware_figures(const std::vector<NamedLane>& trainees);

/// Who does which stage of a training step, of every run on devices, and what of its circuit was ideal.
std::string step_stages(const std::vector<RunFile>& runs);

/// What the circuit of each training run on devices costs, by part (apps/info/cost_card.hpp).
std::string cost_cards(const std::vector<RunFile>& runs);

/// Gradient agreement of the trainees that measured it, with a table.
std::string agreement_figures(const std::vector<NamedLane>& trainees);

/// Figures and table of points that differ in all their keys; `line`: of the validation part, for losses. The figure of the
/// first result stands apart.
struct PointFigures {
  std::string first, others;
};
PointFigures point_figures(const Table& points, const std::optional<TextEntropy>& line);

/// The effects of a sweep's values on its first result, ranked; empty where there is nothing to compare.
std::string effects_figure(const Table& points);

/// The first result over the values of two keys, as a table of shaded cells; empty unless the sweep has two.
std::string heat_map(const Table& points);

/// "2.1885 nat", "97.22 %", "0.985": a result as sentences name it.
std::string result_text(const Table& points, const std::string& result, double value);

/// Adds the unigram and bigram lines of a text to a chart of losses, over the range of its series.
void add_text_lines(Chart& chart, const std::optional<TextEntropy>& line);

/// A loss with four decimals, a dash where there is none, and " !" where it is not below the unigram line.
std::string marked_loss(double loss, const std::optional<TextEntropy>& line);

/// What counting scores on the text, and what "!" means.
std::string text_note(const std::optional<TextLines>& lines);

/// The style sheet.
std::string page_style();

/// Table from escaped-here cells; the first row is the head, the first column the row names.
std::string table(const std::vector<std::vector<std::string>>& rows);

/// A paragraph, escaped here.
std::string paragraph(const std::string& text);

/// Sets value, or 1 - value on a logarithmic axis when cosines lie too close to 1 to be told apart.
void choose_cosine_axis(DotPlot& plot);

/// key_effects() of a sweep. Empty for sweeps in which all keys change from point to point.
std::vector<KeyEffect> ranked_effects(const Table& points, const std::string& result);

/// Spearman's rank correlation of a numeric key with a result, over the points that have one; NaN below three points.
double rank_correlation(const std::vector<double>& x, const std::vector<double>& y);

/// How closely a result goes with a key of names: the root of the share of the variance of its ranks that the names tell apart, less
/// what as many names would by chance (ε² of Kelley, PNAS 21:554 (1935)); what the square of a rank correlation is of a number. NaN
/// below three points, for a single name, and where every point has its own.
double rank_ratio(const std::vector<std::string>& names, const std::vector<double>& y);

}  // namespace nudge::report
