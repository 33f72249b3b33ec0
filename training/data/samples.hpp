// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "sim/config/config.hpp"
#include "training/data/batches.hpp"
#include "training/data/feature_scaling.hpp"
#include "training/data/labelled_data.hpp"

namespace nudge {

/// What data.* says about samples.
struct SampleOptions {
  DataSource source, test_source;  ///< no path: the digits that ship; no predefined test part
  std::vector<Index> shape;        ///< of a sample, empty: as the file says
  Index classes = 0;               ///< 0: the largest label of the training file + 1
  std::string scaling = "unit", value_scaling = "none";
  double validation_fraction = 0.05, test_fraction = 0.05;
  std::uint64_t split_seed = 0;
};

/// Where Debian's packages of data sets put them.
inline constexpr const char* kPackagedData = "/usr/share/datasets/";

/// The training pictures of a data set that is called by its name, "fashion-mnist", where Debian's package puts them; empty for all other
/// names of data.file, and where a file of that name is here.
std::filesystem::path named_data_file(const std::string& name);

/// UserError for keys that contradict each other.
SampleOptions sample_options(const Config& config);

/// Samples of one part, scaled.
struct Samples {
  Matrix<float> features;   ///< (n, d)
  std::vector<int> labels;  ///< n, or none
  Matrix<float> values;     ///< (n, k), or empty

  Index count() const { return features.rows(); }
};

/// Three parts that share no sample; scaling is fitted to the first alone. Test is empty where nothing is held out for it.
struct SampleParts {
  Samples training, validation, test;
  Index classes = 0;
  std::vector<Index> shape;
  FeatureScaling scaling, value_scaling;

  /// 64-bit FNV-1a over all numbers of all parts, in their order.
  std::int64_t fingerprint() const;
};

/// Reads, splits and scales. With a predefined test file the test part is that file and only validation is split off the
/// other one. UserError for what a file lacks, labels ≥ classes, a test file of other features, parts without a sample.
SampleParts load_samples(const SampleOptions& options, Target target);

/// The same of data in memory; `name` and `test_name` stand for their files in messages.
SampleParts prepare_samples(LabelledData data, const std::string& name, LabelledData test, const std::string& test_name,
                            const SampleOptions& options);

/// `count` samples of epoch after epoch, each in a random order of its own: place p = step · count + b of the endless
/// sequence is sample π_e(p mod n) of epoch e = ⌊p/n⌋. Every sample comes once in an epoch; a batch may span two. A pure
/// function of (samples, count, seed, step).
Batch epoch_batch(const Samples& samples, Index count, std::uint64_t seed, std::uint64_t step);

/// The first `most` samples (all, for 0) once, in their order, `count` at a time; the last batch may be smaller.
std::vector<Batch> batches_of(const Samples& samples, Index count, Index most = 0);

}  // namespace nudge
