// SPDX-License-Identifier: Apache-2.0
#include "training/compare/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"
#include "training/data/task.hpp"

namespace nudge {
namespace {

template <class T>
const std::vector<T>& values_of(const RowColumns& rows, const std::string& path) {
  const std::vector<T>* values = values_in<T>(rows, path);
  if (values == nullptr)
    throw UserError(fmt::format("/{} is missing or of another type: no file of nudge compare", path));
  return *values;
}

/// Converts the rows of a table to points. The texts of numbers are left empty: nothing that is written needs them.
Sweep table_of(const CompareProtocol& protocol, CompareStage stage, const RowColumns& rows) {
  Sweep table = empty_table(protocol, stage);
  if (rows.empty()) return table;
  const std::string group = stage == CompareStage::tuning ? "tuning/" : "test/";
  const auto& seeds = values_of<std::int64_t>(rows, group + "seed");
  const auto& statuses = values_of<std::string>(rows, group + "status");
  for (std::size_t i = 0; i < seeds.size(); ++i) table.points.push_back({{}, {}, seeds[i], statuses[i], {}});
  for (std::size_t k = 0; k < table.keys.size(); ++k) {
    const std::string path = group + table.keys[k];
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      table.points[i].numbers.push_back(table.numeric[k] ? values_of<double>(rows, path)[i] : std::nan(""));
      table.points[i].values.push_back(table.numeric[k] ? "" : values_of<std::string>(rows, path)[i]);
    }
  }
  for (const Measure& metric : table.metrics) {
    const auto& column = values_of<double>(rows, group + metric.name);
    for (std::size_t i = 0; i < seeds.size(); ++i) table.points[i].metrics.push_back(column[i]);
  }
  return table;
}

bool same_place(const SweepPoint& a, const SweepPoint& b, const std::vector<bool>& numeric) {
  for (std::size_t k = 0; k < numeric.size(); ++k) {
    if (numeric[k] ? a.numbers[k] != b.numbers[k] : a.values[k] != b.values[k]) return false;
  }
  return true;
}

/// Throws UserError for test runs at another point than the tuning chooses: a grid that has grown may have another best
/// point. `entrants`: with their choices; `name`: the config's name in messages.
void expect_tests_of_choices(const CompareProtocol& protocol, const Sweep& tuning, const Sweep& test,
                             const std::vector<ComparedEntrant>& entrants, const std::string& name) {
  std::size_t first = 0;  // of the entrant's places in the tuning
  for (std::size_t e = 0; e < entrants.size(); ++e) {
    const auto& own = protocol.combinations[e];
    const std::size_t begin = first;
    first += own.size();
    if (!entrants[e].choice) continue;
    const auto best = std::find(own.begin(), own.end(), entrants[e].choice->combination) - own.begin();
    const SweepPoint& chosen = tuning.points[(begin + static_cast<std::size_t>(best)) * protocol.tuning_seeds.size()];
    for (const SweepPoint& run : test.points) {
      if (run.values.front() != entrants[e].entrant.name || same_place(run, chosen, test.numeric)) continue;
      throw UserError(
          fmt::format("{}: the test runs of \"{}\" are not at the place that the whole tuning chooses (run them with "
                      "nudge compare --resume FILE, then merge)",
                      name, entrants[e].entrant.name));
    }
  }
}

}  // namespace

void write_merged_entrants(H5Document& document, const Config& config, const std::string& name,
                           const RowColumns& tuning, const RowColumns& test) {
  const CompareProtocol protocol = read_protocol(config, name);
  const Sweep tuned = table_of(protocol, CompareStage::tuning, tuning);
  const Sweep tested = table_of(protocol, CompareStage::tests, test);
  if (protocol.tunes() && tuned.points.size() != protocol.tuning_runs()) {
    throw UserError(fmt::format("{}: {} runs of the tuning are not those of its config", name, tuned.points.size()));
  }
  std::vector<ComparedEntrant> entrants = chosen_entrants(protocol, tuned);
  if (protocol.tunes()) expect_tests_of_choices(protocol, tuned, tested, entrants, name);
  summarise(protocol, tested, entrants);
  write_entrants(document, entrants, score_metric(config), intervals_hold(config));
}

}  // namespace nudge
