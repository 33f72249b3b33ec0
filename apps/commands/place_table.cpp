// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/place_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "apps/commands/fit_answers.hpp"
#include "devices/fit/column_words.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

bool is_place_table(const MeasuredText& text) {
  const auto& names = text.header.cells;
  const auto has = [&](const char* known) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return rank_of(name, {known, Unit::none, false}).has_value();
    });
  };
  return names.size() > 2 && has("row") && has("column");
}

void refuse_tiny(const ArrayFile& file, const std::string& siemens) {
  const double most = file.values.maxCoeff();
  if (!(most > 0 && most < 1e-9)) return;
  throw UserError(fmt::format("{}: {:g} uS at most: are these siemens? Say {} (or uS there if not)", file.name,
                              1e6 * most, siemens));
}

namespace {

/// Numbers of lines in their order: numbers grow, names stand as in the file.
std::map<double, Index> places_of(const std::vector<double>& column) {
  std::vector<double> sorted = column;
  // Names are -1, -2, ...: the first one comes first.
  std::sort(sorted.begin(), sorted.end(), [](double a, double b) { return a < 0 && b < 0 ? a > b : a < b; });
  std::map<double, Index> places;
  for (const double one : sorted) places.emplace(one, static_cast<Index>(places.size()));
  return places;
}

}  // namespace

void read_place_table(const std::string& bytes, const std::string& path, const ArrayKind& kind, ArrayFile& out) {
  const LongTable table = read_and_tell(out.look, [&] {
    return parse_long_table(bytes, path, {{"row", Unit::none, true}, {"column", Unit::none, true}, kind.column},
                            {"row", "column", kind.one}, out.look);
  });
  const std::map<double, Index> rows = places_of(table.columns[0]), columns = places_of(table.columns[1]);
  out.values = Matrix<double>::Constant(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()),
                                        std::numeric_limits<double>::quiet_NaN());
  std::map<std::pair<Index, Index>, int> lines;
  for (std::size_t k = 0; k < table.lines.size(); ++k) {
    const Index i = rows.at(table.columns[0][k]), j = columns.at(table.columns[1][k]);
    const auto [at, fresh] = lines.emplace(std::pair(i, j), table.lines[k]);
    if (!fresh) {
      csv_fail(fmt::format("{}:{}", path, table.lines[k]),
               fmt::format("row {:g}, column {:g} stands in line {} too", table.columns[0][k], table.columns[1][k],
                           at->second));
    }
    const double g = table.columns[2][k];
    if (g < 0 && !kind.negative)
      csv_fail(fmt::format("{}:{}", path, table.lines[k]), fmt::format("conductance {:g} S is negative", g));
    out.values(i, j) = g;
  }
  for (Index i = 0; i < out.values.rows(); ++i) {
    for (Index j = 0; j < out.values.cols(); ++j) {
      if (!std::isnan(out.values(i, j))) continue;
      csv_fail(path, fmt::format("the cell in row {} and column {} of {} x {}, counted from 0, has no reading", i, j,
                                 out.values.rows(), out.values.cols()));
    }
  }
  Understood& said = out.look.understood.back();
  said.notes.push_back(fmt::format("an array of {} rows and {} columns", out.values.rows(), out.values.cols()));
  for (const Understood::Column& one : said.columns) {
    if (one.meaning == "conductance" && one.unit.starts_with("uS ("))
      refuse_tiny(out, fmt::format("--columns \"conductance={} S\"", one.name));
  }
}

}  // namespace nudge
