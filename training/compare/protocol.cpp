// SPDX-License-Identifier: Apache-2.0
#include "training/compare/protocol.hpp"

#include <utility>

#include "sim/base/errors.hpp"
#include "training/data/data_options.hpp"
#include "training/data/task.hpp"

namespace nudge {

CompareProtocol read_protocol(const Config& config, const std::string& name) {
  CompareProtocol p{config, {}, {}, {}, {}, {}};
  p.axes = p.base.grid("compare.grid");
  check_axes(name, "compare.grid", p.axes);
  p.entrants = read_entrants(p.base);
  p.tuning_seeds = p.base.integers("compare.tuning_seeds");
  p.test_seeds = p.base.integers("compare.test_seeds");
  p.combinations = all_combinations(p.axes);
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
  const std::string score = score_metric(protocol.base);
  table.metrics = sweep_metrics("train", score);
  if (stage == CompareStage::tuning) return table;
  for (SweepMetric& metric : test_metrics(score)) table.metrics.push_back(std::move(metric));
  return table;
}

}  // namespace nudge
