// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/merge_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace nudge {

std::size_t RowColumn::size() const {
  return std::visit([](const auto& all) { return all.size(); }, values);
}

bool RowColumn::same(std::size_t row, const RowColumn& other, std::size_t other_row) const {
  if (values.index() != other.values.index()) return false;
  if (const auto* real = std::get_if<std::vector<double>>(&values)) {
    const double mine = (*real)[row], theirs = std::get<std::vector<double>>(other.values)[other_row];
    return std::bit_cast<std::uint64_t>(mine) == std::bit_cast<std::uint64_t>(theirs);
  }
  if (const auto* text = std::get_if<std::vector<std::string>>(&values))
    return (*text)[row] == std::get<std::vector<std::string>>(other.values)[other_row];
  return std::get<std::vector<std::int64_t>>(values)[row] ==
         std::get<std::vector<std::int64_t>>(other.values)[other_row];
}

bool RowColumn::is_nan(std::size_t row) const { return is_real() && std::isnan(std::get<0>(values)[row]); }

void RowColumn::take(std::size_t row, const RowColumn& other) {
  std::visit([&](auto& mine) { mine.push_back(std::get<std::decay_t<decltype(mine)>>(other.values)[row]); }, values);
}

void RowColumn::take_nan() { std::get<0>(values).push_back(std::numeric_limits<double>::quiet_NaN()); }

RowColumn RowColumn::none() const {
  RowColumn empty = *this;
  std::visit([](auto& all) { all.clear(); }, empty.values);
  return empty;
}

RowColumn RowColumn::read(const H5Reader& file, const std::string& dataset) {
  RowColumn column{{}, file.meaning(dataset)};
  switch (file.type(dataset)) {
    case H5Type::text: column.values = file.texts(dataset, H5Shape{-1}); break;
    case H5Type::integer: column.values = file.integers(dataset, H5Shape{-1}); break;
    default: column.values = file.reals<double>(dataset, H5Shape{-1}); break;
  }
  return column;
}

void RowColumn::write(H5Document& document, const std::string& dataset) const {
  std::visit([&](const auto& all) { document.column(dataset, all, meaning); }, values);
}

RowColumns read_columns(const H5Reader& file, const std::string& group) {
  RowColumns columns;
  if (!file.has(group)) return columns;
  for (const std::string& name : file.datasets(group)) {
    const std::string path = fmt::format("{}/{}", group, name);
    columns.emplace(path, RowColumn::read(file, path));
  }
  return columns;
}

bool same_row(const RowColumns& a, std::size_t row_a, const RowColumns& b, std::size_t row_b) {
  const auto covered = [](const RowColumns& one, std::size_t row, const RowColumns& other, std::size_t other_row) {
    return std::all_of(one.begin(), one.end(), [&](const auto& entry) {
      const auto& [path, column] = entry;
      if (path.ends_with("/seconds")) return true;
      const auto at = other.find(path);
      return at == other.end() ? column.is_nan(row) : column.same(row, at->second, other_row);
    });
  };
  return covered(a, row_a, b, row_b) && covered(b, row_b, a, row_a);
}

void append_row(RowColumns& columns, const RowColumns& from, std::size_t row) {
  for (auto& [path, column] : columns) {
    const auto at = from.find(path);
    at == from.end() ? column.take_nan() : column.take(row, at->second);
  }
}

}  // namespace nudge
