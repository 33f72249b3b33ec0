// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/numerics.hpp"

namespace nudge::test {

struct DrnReals {
  std::vector<double> values;
  H5Shape shape;
};

/// A drn case: one that the tests make up, without references, or one of the reference cases. Made up: B = 2, n_in = 3,
/// widths 6, 5, 4, 3, L = 3, N = 12, rails; no two sizes that meet in a shape are equal.
struct DrnFile {
  std::map<std::string, H5Attribute> attributes{
      {"kind", std::string("drn")}, {"bias", std::string("node")}, {"B", std::int64_t{2}}, {"L", std::int64_t{3}},
      {"N", std::int64_t{12}},      {"sweeps2", std::int64_t{2}},  {"beta", 0.05},         {"v_bias", 0.7},
  };
  std::vector<std::int64_t> widths{6, 5, 4, 3};
  std::map<std::string, DrnReals> reals;
  std::map<std::string, DrnReals> integers;  ///< datasets of another type than they should be
  bool narrow = false;                       ///< reals as float32

  DrnFile() {
    std::uint64_t seed = 300;
    for (std::size_t l = 1; l < widths.size(); ++l) {
      const double scale = 1 / std::sqrt(static_cast<double>(widths[l - 1]));
      add_positive("params/g" + std::to_string(l), {widths[l - 1], widths[l]}, scale, ++seed);
      add_positive("params/gb" + std::to_string(l), {2, widths[l]}, 0.1, ++seed);
    }
    reals["inputs/gain"] = {{3.0, 2.0, 1.5}, {3}};
    add("inputs/x", {2, 3}, ++seed);
    add("inputs/y", {2, 3}, ++seed);
    add("inputs/v", {2, 12}, ++seed);
    for (const char* name : {"inputs/v_init", "inputs/z0"}) {
      add(name, {2, 12}, ++seed);
      for (std::size_t i = 0; i < 24; ++i) {  // above 0: the first two of five, the first two of four
        double& v = reals[name].values[i];
        const std::size_t node = i % 12;
        if (node < 9) v = (node < 2 || node == 5 || node == 6) ? std::abs(v) : -std::abs(v);
      }
    }
  }

  /// All of a file, or all but its references.
  DrnFile(const std::string& path, bool references) {
    const H5Reader file(path);
    attributes.clear();
    for (const std::string& name : file.attributes()) attributes[name] = file.attribute(name);
    widths = file.integer_list_attribute("widths");
    for (const std::string& name : file.all_datasets()) {
      if (references || name.rfind("out/", 0) != 0) reals[name] = {file.reals<double>(name), file.shape(name)};
    }
  }

  static H5Shape::value_type count(const H5Shape& shape) {
    Index size = 1;
    for (const Index n : shape) size *= n;
    return size;
  }
  void add(const std::string& name, const H5Shape& shape, std::uint64_t seed) {
    const Matrix<double> m = random_matrix<double>(1, count(shape), seed);
    reals[name] = {std::vector<double>(m.data(), m.data() + m.size()), shape};
  }
  void add_positive(const std::string& name, const H5Shape& shape, double scale, std::uint64_t seed) {
    add(name, shape, seed);
    for (double& value : reals[name].values) value = scale * std::abs(value);
  }

  /// Other sizes of a dataset; the numbers are kept as far as they reach and repeated from the first.
  void reshape(const std::string& name, const H5Shape& shape) {
    DrnReals& data = reals.at(name);
    const std::vector<double> old = data.values;
    data.values.resize(static_cast<std::size_t>(count(shape)));
    for (std::size_t i = 0; i < data.values.size(); ++i) data.values[i] = old[i % old.size()];
    data.shape = shape;
  }

  /// Writes the case into the folder and returns its path.
  std::string write(const Folder& folder, const std::string& name = "case.h5") const {
    H5Document document;
    for (const auto& [key, value] : attributes) document.attribute(key, value);
    if (!widths.empty()) document.attribute_list("widths", widths);
    for (const auto& [key, data] : reals) {
      if (narrow) {
        document.dataset(key, std::vector<float>(data.values.begin(), data.values.end()), data.shape, {});
      } else {
        document.dataset(key, data.values, data.shape, {});
      }
    }
    for (const auto& [key, data] : integers) {
      document.dataset(key, std::vector<std::int64_t>(data.values.begin(), data.values.end()), data.shape, {});
    }
    document.write(folder.file(name), Overwrite::replace);
    return folder.file(name);
  }
};

}  // namespace nudge::test
