// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/io/h5_reader.hpp"

namespace nudge {

/// The dimension scales of a file, stored as HDF5's dimension-scale specification and netCDF-4 ask. By them readers name the
/// axes of a dataset and know their coordinates (h5py: dataset.dims[i][0]; xarray.open_dataset(file, group=...,
/// engine="h5netcdf")). The scale of a dimension is a dataset of one dimension and the same length, in the same group. The
/// attribute "x" of the dataset names it, or it has the name of the dimension. A dimension without one gets a scale without
/// values in the root, as netCDF-4 does. This scale has the dimension's name. The length stands behind the name if dimensions of
/// that name have several lengths, or if a dataset has this name. Our readers do not list these (is_bare_scale()). Source: HDF5
/// Dimension Scale Specification 1.0.4; NetCDF-4 file format, "Dimensions".
class H5Scales {
 public:
  /// A dataset that is to be written, by its path without leading slash; `x`: its attribute of that name, or empty.
  void add(const std::string& path, const H5Shape& shape, const std::vector<std::string>& dimensions,
           const std::string& x);

  /// A group or another object that a scale in the root must not be named like.
  void reserve(const std::string& name) { taken_.insert(name.substr(0, name.find('/'))); }

  /// Writes scales and references into the file, in which every dataset is. Throws std::runtime_error when HDF5 does.
  void write(hid_t file) const;

 private:
  struct Data {
    H5Shape shape;
    std::vector<std::string> dimensions;
    std::string x;
  };
  std::string coordinate(const std::string& path, const Data& data, std::size_t axis) const;
  static std::string label(const Data& data, std::size_t axis);
  std::string bare_name(const std::string& label, Index length) const;

  std::map<std::string, Data> data_;
  std::map<std::string, std::set<Index>> lengths_;  ///< lengths of dimensions by label
  std::set<std::string> taken_;
};

/// True if an open dataset is a scale without values.
bool is_bare_scale(hid_t dataset);

/// The names of a dataset's dimensions as its file has them, or none where they do not name every dimension.
std::vector<std::string> dimension_names(std::vector<std::string> labels, const H5Shape& shape);

}  // namespace nudge
