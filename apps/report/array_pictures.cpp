// SPDX-License-Identifier: Apache-2.0
#include "apps/report/array_pictures.hpp"

#include <fmt/format.h>

namespace nudge::report {

namespace {

bool has_role(const H5Reader& file, const std::string& path, const std::string& role) {
  return file.has_attribute("role", path) && file.text_attribute("role", path) == role;
}

/// visit(array, dataset, path) for the datasets of GROUP/ARRAY/DATASET that have the role.
template <class Visit>
void each_of_role(const H5Reader& file, const std::string& group, const std::string& role, Visit visit) {
  if (!file.has(group)) return;
  for (const std::string& array : file.groups(group)) {
    const std::string at = fmt::format("{}/{}", group, array);
    for (const std::string& name : file.datasets(at)) {
      const std::string path = fmt::format("{}/{}", at, name);
      if (has_role(file, path, role)) visit(array, name, path);
    }
  }
}

}  // namespace

ArrayPictures load_array_pictures(const H5Reader& file) {
  ArrayPictures out;
  each_of_role(file, "ir_drop", "map", [&](const auto& array, const auto& name, const auto& path) {
    Matrix<double> values = file.matrix<double>(path, H5Shape{-1, -1});
    if (values.size() == 0) file.fail(path, "has no devices");
    out.ir_drop.push_back({array, name, file.meaning(path).description, std::move(values)});
  });
  each_of_role(file, "current", "series", [&](const auto& array, const auto& name, const auto& path) {
    const H5Meaning meaning = file.meaning(path);
    ColumnSeries one{array, name, meaning.unit, meaning.description, {}, file.reals<double>(path, H5Shape{-1})};
    one.column = file.reals<double>(file.text_attribute("x", path), H5Shape{-1});
    if (one.column.size() != one.value.size()) file.fail(path, "another length than its axis");
    out.currents.push_back(std::move(one));
  });
  return out;
}

}  // namespace nudge::report
