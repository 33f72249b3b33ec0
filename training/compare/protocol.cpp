// SPDX-License-Identifier: Apache-2.0
#include "training/compare/protocol.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/base/errors.hpp"
#include "training/config/config_table.hpp"
#include "training/data/data_options.hpp"
#include "training/data/task.hpp"
#include "training/sweep/sweep_metrics.hpp"

namespace nudge {

namespace {

bool has_samples(const Config& config) { return task_kind(config).rows == Rows::features; }

}  // namespace

ConfigSource compare_source(const ConfigSource& source) {
  const Config config = parse_program_config(source.name, source.text, source.settings);
  const bool is_named = config.origin("data.split_seed").layer != Layer::standard;
  ConfigSource out = source;
  if (has_samples(config) && !is_named) out.settings.insert(out.settings.begin(), "data.split_seed=seed");
  return out;
}

std::string intervals_hold(const Config& config) {
  if (!has_samples(config)) {
    return task_kind(config).name == "characters"
               ? "the interval holds seeds (initial weights, order of the batches) of this one text"
               : "the interval holds seeds (initial weights, batches) of this one set of sequences";
  }
  const DataOptions data = data_options(config);
  if (data.split_seed != DataOptions::by_seed) {
    return fmt::format(
        "the interval holds seeds (initial weights, order of the batches) of one split, data.split_seed = {}",
        data.split_seed);
  }
  return data.test_file.empty()
             ? "the interval holds seeds and splits: each seed draws its parts of these samples (data.split_seed)"
             : "the interval holds seeds and the split of training and validation; the test samples are those of "
               "data.test_file";
}

CompareProtocol read_protocol(const Config& config, const std::string& name) {
  CompareProtocol p{config, {}, {}, {}, {}, {}};
  p.axes = p.base.grid("compare.grid");
  check_axes(name, "compare.grid", p.axes);
  p.entrants = read_entrants(p.base);
  p.tuning_seeds = p.base.integers("compare.tuning_seeds");
  p.test_seeds = p.base.integers("compare.test_seeds");
  p.combinations = all_combinations(p.axes);
  for (const GridAxis& axis : p.axes) {
    if (axis.key == "data.split_seed")
      throw UserError(name + ": compare.grid.data.split_seed (parts of the data are drawn, not tuned)");
  }
  if (p.test_seeds.empty()) throw UserError(name + ": compare.test_seeds is empty (name one seed or more)");
  if (p.tuning_seeds.empty() && p.tunes()) {
    throw UserError(name + ": compare.tuning_seeds is empty (a grid of several points needs one)");
  }
  if (data_options(p.base).test_fraction == 0) {
    throw UserError(name + ": data.test_fraction = 0 (must be > 0: a comparison is reported on the test part)");
  }
  return p;
}

Sweep empty_table(const CompareProtocol& protocol, CompareStage stage) {
  Sweep table;
  table.keys = {"entrant"};
  table.numeric = {false};
  for (const GridAxis& axis : protocol.axes) {
    table.keys.push_back(axis.key);
    table.numeric.push_back(is_numeric_key(axis.key));
  }
  table.metrics = sweep_metrics("train", protocol.base);
  if (stage == CompareStage::tuning) return table;
  for (SweepMetric& metric : test_metrics(protocol.base)) table.metrics.push_back(std::move(metric));
  return table;
}

}  // namespace nudge
