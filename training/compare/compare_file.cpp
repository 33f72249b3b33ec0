// SPDX-License-Identifier: Apache-2.0
#include "training/compare/compare_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "sim/base/parallel.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_options.hpp"
#include "training/config/stored_config.hpp"

namespace nudge {

void write_entrants(H5Document& document, const std::vector<ComparedEntrant>& entrants, const std::string& metric) {
  const auto column = [&](const std::string& name, const std::string& unit, const std::string& description, auto get) {
    std::vector<decltype(get(entrants.front()))> values;
    values.reserve(entrants.size());
    for (const ComparedEntrant& one : entrants) values.push_back(get(one));
    document.column("entrants/" + name, std::move(values), {unit, description, {"entrant"}});
  };
  const auto real = [&](const std::string& name, const std::string& unit, const std::string& description, auto get) {
    column(name, unit, description, [&](const ComparedEntrant& one) { return static_cast<double>(get(one)); });
  };
  using One = ComparedEntrant;
  const std::string loss = metric.empty() ? "nat" : "1";
  column("name", "1", "entrant; the first is the baseline", [](const One& one) { return one.entrant.name; });
  column("settings", "1", "what the entrant sets beside the config",
         [](const One& one) { return fmt::format("{}", fmt::join(one.entrant.settings, "; ")); });
  column("chosen", "1",
         "place in the grid with the smallest mean validation loss; empty: no run of the tuning ended well",
         [](const One& one) { return one.choice ? fmt::format("{}", fmt::join(one.choice->combination, "; ")) : ""; });
  column("edges", "1", "keys of the grid that the choice is an outermost value of: the best may lie beyond",
         [](const One& one) { return one.choice ? fmt::format("{}", fmt::join(one.choice->edges, ", ")) : ""; });
  real("tuning_loss", loss, "mean validation loss over the tuning seeds at the choice",
       [](const One& one) { return one.choice ? one.choice->validation_loss : std::nan(""); });
  real("runs", "1", "runs with fresh seeds that ended well", [](const One& one) { return one.runs; });
  real("failed", "1", "runs with fresh seeds that did not, left out of every mean",
       [](const One& one) { return one.failed; });
  real("validation_mean", loss, "mean validation loss", [](const One& one) { return one.validation.mean; });
  real("validation_deviation", loss, "its standard deviation over the seeds (n - 1)",
       [](const One& one) { return one.validation.deviation; });
  real("test_mean", loss, "mean loss on the test part", [](const One& one) { return one.test.mean; });
  real("test_deviation", loss, "its standard deviation over the seeds (n - 1)",
       [](const One& one) { return one.test.deviation; });
  real("skipped", "1", "outlier steps skipped in all runs together", [](const One& one) { return one.skipped; });
  real("nonfinite", "1", "steps rolled back in all runs together", [](const One& one) { return one.nonfinite; });
  real("difference_seeds", "1", "seeds that ended well for the entrant and for the baseline",
       [](const One& one) { return one.difference.seeds; });
  real("difference_mean", loss, "mean difference of the test loss with the baseline's of the same seed",
       [](const One& one) { return one.difference.mean; });
  real("difference_low", loss, "lower end of its 95 % interval, Student's t; -inf: fewer than two seeds",
       [](const One& one) { return one.difference.low; });
  real("difference_high", loss, "upper end", [](const One& one) { return one.difference.high; });
  if (metric.empty()) return;
  const std::string& m = metric;
  real("validation_" + m + "_mean", "1", "mean score on validation",
       [](const One& one) { return one.validation_score.mean; });
  real("validation_" + m + "_deviation", "1", "its standard deviation over the seeds (n - 1)",
       [](const One& one) { return one.validation_score.deviation; });
  real("test_" + m + "_mean", "1", "mean score on the test part", [](const One& one) { return one.test_score.mean; });
  real("test_" + m + "_deviation", "1", "its standard deviation over the seeds (n - 1)",
       [](const One& one) { return one.test_score.deviation; });
  real("difference_" + m + "_mean", "1", "mean difference of the test score with the baseline's of the same seed",
       [](const One& one) { return one.score_difference.mean; });
  real("difference_" + m + "_low", "1", "lower end of its 95 % interval, Student's t",
       [](const One& one) { return one.score_difference.low; });
  real("difference_" + m + "_high", "1", "upper end", [](const One& one) { return one.score_difference.high; });
}

CompareFile::CompareFile(const SweepFiles& files, const Config& base)
    : files_(files), overwrite_(files.resume ? Overwrite::replace : Overwrite::must_not_exist) {
  record_ = record_of("compare", base);
}

void CompareFile::expect_same_config(const Config& base, const std::vector<std::string>& keys) {
  const H5Reader file(files_.output);
  expect_stored_config(file, "compare", base, [](const std::string& key) {
    return key.starts_with("sweep.") || (key.starts_with("compare.") && key != "compare.entrants");
  });
  const std::string wanted = fmt::format("{}", fmt::join(keys, ", "));
  if (const std::string stored = file.text_attribute("grid_keys"); stored != wanted) {
    file.fail(
        "attribute grid_keys",
        fmt::format(
            "the file tunes {}, the config {} (seeds and values of the axes may change, the axes may not: start a "
            "new comparison with --out)",
            stored, wanted));
  }
  record_.started = file.text_attribute("started");
  earlier_ = file.real_attribute("wall_time_s");
}

void CompareFile::restore(const std::string& group, Sweep& sweep, Stored stored) const {
  take_stored_points(H5Reader(files_.output), group, stored, sweep);
}

H5Document CompareFile::document(const Comparison& comparison) const {
  H5Document document;
  add_run_record(document, record_);
  if (files_.shard.count > 1) document.attribute("shard", files_.shard.text());
  document.attribute("grid_keys", fmt::format("{}", fmt::join(comparison.keys, ", ")));
  document.attribute("tuning_total", static_cast<std::int64_t>(comparison.tuning.points.size()));
  document.attribute("test_total", static_cast<std::int64_t>(comparison.test.points.size()));
  if (comparison.lines) write_text_lines(*comparison.lines, document);
  if (comparison.references) write_reference_scores(*comparison.references, document);
  write_points(document, "tuning", comparison.tuning);
  write_points(document, "test", comparison.test);
  if (!comparison.entrants.empty()) write_entrants(document, comparison.entrants, comparison.metric);
  return document;
}

std::size_t CompareFile::bytes(const Comparison& comparison) const { return document(comparison).bytes().size(); }

void CompareFile::write(const Comparison& comparison) {
  record_.wall_time_s = earlier_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  document(comparison).write(files_.output, overwrite_);
  overwrite_ = Overwrite::replace;
}

}  // namespace nudge
