// SPDX-License-Identifier: Apache-2.0
#include "training/config/stuck_maps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "circuits/crossbar/mapping.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "training/data/readers/readers.hpp"

namespace nudge {
namespace {

constexpr double siemens_per_uS = 1e-6;
constexpr std::string_view second_suffix = ".minus";

/// "NAME=FILE", "NAME.minus=FILE", or "FILE", which is of the array without a network.
struct StuckEntry {
  std::string text, array, path;
  bool second = false;

  explicit StuckEntry(const std::string& whole) : text(whole), array(lone_array_name), path(whole) {
    const std::size_t equals = whole.find('=');
    if (equals == std::string::npos) return;
    array = whole.substr(0, equals);
    path = whole.substr(equals + 1);
    second = array.ends_with(second_suffix);
    if (second) array.resize(array.size() - second_suffix.size());
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw UserError(fmt::format("device.stuck_map: \"{}\": {}", text, problem));
  }
};

/// Largest conductance of a stuck device, in windows: a short of a hundred times g_max. More is a map in other units.
constexpr double kMostWindows = 100;

std::shared_ptr<const Matrix<double>> read_map(const StuckEntry& entry, Index rows, Index cols, double g_max_S) {
  const MatrixFile file = read_matrix_file(entry.path, "stuck map", EmptyFields::nan);
  const Matrix<double>& map = file.values;
  if (map.rows() != rows || map.cols() != cols) {
    const bool turned = map.rows() == cols && map.cols() == rows;
    throw UserError(fmt::format("{}: {} x {} (must be {} x {}, rows and columns of {}{}){}", file.name, map.rows(),
                                map.cols(), rows, cols, entry.array, entry.second ? second_suffix : "",
                                turned ? ": the transpose" : ""));
  }
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      const double most_uS = kMostWindows * g_max_S / siemens_per_uS;
      if (map(i, j) < 0 || map(i, j) > most_uS) {
        throw UserError(
            fmt::format("{}: {} uS (device.stuck_map: must be in [0, {:g}] uS, {:g} times device.g_max; the "
                        "file is read in uS)",
                        file.place(i, j), map(i, j), most_uS, kMostWindows));
      }
    }
  }
  return std::make_shared<const Matrix<double>>(siemens_per_uS * map);
}

}  // namespace

void check_stuck_names(const CrossbarSpec& spec, const std::vector<std::string>& names) {
  std::vector<std::string> seen;
  for (const std::string& text : spec.stuck.files) {
    const StuckEntry entry(text);
    if (std::find(names.begin(), names.end(), entry.array) == names.end()) {
      if (entry.path == text) entry.fail("a network has arrays by name (write \"NAME=FILE\")");
      entry.fail(fmt::format("unknown array {} ({})", entry.array, did_you_mean(entry.array, names)));
    }
    if (entry.path.empty()) entry.fail("must name a file (\"NAME=FILE\")");
    const std::string key = entry.array + (entry.second ? "-" : "+");
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) entry.fail("names an array twice");
    seen.push_back(key);
    if (spec.tokens.replicas() > 1) entry.fail("circuit.tokens = replicated has an array for each token");
    if (arrays_per_matrix(spec) > 1) {
      entry.fail(fmt::format("crossbar.update = {} has several arrays for each matrix",
                             find_rule(spec.programming.update)->name));
    }
  }
}

void set_stuck_map(CrossbarSpec& spec, const std::string& name, Index rows, Index cols) {
  for (const std::string& text : spec.stuck.files) {
    const StuckEntry entry(text);
    if (entry.array != name) continue;
    if (!entry.second) {
      spec.stuck.first_S = read_map(entry, rows, cols, spec.device.g_max_S);
      continue;
    }
    const Index second = make_mapping<double>(spec.mapping.kind)->second_columns(cols);
    if (second == 0) entry.fail(fmt::format("{} has no negative or reference devices (crossbar.mapping)", name));
    spec.stuck.second_S = read_map(entry, rows, second, spec.device.g_max_S);
  }
}

}  // namespace nudge
