// SPDX-License-Identifier: Apache-2.0
#include "sim/io/h5_scales.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/io/h5_handle.hpp"

namespace nudge {
namespace {

constexpr const char* kBare = "This is a netCDF dimension but not a netCDF variable.";  // netCDF-4's words

struct Reference {
  hobj_ref_t dataset;
  int dimension;
};

/// Name for programs, made from a label such as "parameter group".
std::string name_of(std::string label) {
  std::replace_if(
      label.begin(), label.end(), [](char c) { return c == ' ' || c == '/'; }, '_');
  return label;
}

/// True if HDF5 takes the label as the name of a dataset.
bool is_name(const std::string& label) {
  return !label.empty() && label != "." && label.find('\0') == std::string::npos;
}

std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string group_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

hobj_ref_t reference_to(hid_t file, const std::string& path) {
  hobj_ref_t out{};
  h5_need(H5Rcreate(&out, file, path.c_str(), H5R_OBJECT, -1) >= 0, "a reference to " + path);
  return out;
}

void write_text(hid_t object, const char* name, const std::string& text) {
  const H5Handle type = h5_made(H5Tcopy(H5T_C_S1), H5Tclose, name);
  h5_need(H5Tset_size(type.id(), text.size() + 1) >= 0, name);
  h5_write_attribute(object, name, type.id(), text.c_str());
}

/// A dataset of `length` numbers that are never written: no bytes but its header.
void make_bare(hid_t file, const std::string& path, Index length) {
  const auto size = static_cast<hsize_t>(length);
  const H5Handle space = h5_made(H5Screate_simple(1, &size, nullptr), H5Sclose, "dimension " + path);
  const H5Handle made(H5Dcreate2(file, path.c_str(), H5T_IEEE_F32BE, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                      H5Dclose);
  h5_need(made.ok(), fmt::format("dimension {}", path));
  write_text(made.id(), "unit", "1");
  write_text(made.id(), "description", "a dimension without coordinates: it has a length and no values");
}

/// Makes a dataset a scale by writing its class, its name, and the places where it is used.
void make_scale(hid_t file, const std::string& path, const std::string& name, const std::vector<Reference>& used) {
  const H5Handle scale(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
  h5_need(scale.ok(), "scale " + path);
  write_text(scale.id(), "CLASS", "DIMENSION_SCALE");
  write_text(scale.id(), "NAME", name);
  const H5Handle type = h5_made(H5Tcreate(H5T_COMPOUND, sizeof(Reference)), H5Tclose, "scale " + path);
  h5_need(H5Tinsert(type.id(), "dataset", HOFFSET(Reference, dataset), H5T_STD_REF_OBJ) >= 0 &&
              H5Tinsert(type.id(), "dimension", HOFFSET(Reference, dimension), H5T_NATIVE_INT) >= 0,
          "scale " + path);
  const hsize_t count = used.size();
  if (count > 0) h5_write_attribute(scale.id(), "REFERENCE_LIST", type.id(), used.data(), &count);
}

}  // namespace

void H5Scales::add(const std::string& path, const H5Shape& shape, const std::vector<std::string>& dimensions,
                   const std::string& x) {
  reserve(path);
  taken_.insert(base_of(path));  // a dataset of another shape must not have the name of a dimension
  data_[path] = {shape, dimensions, x};
}

/// The dataset that holds the coordinates of a dimension; empty: none.
std::string H5Scales::coordinate(const std::string& path, const Data& data, std::size_t axis) const {
  const auto fits = [&](const std::string& other) {
    const auto found = data_.find(other);
    return found != data_.end() && found->second.shape == H5Shape{data.shape[axis]} &&
           found->second.dimensions.size() == 1;
  };
  if (axis == 0 && !data.x.empty() && group_of(data.x) == group_of(path) && fits(data.x)) return data.x;
  const std::string same = group_of(path) + name_of(data.dimensions[axis]);
  return fits(same) ? same : "";
}

/// Name of a dimension without coordinates: that of its axis in another group, or its own.
std::string H5Scales::label(const Data& data, std::size_t axis) {
  const std::string x = base_of(data.x);
  return name_of(axis == 0 && is_name(x) ? x : data.dimensions[axis]);
}

std::string H5Scales::bare_name(const std::string& label, Index length) const {
  std::string name = label;
  if (lengths_.at(label).size() > 1 || taken_.contains(name)) name = fmt::format("{}_{}", name, length);
  while (taken_.contains(name)) name += "_";
  return name;
}

void H5Scales::write(hid_t file) const {
  H5Scales known = *this;  // with the lengths of the dimensions that have no coordinates
  std::map<std::string, std::vector<std::string>> scales_of;
  std::set<std::string> coordinates;
  for (const auto& [path, data] : data_) {
    auto& scales = scales_of[path];
    for (std::size_t axis = 0; axis < data.dimensions.size(); ++axis) {
      scales.push_back(coordinate(path, data, axis));
      if (!scales.back().empty()) coordinates.insert(scales.back());
    }
  }
  for (const auto& [path, scales] : scales_of) {
    if (coordinates.contains(path)) continue;  // a scale has none itself
    for (std::size_t axis = 0; axis < scales.size(); ++axis) {
      const Data& data = data_.at(path);
      if (scales[axis].empty()) known.lengths_[label(data, axis)].insert(data.shape[axis]);
    }
  }
  std::map<std::string, std::vector<Reference>> used;
  std::map<std::string, Index> bare;
  for (const auto& [path, scales] : scales_of) {
    if (coordinates.contains(path) || scales.empty()) continue;
    std::vector<hobj_ref_t> references(scales.size());
    std::vector<hvl_t> list;
    const Data& data = data_.at(path);
    for (std::size_t axis = 0; axis < scales.size(); ++axis) {
      std::string scale = scales[axis];
      if (scale.empty()) {
        scale = known.bare_name(label(data, axis), data.shape[axis]);
        if (bare.try_emplace(scale, data.shape[axis]).second) make_bare(file, scale, data.shape[axis]);
      }
      used[scale].push_back({reference_to(file, path), static_cast<int>(axis)});
      references[axis] = reference_to(file, scale);
      list.push_back({1, &references[axis]});
    }
    const H5Handle type = h5_made(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose, "dimensions of " + path);
    const H5Handle dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
    h5_need(dataset.ok(), "dimensions of " + path);
    const hsize_t count = list.size();
    h5_write_attribute(dataset.id(), "DIMENSION_LIST", type.id(), list.data(), &count);
  }
  for (const std::string& path : coordinates) make_scale(file, path, base_of(path), used[path]);
  for (const auto& [name, length] : bare) {
    make_scale(file, name, fmt::format("{}{:>10}", kBare, length), used[name]);
  }
}

bool is_bare_scale(hid_t dataset) {
  if (H5Aexists(dataset, "NAME") <= 0) return false;
  const H5Handle attribute(H5Aopen(dataset, "NAME", H5P_DEFAULT), H5Aclose);
  const H5Handle type(H5Aget_type(attribute.id()), H5Tclose);
  if (!attribute.ok() || H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) > 0) return false;
  std::string text(H5Tget_size(type.id()), '\0');
  return H5Aread(attribute.id(), type.id(), text.data()) >= 0 && text.starts_with(kBare);
}

std::vector<std::string> dimension_names(std::vector<std::string> labels, const H5Shape& shape) {
  if (labels.size() != shape.size() || !std::all_of(labels.begin(), labels.end(), is_name)) return {};
  return labels;
}

}  // namespace nudge
