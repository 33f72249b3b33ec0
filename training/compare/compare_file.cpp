// SPDX-License-Identifier: Apache-2.0
#include "training/compare/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "sim/base/parallel.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_options.hpp"
#include "training/config/stored_config.hpp"
#include "training/data/item_columns.hpp"

namespace nudge {

namespace {

using One = ComparedEntrant;

/// Writer of the columns of /entrants.
class EntrantColumns : public ItemColumns<One> {
 public:
  EntrantColumns(H5Document& document, const std::vector<One>& entrants)
      : ItemColumns(document, entrants, "entrants", "entrant") {}

  template <class Get>
  void real(const std::string& name, const std::string& unit, const std::string& description, Get get) {
    add(
        name, description, [&](const One& one) { return static_cast<double>(std::invoke(get, one)); }, unit);
  }

  /// The same of a number in a part of an entrant.
  template <class Part, class Number>
  void real(const std::string& name, const std::string& unit, const std::string& description, Part One::*part,
            Number Part::*number) {
    real(name, unit, description, [=](const One& one) { return one.*part.*number; });
  }

  /// Writes mean, deviation and median of a result over the fresh seeds.
  void spread(const std::string& name, const std::string& unit, const std::string& what, CellSpread One::*cell) {
    real(name + "_mean", unit, what + ", mean over the seeds; NaN where a run failed", cell, &CellSpread::mean);
    real(name + "_deviation", unit, "its standard deviation over the seeds (n - 1); NaN where a run failed", cell,
         &CellSpread::deviation);
    real(name + "_median", unit,
         "its median over the seeds, failed runs ranked worst; NaN where the median is a failed run", cell,
         &CellSpread::median);
  }

  /// Writes the difference between a result and the baseline's.
  void difference(const std::string& name, const std::string& unit, const std::string& what,
                  PairedDifference One::*pair) {
    real(name + "_mean", unit,
         "mean difference of the " + what + " with the baseline's of the same seed; NaN where a run of a pair failed",
         pair, &PairedDifference::mean);
    real(name + "_low", unit, "lower end of its 95 % interval, Student's t; -inf: fewer than two seeds", pair,
         &PairedDifference::low);
    real(name + "_high", unit, "upper end", pair, &PairedDifference::high);
    real(name + "_won", "1", "seeds whose " + what + " was better than the baseline's; a failed run is worse than any",
         pair, &PairedDifference::won);
    real(name + "_lost", "1", "seeds whose " + what + " was worse", pair, &PairedDifference::lost);
    real(name + "_failed", "1", "seeds for which a run of the pair failed", pair, &PairedDifference::failed);
  }
};

}  // namespace

void write_entrants(H5Document& document, const std::vector<ComparedEntrant>& entrants, const std::string& metric,
                    const std::string& holds) {
  EntrantColumns to(document, entrants);
  const std::string loss = metric.empty() ? "nat" : "1";
  to.add("name", "method; the first is the baseline", [](const One& one) { return one.entrant.name; });
  to.add("settings", "settings of the method on top of the config",
         [](const One& one) { return fmt::format("{}", fmt::join(one.entrant.settings, "; ")); });
  to.add("chosen", "grid point with the smallest mean validation loss; empty: no point where all runs ended well",
         [](const One& one) { return one.choice ? fmt::format("{}", fmt::join(one.choice->combination, "; ")) : ""; });
  to.add("edges", "keys of the grid whose outermost value was chosen: the best may lie beyond",
         [](const One& one) { return one.choice ? fmt::format("{}", fmt::join(one.choice->edges, ", ")) : ""; });
  to.real("tuning_loss", loss, "mean validation loss over the tuning seeds at the choice",
          [](const One& one) { return one.choice ? one.choice->validation_loss : std::nan(""); });
  to.real("runs", "1", "runs with fresh seeds that ended well", &One::runs);
  to.real("failed", "1", "runs with fresh seeds that failed: they rank worst", &One::failed);
  to.spread("validation", loss, "validation loss", &One::validation);
  to.spread("test", loss, "loss on the test split", &One::test);
  to.real("skipped", "1", "outlier steps skipped in all runs together", &One::skipped);
  to.real("nonfinite", "1", "steps rolled back in all runs together", &One::nonfinite);
  to.real("difference_seeds", "1", "seeds with a run of the method and of the baseline", &One::difference,
          &PairedDifference::seeds);
  to.difference("difference", loss, "test loss", &One::difference);
  document.attribute("intervals_hold", holds, "entrants");
  if (metric.empty()) return;
  to.spread("validation_" + metric, "1", "score on validation", &One::validation_score);
  to.spread("test_" + metric, "1", "score on the test split", &One::test_score);
  to.difference("difference_" + metric, "1", "test score", &One::score_difference);
  if (metric != "accuracy") return;
  to.real("test_samples", "1", "answers in the test split of a run", &One::test_samples);
  to.real("one_run_low", "1",
          "lower end of the 95 % binomial interval of one run's test accuracy, at the median (Wilson)", &One::one_run,
          &Interval::low);
  to.real("one_run_high", "1", "upper end", &One::one_run, &Interval::high);
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
    file.fail("attribute grid_keys", fmt::format("the file tunes {}, the config {}. Only seeds and values of the "
                                                 "axes may change: start a new comparison with --out",
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
  if (!comparison.entrants.empty()) write_entrants(document, comparison.entrants, comparison.metric, comparison.holds);
  return document;
}

std::size_t CompareFile::bytes(const Comparison& comparison) const { return document(comparison).bytes().size(); }

void CompareFile::write(const Comparison& comparison) {
  record_.wall_time_s = earlier_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  document(comparison).write(files_.output, overwrite_);
  overwrite_ = Overwrite::replace;
}

}  // namespace nudge
