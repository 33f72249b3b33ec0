// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/io/h5_document.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/numerics.hpp"

namespace nudge::test {

/// A hopnet or convnet case that the tests make up, without references: B = 2.
struct HopnetFile {
  struct Reals {
    std::vector<double> values;
    H5Shape shape;
  };
  std::map<std::string, H5Attribute> attributes{
      {"kind", std::string("hopnet")},
      {"form", std::string("energy")},
      {"activation", std::string("tanh")},
      {"output_activation", std::string("identity")},
      {"cost", std::string("squared_error")},
      {"asymmetric", std::int64_t{0}},
      {"B", std::int64_t{2}},
      {"T1", std::int64_t{60}},
      {"T2", std::int64_t{40}},
      {"beta", 0.05},
      {"eps", 0.2},
  };
  std::map<std::string, std::vector<std::int64_t>> lists;
  std::map<std::string, Reals> reals;
  std::map<std::string, std::vector<std::int64_t>> targets;

  /// Layers of these widths, the clamped one first.
  static HopnetFile dense(const std::vector<std::int64_t>& widths) {
    HopnetFile file;
    file.lists["widths"] = widths;
    for (std::size_t l = 1; l < widths.size(); ++l) {
      file.add("params/W" + std::to_string(l), {widths[l - 1], widths[l]}, 0.25);
      file.add("params/b" + std::to_string(l), {widths[l]}, 0.2);
    }
    file.finish({2, widths[0]});
    return file;
  }

  /// One map of 4 × 6; kernels 3 × 3 to two maps pooled by 2, kernels to three maps not pooled, a dense layer of 4.
  static HopnetFile convolutional() {
    HopnetFile file;
    file.attributes["kind"] = std::string("convnet");
    file.lists["widths"] = {24, 12, 18, 4};
    file.lists["pool"] = {2, 1};
    file.add("params/K1", {2, 1, 3, 3}, 0.4);
    file.add("params/K2", {3, 2, 3, 3}, 0.15);
    file.add("params/W3", {18, 4}, 0.25);
    file.add("params/b1", {2}, 0.2);
    file.add("params/b2", {3}, 0.2);
    file.add("params/b3", {4}, 0.2);
    file.finish({2, 1, 4, 6});
    return file;
  }

  HopnetFile& cross_entropy() {
    attributes["cost"] = std::string("cross_entropy");
    reals.erase("inputs/y");
    add("params/Wo", {lists["widths"].back(), 3}, 0.5);
    add("params/bo", {3}, 0.2);
    targets["inputs/targets"] = {2, 0};
    return *this;
  }

  HopnetFile& asymmetric() {
    attributes["asymmetric"] = std::int64_t{1};
    const auto& widths = lists["widths"];
    for (std::size_t l = 2; l < widths.size(); ++l) {
      const std::string n = std::to_string(l);
      if (reals.count("params/K" + n) > 0) {
        add("params/Kb" + n, reals["params/K" + n].shape, 0.15);
      } else {
        add("params/B" + n, {widths[l], widths[l - 1]}, 0.25);
      }
    }
    return *this;
  }

  HopnetFile& activations(const std::string& form, const std::string& hidden, const std::string& output) {
    attributes["form"] = form;
    attributes["activation"] = hidden;
    attributes["output_activation"] = output;
    const bool boxed = form == "projected" || hidden == "relu" || hidden == "hard_sigmoid";
    for (const char* name : {"inputs/s_init", "inputs/z0"}) {
      for (double& z : reals[name].values) z = boxed ? 0.3 + 0.4 / (1 + z * z) : z;
    }
    return *this;
  }

  void add(const std::string& name, const H5Shape& shape, double scale) {
    Index size = 1;
    for (const Index n : shape) size *= n;
    const Matrix<double> m = random_matrix<double>(1, size, 100 + reals.size(), scale);
    reals[name] = {std::vector<double>(m.data(), m.data() + size), shape};
  }

  std::string write(const Folder& folder) const {
    H5Document document;
    for (const auto& [key, value] : attributes) document.attribute(key, value);
    for (const auto& [key, values] : lists) document.attribute_list(key, values);
    for (const auto& [key, data] : reals) document.dataset(key, data.values, data.shape, {});
    for (const auto& [key, values] : targets) {
      document.dataset(key, values, {static_cast<Index>(values.size())}, {});
    }
    document.write(folder.file("case.h5"), Overwrite::replace);
    return folder.file("case.h5");
  }

 private:
  void finish(const H5Shape& x) {
    const auto& widths = lists["widths"];
    std::int64_t units = 0;
    for (std::size_t l = 1; l < widths.size(); ++l) units += widths[l];
    attributes["L"] = static_cast<std::int64_t>(widths.size()) - 1;
    attributes["N"] = units;
    add("inputs/x", x, 0.5);
    add("inputs/y", {2, widths.back()}, 0.5);
    for (const char* name : {"s_init", "z0", "v", "u"}) add(std::string("inputs/") + name, {2, units}, 0.3);
  }
};

}  // namespace nudge::test
