// SPDX-License-Identifier: Apache-2.0
#include "training/data/samples.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/errors.hpp"
#include "training/data/data_options.hpp"

namespace nudge {
namespace {

/// Checks a key that only means something beside another one.
void expect_beside(const std::string& key, const std::string& value, const std::string& other,
                   const std::string& there) {
  if (value.empty() || !there.empty()) return;
  throw UserError(fmt::format("{} = \"{}\" says something about {}, which is empty", key, value, other));
}

/// Chooses the test file's own name of an array, or the training file's.
const std::string& first_of(const std::string& own, const std::string& otherwise) {
  return own.empty() ? otherwise : own;
}

/// Fills in the four files of a named data set, with its 10,000 test pictures as the test part.
DataOptions with_named_data(DataOptions d) {
  const std::filesystem::path pictures = named_data_file(d.file);
  if (pictures.empty()) return d;
  if (!d.labels.empty() || !d.test_file.empty()) {
    throw UserError(fmt::format(
        "data.file = \"{}\" has its labels and its test part (leave data.labels and data.test_file empty)", d.file));
  }
  const std::filesystem::path folder = pictures.parent_path();
  d.file = pictures;
  d.labels = folder / "train-labels-idx1-ubyte.gz";
  d.test_file = folder / "t10k-images-idx3-ubyte.gz";
  d.test_labels = folder / "t10k-labels-idx1-ubyte.gz";
  return d;
}

}  // namespace

std::filesystem::path named_data_file(const std::string& name) {
  // Xiao, Rasul and Vollgraf, arXiv:1708.07747.
  if (std::filesystem::path(name).filename() != "fashion-mnist" || std::filesystem::exists(name)) return {};
  return std::filesystem::path(kPackagedData) / "fashion-mnist" / "train-images-idx3-ubyte.gz";
}

SampleOptions sample_options(const Config& config) {
  const DataOptions d = with_named_data(data_options(config));
  expect_beside("data.features", d.features, "data.file", d.file);
  expect_beside("data.labels", d.labels, "data.file", d.file);
  expect_beside("data.test_file", d.test_file, "data.file", d.file);
  expect_beside("data.test_features", d.test_features, "data.test_file", d.test_file);
  expect_beside("data.test_labels", d.test_labels, "data.test_file", d.test_file);
  SampleOptions o;
  o.source = {d.file, d.features, d.labels};
  o.test_source = {d.test_file, first_of(d.test_features, d.features), first_of(d.test_labels, d.labels),
                   "data.test_features", "data.test_labels"};
  const bool same_file = !o.source.path.empty() && o.source.path == o.test_source.path;
  if (same_file && o.source.features == o.test_source.features) {
    throw UserError(
        "data.test_file is data.file: a test on the samples that are learned (name other arrays of it in "
        "data.test_features and data.test_labels, or another file)");
  }
  o.shape = d.shape;
  o.classes = d.classes;
  o.scaling = d.scaling;
  o.value_scaling = d.value_scaling;
  o.validation_fraction = d.validation_fraction;
  o.test_fraction = d.test_fraction;
  o.split_seed =
      static_cast<std::uint64_t>(d.split_seed == DataOptions::by_seed ? config.integer("seed") : d.split_seed);
  return o;
}

namespace {

void note_classes(const SampleParts& parts, std::vector<std::string>& notes) {
  std::vector<Index> counts(static_cast<std::size_t>(parts.classes), 0);
  for (const int label : parts.training.labels) ++counts[static_cast<std::size_t>(label)];
  constexpr std::size_t kNamed = 5;
  std::string names;
  std::size_t empty = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0) continue;
    if (++empty <= kNamed) names += fmt::format("{}{}", names.empty() ? "" : ", ", k);
  }
  if (empty > 0) {
    notes.push_back(fmt::format("{} of {} classes have no training sample ({}{}): nothing can learn them", empty,
                                counts.size(), names, empty > kNamed ? ", ..." : ""));
  }
  if (empty + 1 == counts.size()) {
    notes.emplace_back("all training samples are of one class: there is nothing to tell apart");
  }
}

void note_features(const SampleParts& parts, std::vector<std::string>& notes) {
  const Matrix<float>& x = parts.training.features;
  if (x.rows() < 2) return;
  // Row by row, as they lie in memory.
  Eigen::Array<bool, 1, Eigen::Dynamic> varies = Eigen::Array<bool, 1, Eigen::Dynamic>::Constant(x.cols(), false);
  for (Index i = 1; i < x.rows(); ++i) varies = varies || x.row(i).array() != x.row(0).array();
  const Index constant = x.cols() - varies.count();
  if (constant == 0) return;
  notes.push_back(fmt::format("{} of {} features have one value in all training samples: they tell nothing{}", constant,
                              x.cols(), constant == x.cols() ? ", so that there is nothing to learn from" : ""));
}

}  // namespace

std::vector<std::string> sample_notes(const SampleParts& parts) {
  std::vector<std::string> notes;
  if (!parts.training.labels.empty()) note_classes(parts, notes);
  note_features(parts, notes);
  return notes;
}

}  // namespace nudge
