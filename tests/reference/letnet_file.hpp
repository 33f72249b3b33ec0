// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/io/h5_document.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/numerics.hpp"

namespace nudge::test {

struct LetnetReals {
  std::vector<double> values;
  H5Shape shape;
};
struct LetnetIntegers {
  std::vector<std::int64_t> values;
  H5Shape shape;
};

/// A letnet case that the tests make up, without references: B = 2, T = 3, C = 4, H = 2, M = 5, V = 7, L = 2, K = 2, so
/// n = 8; learned positions, gelu, no feedback. No two sizes that meet in a shape are equal but C's own.
struct LetnetFile {
  std::map<std::string, H5Attribute> attributes{
      {"kind", std::string("letnet")},
      {"activation", std::string("gelu")},
      {"B", std::int64_t{2}},
      {"T", std::int64_t{3}},
      {"C", std::int64_t{4}},
      {"H", std::int64_t{2}},
      {"M", std::int64_t{5}},
      {"V", std::int64_t{7}},
      {"L", std::int64_t{2}},
      {"K", std::int64_t{2}},
      {"n", std::int64_t{8}},
      {"T1", std::int64_t{6}},
      {"T2", std::int64_t{9}},
      {"rope", std::int64_t{0}},
      {"eps", 0.9},
      {"kappa", 0.0},
      {"beta", 0.05},
      {"beta_frozen", 2.0},
      {"beta_aep", 1e-3},
  };
  std::map<std::string, LetnetReals> reals;
  std::map<std::string, LetnetIntegers> integers{{"inputs/idx", {{0, 1, 2, 6, 4, 3}, {2, 3}}},
                                                 {"inputs/targets", {{1, 2, 0, 4, 3, 6}, {2, 3}}}};
  bool narrow = false;  ///< reals as float32

  LetnetFile() {
    std::uint64_t seed = 80;
    for (const char* name : {"inputs/z0", "inputs/v", "inputs/u"}) add(name, {2, 8, 3, 4}, 1.0, ++seed);
    add("params/tok", {7, 4}, 1.0, ++seed);
    add("params/pos", {3, 4}, 0.5, ++seed);
    for (const char* name : {"params/Wq", "params/Wk", "params/Wv", "params/Wo"}) add(name, {2, 4, 4}, 0.4, ++seed);
    add("params/W1", {2, 4, 5}, 0.4, ++seed);
    add("params/W2", {2, 5, 4}, 0.4, ++seed);
    add("params/Wh", {4, 7}, 0.5, ++seed);
  }

  /// The same network with rotary positions.
  static LetnetFile rotary() {
    LetnetFile file;
    file.attributes["rope"] = std::int64_t{1};
    file.reals.erase("params/pos");
    return file;
  }

  void add(const std::string& name, const H5Shape& shape, double scale, std::uint64_t seed) {
    Index size = 1;
    for (const Index n : shape) size *= n;
    const Matrix<double> m = random_matrix<double>(1, size, seed, scale);
    reals[name] = {std::vector<double>(m.data(), m.data() + size), shape};
  }

  /// Other sizes of a dataset; the numbers are kept as far as they reach and repeated from the first.
  void reshape(const std::string& name, const H5Shape& shape) {
    std::size_t size = 1;
    for (const Index n : shape) size *= static_cast<std::size_t>(n);
    LetnetReals& data = reals.at(name);
    const std::vector<double> old = data.values;
    data.values.resize(size);
    for (std::size_t i = 0; i < size; ++i) data.values[i] = old[i % old.size()];
    data.shape = shape;
  }

  /// Writes the case into the folder and returns its path.
  std::string write(const Folder& folder, const std::string& name = "case.h5",
                    const std::function<void(H5Document&)>& last = {}) const {
    H5Document document;
    for (const auto& [key, value] : attributes) document.attribute(key, value);
    for (const auto& [key, data] : reals) {
      if (narrow) {
        document.dataset(key, std::vector<float>(data.values.begin(), data.values.end()), data.shape, {});
      } else {
        document.dataset(key, data.values, data.shape, {});
      }
    }
    for (const auto& [key, data] : integers) document.dataset(key, data.values, data.shape, {});
    if (last) last(document);
    document.write(folder.file(name), Overwrite::replace);
    return folder.file(name);
  }
};

}  // namespace nudge::test
