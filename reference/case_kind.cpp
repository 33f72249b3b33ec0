// SPDX-License-Identifier: Apache-2.0
#include "reference/case_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <variant>

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/h5_document.hpp"

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

void expect_reals(const H5Reader& file, const std::string& dataset, bool& float32) {
  const H5Type type = file.type(dataset);
  if (type != H5Type::real32 && type != H5Type::real64) {
    file.fail(dataset, fmt::format("type float64 or float32 expected, found {}", to_string(type)));
  }
  float32 = float32 || type == H5Type::real32;
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

void CaseWriter::add(const std::string& name, H5Shape shape, const Matrix<double>& values, CaseTolerance tolerance,
                     CaseError error, const std::string& scale) {
  // In every build: what is written must be what the cases' documents define.
  if (std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>()) != values.size()) {
    contract_violated((name + ": number of values").c_str(), __FILE__, __LINE__);
  }
  all_.push_back({"out/" + name, std::move(shape), std::vector<double>(values.data(), values.data() + values.size()),
                  float32_ ? tolerance.narrow : tolerance.wide, error, scale});
}

void CaseWriter::list(const std::string& name, const std::vector<double>& values, CaseTolerance tolerance,
                      CaseError error) {
  const auto count = static_cast<Index>(values.size());
  add(name, {count}, Eigen::Map<const Matrix<double>>(values.data(), 1, count), tolerance, error);
}

namespace {

const CaseKind& kind_of(const H5Reader& file) {
  const std::string name = file.text_attribute("kind");
  std::vector<std::string> names;
  for (const CaseKind& kind : case_kinds()) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  file.fail("attribute kind", fmt::format("unknown kind \"{}\" ({})", name, did_you_mean(name, names)));
}

double error_of(const CaseDataset& data, const std::vector<double>& reference, const H5Reader& file) {
  std::vector<double> difference(reference.size());
  for (std::size_t i = 0; i < reference.size(); ++i) difference[i] = data.values[i] - reference[i];
  double scale = 1;
  if (data.error == CaseError::relative) {
    scale = std::max(euclidean_norm(reference), data.least_scale);
  } else if (data.error == CaseError::relative_to && file.has(data.scale)) {
    scale = euclidean_norm(file.reals<double>(data.scale));
  }
  return euclidean_norm(difference) / (scale > 0 ? scale : 1.0);
}

}  // namespace

CaseOutcome run_case(const std::filesystem::path& input, const std::optional<std::filesystem::path>& output) {
  const H5Reader file(input);
  const CaseKind& kind = kind_of(file);
  if (output) check_output_path(*output, Overwrite::must_not_exist);
  for (const std::string& name : file.attributes()) {
    const H5Attribute value = file.attribute(name);
    const auto* real = std::get_if<double>(&value);
    if (real != nullptr && !std::isfinite(*real))
      file.fail("attribute " + name, fmt::format("{} (must be finite)", *real));
  }
  const std::vector<CaseDataset> datasets = kind.compute(file);
  CaseOutcome outcome;
  if (kind.remarks != nullptr) outcome.report += kind.remarks(file);
  H5Document document;
  document.copy_root_attributes(file);
  for (const CaseDataset& data : datasets) {
    document.dataset(data.name, data.values, data.shape, {"1", "computed by nudge case, kind " + kind.name, {}});
    if (!file.has(data.name)) continue;
    const double error = error_of(data, file.reals<double>(data.name, data.shape, NonFinite::rejected), file);
    const bool ok = error <= data.tolerance;
    ++outcome.compared;
    outcome.failed += ok ? 0 : 1;
    outcome.report += fmt::format("{:<28} error {:9.3e}  tolerance {:7.1e}  {}\n", data.name, error, data.tolerance,
                                  ok ? "ok" : "FAIL");
  }
  if (output) document.write(*output, Overwrite::must_not_exist);
  outcome.report += fmt::format("{}: kind {}, {} datasets computed, {} compared, {} failed\n", input.string(),
                                kind.name, datasets.size(), outcome.compared, outcome.failed);
  return outcome;
}

}  // namespace nudge
