// SPDX-License-Identifier: Apache-2.0
#include "reference/case_kind.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace nudge {

const std::vector<CaseKind>& case_kinds() {
  static const std::vector<CaseKind> kinds = [] {
    std::vector<CaseKind> all = {{"eqblock", compute_eqblock},
                                 {"letnet", compute_letnet},
                                 {"hopnet", compute_hopnet},
                                 {"convnet", compute_hopnet},
                                 {"drn", compute_drn}};
    for (const auto& family : {attention_case_kinds(), free_energy_case_kinds(), read_case_kinds(),
                               free_transformer_case_kinds(), training_case_kinds()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return kinds;
}

Index positive_size(const H5Reader& file, const std::string& attribute) {
  const auto value = file.integer_attribute(attribute);
  if (value <= 0) file.fail("attribute " + attribute, fmt::format("{} (must be a positive integer)", value));
  constexpr std::int64_t largest = std::numeric_limits<int>::max();
  if (value > largest) file.fail("attribute " + attribute, fmt::format("{} (must be at most {})", value, largest));
  return static_cast<Index>(value);
}

H5Shape matrix_shape(const H5Reader& file, const std::string& dataset) {
  H5Shape shape = file.shape(dataset);
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1) {
    file.fail(dataset, fmt::format("shape {} (must be (rows, columns), both positive)", to_string(shape)));
  }
  return shape;
}

bool flag_of(const H5Reader& file, const std::string& attribute) {
  const auto value = file.integer_attribute(attribute);
  if (value != 0 && value != 1) file.fail("attribute " + attribute, fmt::format("{} (must be 0 or 1)", value));
  return value == 1;
}

double finite_real(const H5Reader& file, const std::string& attribute) {
  const double value = file.real_attribute(attribute);
  if (!std::isfinite(value)) file.fail("attribute " + attribute, fmt::format("{} (must be finite)", value));
  return value;
}

double positive_real(const H5Reader& file, const std::string& attribute) {
  const double value = finite_real(file, attribute);
  if (!(value > 0)) file.fail("attribute " + attribute, fmt::format("{} (must be > 0)", value));
  return value;
}

std::vector<int> bounded_integers(const H5Reader& file, const std::string& dataset, const H5Shape& shape, Index limit) {
  std::vector<int> values;
  for (const std::int64_t value : file.integers(dataset, shape)) {
    if (value < 0 || value >= limit) {
      file.fail(dataset, fmt::format("index {} at position {} (must be in [0, {}))", value, values.size(), limit));
    }
    values.push_back(static_cast<int>(value));
  }
  return values;
}

double euclidean_norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double each : x) sum += each * each;
  return std::sqrt(sum);
}

}  // namespace nudge
