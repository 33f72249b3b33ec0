// SPDX-License-Identifier: Apache-2.0
#include "training/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/errors.hpp"
#include "training/config/config_table.hpp"
#include "training/data/data_options.hpp"
#include "training/data/task.hpp"
#include "training/sweep/sweep_points.hpp"

namespace nudge {

namespace {

bool has_samples(const Config& config) { return task_kind(config).rows == Rows::features; }

/// True if an entrant sets keys by the name of a preset, so that its values alone do not tell its choices.
bool sets_preset(const Entrant& entrant) {
  return std::any_of(entrant.settings.begin(), entrant.settings.end(), [](const std::string& one) {
    const std::string key = one.substr(0, one.find('='));
    const bool is_named = one.size() > key.size() + 1;
    return is_named && (key == "preset" || key == "device.preset" || key == "hardware.level");
  });
}

std::string key_of(const std::string& setting) { return setting.substr(0, setting.find('=')); }

Config moved(Config config, const std::vector<std::string>& settings) {
  for (const std::string& one : settings) config.set_from_text(key_of(one), one.substr(one.find('=') + 1));
  return config;
}

/// Part of a combination without the keys that the entrant does not read in it.
Combination read_part(const Config& base, const Entrant& entrant, const Combination& combination) {
  const Config config = moved(moved(base, entrant.settings), combination);
  Combination part;
  for (const std::string& one : combination) {
    if (training_reads(config, key_of(one))) part.push_back(one);
  }
  return part;
}

std::vector<Combination> combinations_of(const CompareProtocol& protocol, const Entrant& entrant) {
  const std::vector<Combination> all = all_combinations(protocol.axes);
  if (sets_preset(entrant)) return all;
  std::vector<Combination> distinct;
  for (const Combination& one : all) {
    Combination part = one;
    try {
      part = read_part(protocol.base, entrant, one);
    } catch (const UserError&) {
      return all;  // the builder of the points says what is wrong, and where
    }
    if (std::find(distinct.begin(), distinct.end(), part) == distinct.end()) distinct.push_back(std::move(part));
  }
  return distinct;
}

void expect_axes_read(const CompareProtocol& protocol, const std::string& name) {
  for (const GridAxis& axis : protocol.axes) {
    const bool is_read = std::any_of(protocol.combinations.begin(), protocol.combinations.end(), [&](const auto& own) {
      return std::any_of(own.begin(), own.end(), [&](const Combination& one) {
        return std::any_of(one.begin(), one.end(), [&](const std::string& s) { return key_of(s) == axis.key; });
      });
    });
    if (!is_read) throw UserError(fmt::format("{}: compare.grid.{} (no entrant reads it)", name, axis.key));
  }
}

}  // namespace

bool CompareProtocol::tunes() const {
  return std::any_of(combinations.begin(), combinations.end(), [](const auto& own) { return own.size() > 1; });
}

std::size_t CompareProtocol::tuning_runs() const {
  std::size_t places = 0;
  for (const auto& own : combinations) places += own.size();
  return tunes() ? places * tuning_seeds.size() : 0;
}

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
  for (const Entrant& entrant : p.entrants) p.combinations.push_back(combinations_of(p, entrant));
  expect_axes_read(p, name);
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
  for (Measure& metric : test_metrics(protocol.base)) table.metrics.push_back(std::move(metric));
  return table;
}

}  // namespace nudge
