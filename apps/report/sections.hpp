// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/report/run_file.hpp"
#include "apps/report/svg_chart.hpp"
#include "training/compare/paired.hpp"

namespace nudge::report {

/// EquilibriumRun with its name in legends: its estimator, with the file's name in front when several files are shown.
struct NamedLane {
  std::string name;
  const RunFile* run = nullptr;
  const Lane* trainee = nullptr;
  int color = 0;

  bool beside() const { return trainee->lane == "beside"; }
  bool null() const { return trainee->lane.starts_with("null"); }
};

/// Name of a lane: the words of its estimator, "beside" without an estimator, "frozen devices".
std::string lane_name(const Lane& lane);

/// Opening of a page: a title, plain sentences made from the numbers, and the figure that shows them.
struct Opening {
  std::string title, sentence;  ///< plain text
  std::string figure;           ///< HTML; may be empty
};

/// Part of the page; body is empty when no file is of that kind.
struct Section {
  Opening opening;
  std::string body;
};

Section training_section(const std::vector<RunFile>& runs);
Section gradcheck_section(const std::vector<RunFile>& runs);
Section sweep_section(const std::vector<RunFile>& runs);
/// Section on requirements, with the Pareto front of its designs.
Section spec_section(const std::vector<RunFile>& runs);
Section compare_section(const std::vector<RunFile>& runs);
/// Section on loss and score over the time that devices were left alone.
Section age_section(const std::vector<RunFile>& runs);
Section device_section(const std::vector<RunFile>& runs);
Section crossbar_section(const std::vector<RunFile>& runs);
std::string provenance_section(const std::vector<RunFile>& runs);

/// Makes title and sentences about trained networks.
Opening training_opening(const std::vector<NamedLane>& trainees);
/// Makes title and sentences about the points of a sweep; `line`: of the validation part, for losses; `references`: of
/// its samples, for scores.
Opening sweep_opening(const Table& points, const std::optional<TextEntropy>& line,
                      const std::optional<ReferenceScores>& references = std::nullopt);

/// Replaces the results of failed runs by failed_value(), which ranks worse than any other. A point that was not run
/// because its values break a rule has no results.
Table ranked_failures(Table points);

/// Note on the number of finished runs of earlier grids in the file, which nothing on the page counts; empty where
/// there are none.
std::string outside_note(const RunFile& run);

/// Metric of a trainee: "accuracy" or "rmse", where a run learned samples; empty otherwise.
std::string metric_of(const Lane& trainee);
/// Text of a score: "97.22 %", "0.1234", a dash.
std::string score_cell(const std::string& metric, double value);
/// Figure of the scores over the steps, beside those of trivial models; empty for a text.
std::string score_figure(const std::vector<NamedLane>& trainees);
/// Tables of the confusion matrices of every classifier of the page, with shaded cells.
std::string confusion_tables(const std::vector<NamedLane>& trainees);
/// Note on the scores of trivial models on the samples; empty where there is nothing to say.
std::string reference_note(const std::optional<ReferenceScores>& references);

/// Figures of the readings and pictures of the trainees' arrays; empty where there are none.
std::string hardware_figures(const std::vector<NamedLane>& trainees);

/// Table of the stages of a training step and the part that does each, for every run on devices, and what of its
/// circuit was ideal.
std::string step_stages(const std::vector<RunFile>& runs);

/// Cost cards of the circuit of each training run on devices, by part (training/card/cost_card.hpp).
std::string cost_cards(const std::vector<RunFile>& runs);

/// Figures of the gradient agreement of the trainees that measured it, with a table.
std::string agreement_figures(const std::vector<NamedLane>& trainees);

/// Figures and table of points that differ in all their keys. The figure of the first result stands apart.
struct PointFigures {
  std::string first, others;
};
/// Makes figures and table of points; `line`: of the validation part, for losses.
PointFigures point_figures(const Table& points, const std::optional<TextEntropy>& line);

/// Figure of the effects of a sweep's values on its first result, ranked; empty where there is nothing to compare.
std::string effects_figure(const Table& points);

/// Table of the first result over the values of two keys, with shaded cells; empty unless the sweep has two.
std::string heat_map(const Table& points);

/// Factor from a result to the number shown: accuracies are in percent, their differences in points.
double shown_unit(const std::string& result);
/// Name of a result with the unit of the number shown, `percent` for accuracies: "validation accuracy (%)".
std::string shown_label(const Table& points, const std::string& result, const std::string& percent);

/// Text of a result in sentences: "2.1885 nat", "97.22 %", "0.985".
std::string result_text(const Table& points, const std::string& result, double value);

/// Adds the unigram and bigram lines of a text to a chart of losses, over the range of its series.
void add_text_lines(Chart& chart, const std::optional<TextEntropy>& line);

/// Text of a loss with four decimals, a dash where there is none, and " !" where it is not below the unigram line.
std::string marked_loss(double loss, const std::optional<TextEntropy>& line);

/// Note on the losses of counting on the text, and the meaning of "!".
std::string text_note(const std::optional<TextLines>& lines);

/// Makes a table from cells, which it escapes; the first row is the head, the first column the row names.
std::string table(const std::vector<std::vector<std::string>>& rows);

/// Row of a table with shaded cells: its name, and the HTML of its cells.
struct HeatRow {
  std::string name, cells;
};
/// Makes a table with shaded cells; escapes the names of columns and rows. corner: the heading of the names of rows.
std::string heat_table(const std::string& corner, const std::vector<std::string>& columns,
                       const std::vector<HeatRow>& rows);
/// Makes a cell with so many percent of a colour, from text, which it escapes; `percent` NaN: nothing to shade.
std::string heat_cell(double percent, const std::string& text, const char* color = "--c1");

/// Makes a paragraph from text, which it escapes.
std::string paragraph(const std::string& text);

/// Chooses the axis: value, or 1 - value on a logarithmic axis when cosines lie too close to 1 to be told apart.
void choose_cosine_axis(DotPlot& plot);

/// Effects of the keys of a sweep on its headline results, by key_effects(). Those of sweeps in which all keys change from
/// point to point are empty.
std::vector<std::vector<KeyEffect>> headline_effects(const Table& points);

/// Returns Spearman's rank correlation of a numeric key with a result, over the points that have one; NaN below three
/// points.
double rank_correlation(const std::vector<double>& x, const std::vector<double>& y);

/// Measures how closely a result goes with a key of names, as the square of a rank correlation does for a number. It is
/// the root of the share of the rank variance that the names explain, minus the share that as many names would by
/// chance (ε² of Kelley, PNAS 21:554 (1935)). NaN below three points, for a single name, and where every point has its
/// own name.
double rank_ratio(const std::vector<std::string>& names, const std::vector<double>& y);

}  // namespace nudge::report
