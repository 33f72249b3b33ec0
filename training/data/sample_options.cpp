// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/base/errors.hpp"
#include "training/data/samples.hpp"

namespace nudge {
namespace {

/// A key that only means something beside another one.
void expect_beside(const Config& config, const std::string& key, const std::string& other) {
  if (config.text(key).empty() || !config.text(other).empty()) return;
  throw UserError(fmt::format("{} = \"{}\" says something about {}, which is empty", key, config.text(key), other));
}

/// The test file's own name of something, or the training file's.
std::string first_of(const Config& config, const std::string& key, const std::string& otherwise) {
  return config.text(key).empty() ? config.text(otherwise) : config.text(key);
}

}  // namespace

SampleOptions sample_options(const Config& config) {
  for (const char* key : {"data.features", "data.labels", "data.test_file"}) expect_beside(config, key, "data.file");
  for (const char* key : {"data.test_features", "data.test_labels"}) expect_beside(config, key, "data.test_file");
  SampleOptions o;
  o.source = {config.text("data.file"), config.text("data.features"), config.text("data.labels")};
  o.test_source = {config.text("data.test_file"), first_of(config, "data.test_features", "data.features"),
                   first_of(config, "data.test_labels", "data.labels"), "data.test_features", "data.test_labels"};
  const bool same_file = !o.source.path.empty() && o.source.path == o.test_source.path;
  if (same_file && o.source.features == o.test_source.features) {
    throw UserError(
        "data.test_file is data.file: a test on the samples that are learned (name other arrays of it in "
        "data.test_features and data.test_labels, or another file)");
  }
  for (const std::int64_t size : config.integers("data.shape")) o.shape.push_back(static_cast<Index>(size));
  o.classes = static_cast<Index>(config.integer("data.classes"));
  o.scaling = config.text("data.scaling");
  o.value_scaling = config.text("data.value_scaling");
  o.validation_fraction = config.real("data.validation_fraction");
  o.test_fraction = config.real("data.test_fraction");
  o.split_seed = static_cast<std::uint64_t>(config.integer("data.split_seed"));
  return o;
}

}  // namespace nudge
