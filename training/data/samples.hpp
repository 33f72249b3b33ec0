// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/base/rng.hpp"
#include "sim/config/config.hpp"
#include "training/data/batches.hpp"
#include "training/data/named_data.hpp"

namespace nudge {

/// Computes π(i) of a pseudo-random permutation π of {0, …, n − 1} that (key, step) chooses. It is a pure function in
/// O(1) time and memory. So an epoch's order needs no state and a resumed run finds its place in it. The permutation is
/// a balanced Feistel network of 8 rounds on the smallest even number of bits that n fits in. It is applied again while
/// the result is not below n (cycle walking: Black and Rogaway, CT-RSA 2002, section 3; at most 4 times on average).
/// Already 4 rounds make a pseudo-random permutation of pseudo-random functions (Luby and Rackoff, SIAM J. Comput.
/// 17:373, 1988); small domains want more. Needs i < n ≤ 2³².
std::uint64_t shuffled(std::uint64_t i, std::uint64_t n, const RngKey& key, std::uint64_t step);

/// Sample numbers of each part, in a random order within each.
struct SampleSplit {
  std::vector<Index> training, validation, test;
};

/// Share of the samples that a part takes, and the seed that draws them.
struct DrawnPart {
  double fraction = 0.05;
  std::uint64_t seed = 0;
};

/// Splits n samples at random: a pure function of its arguments. The test split is drawn first, by its own seed alone: no
/// split of the rest, whatever its seed, trains or chooses on it. The rest is split by validation.seed. With labels (n of
/// them, or none) the splits are stratified. A split takes its share of each class's samples to within one sample, and
/// its share of all samples rounded to the nearest. Needs both fractions ≥ 0, their sum < 1. A part may come out empty.
SampleSplit split_samples(Index n, std::span<const int> labels, const DrawnPart& validation, const DrawnPart& test);

/// Scaling of features, y_j = (x_j − offset_j) · gain_j, with numbers taken from the training split alone.
///   none      y = x
///   unit      one range for all columns: the training split's smallest number becomes 0 and its largest 1 (pictures: the
///             pixels keep their relation)
///   unit_each each column has a range of its own
///   standard  each column has mean 0 and standard deviation 1 (divisor n) on the training split
///   channel   the same for all columns of a channel of pictures together
/// A column that is constant in training is only shifted (gain 1). Held-out numbers may leave the range; nothing is
/// clipped.
class FeatureScaling {
 public:
  /// Leaves `columns` columns as they are.
  explicit FeatureScaling(Index columns = 0);
  /// Fits the scaling to the training split; kind is one of scaling_names(). A channel has as many columns as another, one after the
  /// other.
  FeatureScaling(const std::string& kind, const Matrix<double>& training, Index channels = 1);

  /// Scales numbers in double, and then rounds them to float: an offset that is large beside its column takes no digits.
  Matrix<float> applied(const Matrix<double>& x) const;

  const std::vector<double>& offset() const { return offset_; }
  const std::vector<double>& gain() const { return gain_; }

 private:
  std::vector<double> offset_, gain_;
};

const std::vector<std::string>& scaling_names();

/// Options of data.* about samples.
struct SampleOptions {
  const NamedData* named = nullptr;  ///< a set called by its name; its files are in `folder`
  std::string folder = {};
  /// Otherwise, files of samples and of the test split; no path: the digits that ship, no predefined test split.
  DataSource source, test_source;
  std::vector<Index> shape;  ///< shape of a sample; empty: as the file says
  Index classes = 0;         ///< number of classes; 0: the largest label of the training file + 1
  std::string scaling = "unit", value_scaling = "none";
  DrawnPart validation, test;
};

/// Reads the options of samples. UserError for keys that contradict each other.
SampleOptions sample_options(const Config& config);

/// Samples of one part, scaled.
struct Samples {
  Matrix<float> features;   ///< (n, d)
  std::vector<int> labels;  ///< n, or none
  Matrix<float> values;     ///< (n, k), or empty

  Index count() const { return features.rows(); }
};

/// Samples of three parts that share no sample; scaling is fitted to the training split alone. The test split may be
/// empty.
struct SampleParts {
  Samples training, validation, test;
  Index classes = 0;
  std::vector<Index> shape;
  FeatureScaling scaling, value_scaling;

  /// Computes 64-bit FNV-1a over all numbers of all parts, in their order.
  std::int64_t fingerprint() const;
};

/// Reads, splits and scales samples. A predefined test file is the test split; then only validation is split off the
/// other file. UserError for missing parts of a file, labels ≥ classes, a test file of other features, splits without a
/// sample.
SampleParts load_samples(const SampleOptions& options, Target target);

/// Splits and scales data in memory as load_samples() does; `name` and `test_name` stand for their files in messages.
SampleParts prepare_samples(LabelledData data, const std::string& name, LabelledData test, const std::string& test_name,
                            const SampleOptions& options);

/// Takes `count` samples of epoch after epoch, each in a random order of its own. Place p = step · count + b of the
/// endless sequence is sample π_e(p mod n) of epoch e = ⌊p/n⌋. Every sample comes once in an epoch; a batch may span
/// two. A pure function of (samples, count, seed, step).
Batch epoch_batch(const Samples& samples, Index count, std::uint64_t seed, std::uint64_t step);

/// Batches of the first `most` samples (0: all), once, in their order, `count` at a time; the last batch may be
/// smaller.
std::vector<Batch> batches_of(const Samples& samples, Index count, Index most = 0);

/// Notes on oddities of the training split that make no run fail, a sentence each. They are classes without a sample, a
/// single class, and features that have one value in all samples. Empty: none.
std::vector<std::string> sample_notes(const SampleParts& parts);

}  // namespace nudge
