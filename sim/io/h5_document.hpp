// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "sim/io/atomic_file.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// The contents of an HDF5 file to be written, kept in memory. Everything is rewritten at each write, so the path holds a complete,
/// closed HDF5 file at every moment. Others may read it while a run goes on, and a killed run leaves a file that opens. Datasets are
/// chunked with Fletcher-32 checksums, and the whole file ends with a seal (descriptor.hpp), so that damage is noticed when reading.
class H5Document {
 public:
  /// Sets a single-valued attribute of an object; the object "/" is the root. The object must exist by the time of writing.
  void attribute(const std::string& name, H5Attribute value, const std::string& object = "/");

  /// Sets an attribute that is a list of integers. The object must exist by the time of writing.
  void attribute_list(const std::string& name, std::vector<std::int64_t> values, const std::string& object = "/");

  /// Adds a group; parents of datasets come by themselves.
  void group(const std::string& path, const std::string& description = "");

  /// Adds or replaces a dataset of float32, float64, int64 or text, row-major. Needs values.size() = product of shape.
  template <class T>
  void dataset(const std::string& path, std::vector<T> values, H5Shape shape, H5Meaning meaning);

  /// Adds or replaces a one-dimensional dataset.
  template <class T>
  void column(const std::string& path, std::vector<T> values, H5Meaning meaning) {
    const H5Shape shape{static_cast<Index>(values.size())};
    dataset(path, std::move(values), shape, std::move(meaning));
  }

  /// Adds or replaces a two-dimensional dataset of float or double, in that precision.
  template <class S>
  void matrix(const std::string& path, ConstMatrixRef<S> values, H5Meaning meaning);

  /// Copies the root attributes of another file that are a single value or a list of integers.
  void copy_root_attributes(const H5Reader& reader);

  /// The bytes of the HDF5 file and its seal. Throws UserError where a dataset would be the group of another.
  std::vector<std::byte> bytes() const;

  /// Writes the file by write_atomically() of sim/io/atomic_file.hpp.
  void write(const std::filesystem::path& path, Overwrite overwrite) const;

 private:
  using Values =
      std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>>;
  struct Dataset {
    Values values;
    H5Shape shape;
    H5Meaning meaning;
  };
  struct Writer;
  void check_groups() const;

  std::map<std::string, std::string> groups_;  // path -> description; paths without leading slash
  std::map<std::string, Dataset> datasets_;
  std::map<std::string, std::map<std::string, H5Attribute>> attributes_;  // object -> name -> value; the root is ""
  std::map<std::string, std::map<std::string, std::vector<std::int64_t>>> lists_;  // the same
};

}  // namespace nudge
