// SPDX-License-Identifier: Apache-2.0
#include "training/data/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "sim/base/errors.hpp"
#include "sim/base/interrupts.hpp"
#include "training/data/default_data.hpp"
#include "training/data/readers/readers.hpp"

namespace nudge {
namespace {

/// Samples of one part as they were read: their numbers stay in double until they are scaled.
struct ReadSamples {
  Matrix<double> features;
  std::vector<int> labels;
  Matrix<double> values;

  Index count() const { return features.rows(); }
};

ReadSamples pick(const LabelledData& data, const std::vector<Index>& which) {
  ReadSamples out;
  const auto n = static_cast<Index>(which.size());
  out.features.resize(n, data.features.cols());
  out.values.resize(n, data.values.cols());
  for (Index i = 0; i < n; ++i) {
    stop_point();
    const Index from = which[static_cast<std::size_t>(i)];
    out.features.row(i) = data.features.row(from);
    if (data.values.size() > 0) out.values.row(i) = data.values.row(from);
    if (!data.labels.empty()) out.labels.push_back(data.labels[static_cast<std::size_t>(from)]);
  }
  return out;
}

/// Counts the classes up to the largest label. If fewer than a quarter of them have a sample, that label is asked about.
Index classes_of_labels(const std::vector<int>& labels, const std::string& name) {
  const auto largest = std::max_element(labels.begin(), labels.end());
  const Index classes = *largest + 1, have = static_cast<Index>(std::set<int>(labels.begin(), labels.end()).size());
  if (classes <= 4 * have) return classes;
  throw UserError(
      fmt::format("{}: label {} of sample {} (counted from 0) makes {} classes, and {} of them have a sample. Correct "
                  "the label, or "
                  "set data.classes = {}",
                  name, *largest, largest - labels.begin(), classes, have, classes));
}

/// Counts the classes of the data after a look at each label.
Index count_classes(const LabelledData& data, const std::string& name, Index classes) {
  if (data.labels.empty()) return 0;
  if (classes == 0) return classes_of_labels(data.labels, name);
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    if (data.labels[i] < classes) continue;
    throw UserError(
        fmt::format("{}: label {} of sample {} (counted from 0) is out of range (must be in [0, {}], as there are {} "
                    "classes; see data.classes)",
                    name, data.labels[i], i, classes - 1, classes));
  }
  return classes;
}

void set_shape(const std::vector<Index>& wanted, const std::string& name, LabelledData& data) {
  if (wanted.empty()) return;
  Index product = 1;
  for (const Index size : wanted) product *= size;
  if (product != data.features.cols()) {
    throw UserError(fmt::format("data.shape = {} has {} features, {} has {} a sample", shape_text(wanted), product,
                                name, data.features.cols()));
  }
  data.shape = wanted;
}

void expect_same_features(const LabelledData& data, const std::string& name, const LabelledData& test,
                          const std::string& test_name) {
  if (test.features.cols() == data.features.cols() && test.values.cols() == data.values.cols()) return;
  throw UserError(fmt::format("{}: {} features and {} values a sample, {} has {} and {} (must be the same)", test_name,
                              test.features.cols(), test.values.cols(), name, data.features.cols(),
                              data.values.cols()));
}

/// Throws UserError for a part without samples. what: the part in words; n: samples of the file `name`; advice: what to
/// do.
void expect_samples(const ReadSamples& part, const char* what, Index n, const std::string& name, const char* advice) {
  if (part.count() > 0) return;
  throw UserError(fmt::format("{}: its {} samples leave none for {} ({})", name, n, what, advice));
}

/// Scales numbers; UserError where another part lies so far out of the training part's range that it leaves that of
/// float.
Matrix<float> scaled(const FeatureScaling& scaling, const std::string& name, const char* key,
                     const Matrix<double>& numbers) {
  Matrix<float> found = scaling.applied(numbers);
  if (found.allFinite()) return found;
  throw UserError(
      fmt::format("{}: {} scales a number of its held-out samples beyond float32, because the column is nearly "
                  "constant in the training split. Leave that column out, or use another scaling",
                  name, key));
}

Batch empty_batch(const Samples& samples, Index count) {
  Batch batch{count, 1, {}, {}, {}, {}};
  batch.features.resize(count, samples.features.cols());
  batch.values.resize(count, samples.values.cols());
  return batch;
}

void put(const Samples& samples, Index from, Index to, Batch& batch) {
  batch.features.row(to) = samples.features.row(from);
  if (samples.values.size() > 0) batch.values.row(to) = samples.values.row(from);
  if (!samples.labels.empty()) batch.targets.push_back(samples.labels[static_cast<std::size_t>(from)]);
}

void mix(const Matrix<float>& numbers, std::uint64_t& hash) {
  for (Index i = 0; i < numbers.size(); ++i) {
    hash = (hash ^ std::bit_cast<std::uint32_t>(numbers.data()[i])) * 0x100000001b3ULL;
  }
}

}  // namespace

std::int64_t SampleParts::fingerprint() const {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const Samples* part : {&training, &validation, &test}) {
    hash = (hash ^ static_cast<std::uint64_t>(part->count())) * 0x100000001b3ULL;
    mix(part->features, hash);
    mix(part->values, hash);
    for (const int label : part->labels) hash = (hash ^ static_cast<std::uint64_t>(label)) * 0x100000001b3ULL;
  }
  return static_cast<std::int64_t>(hash);
}

SampleParts load_samples(const SampleOptions& options, Target target) {
  if (options.named != nullptr) {
    PublishedData found = options.named->read(options.named->folder(options.folder), target);
    const std::set<int> classes(found.training.labels.begin(), found.training.labels.end());
    if (target == Target::label && static_cast<int>(classes.size()) != options.named->classes) {
      throw UserError(fmt::format("{}: has samples of {} classes (data.file = \"{}\" has {}: fetch its files again)",
                                  found.training_name, classes.size(), options.named->name, options.named->classes));
    }
    return prepare_samples(std::move(found.training), found.training_name, std::move(found.test), found.test_name,
                           options);
  }
  const DataSource& source = options.source;
  if (source.path.empty()) {
    const std::string name = "the digits that ship with nudge";
    LabelledData digits = parse_csv(default_digits(), name, {}, target);
    if (options.shape.empty()) digits.shape = {8, 8};
    return prepare_samples(std::move(digits), name, {}, "", options);
  }
  LabelledData test;
  if (!options.test_source.path.empty()) test = read_labelled_data(options.test_source, target);
  return prepare_samples(read_labelled_data(source, target), data_name(source.path), std::move(test),
                         data_name(options.test_source.path), options);
}

SampleParts prepare_samples(LabelledData data, const std::string& name, LabelledData test, const std::string& test_name,
                            const SampleOptions& options) {
  SampleParts parts;
  set_shape(options.shape, name, data);
  parts.shape = data.shape;
  parts.classes = count_classes(data, name, options.classes);
  const bool predefined = test.count() > 0;
  const SampleSplit split =
      split_samples(data.count(), data.labels, options.validation, predefined ? DrawnPart{0} : options.test);
  ReadSamples training = pick(data, split.training), validation = pick(data, split.validation),
              held_out = pick(data, split.test);
  if (predefined) {
    expect_same_features(data, name, test, test_name);
    count_classes(test, test_name, parts.classes);
    held_out = {std::move(test.features), std::move(test.labels), std::move(test.values)};
  }
  const Index count = data.count();
  const bool values = data.values.size() > 0;
  data = {};  // large sets do not stand in memory twice
  expect_samples(training, "training", count, name, "smaller held-out fractions, or more samples");
  expect_samples(validation, "validation", count, name, "a larger data.validation_fraction");
  if (!predefined && options.test.fraction > 0) {
    expect_samples(held_out, "test", count, name, "a larger data.test_fraction, or 0");
  }
  parts.scaling = FeatureScaling(options.scaling, training.features, parts.shape.size() == 3 ? parts.shape.front() : 1);
  if (values) parts.value_scaling = FeatureScaling(options.value_scaling, training.values);
  const auto take = [&](ReadSamples part, const std::string& file, Samples& into) {
    into.features = scaled(parts.scaling, file, "data.scaling", part.features);
    if (values) into.values = scaled(parts.value_scaling, file, "data.value_scaling", part.values);
    into.labels = std::move(part.labels);
  };
  take(std::move(training), name, parts.training);
  take(std::move(validation), name, parts.validation);
  take(std::move(held_out), predefined ? test_name : name, parts.test);
  return parts;
}

Batch epoch_batch(const Samples& samples, Index count, std::uint64_t seed, std::uint64_t step) {
  NUDGE_EXPECT(count >= 1 && samples.count() >= 1);
  const auto n = static_cast<std::uint64_t>(samples.count());
  const RngKey key{seed, Purpose::batch_order, 1};
  Batch batch = empty_batch(samples, count);
  for (Index b = 0; b < count; ++b) {
    const std::uint64_t place = step * static_cast<std::uint64_t>(count) + static_cast<std::uint64_t>(b);
    const std::uint64_t sample = shuffled(place % n, n, key, place / n);
    put(samples, static_cast<Index>(sample), b, batch);
    batch.samples.push_back(static_cast<std::int64_t>(sample));
  }
  return batch;
}

std::vector<Batch> batches_of(const Samples& samples, Index count, Index most) {
  NUDGE_EXPECT(count >= 1 && most >= 0);
  const Index n = most > 0 ? std::min(most, samples.count()) : samples.count();
  std::vector<Batch> batches;
  for (Index begin = 0; begin < n; begin += count) {
    const Index size = std::min(count, n - begin);
    batches.push_back(empty_batch(samples, size));
    for (Index b = 0; b < size; ++b) put(samples, begin + b, b, batches.back());
  }
  return batches;
}

namespace {

/// Computes the share of each class: differences of the rounded running total, so that neither a class nor the sum is
/// off by more than the rounding of one number.
std::vector<Index> quotas(const std::vector<Index>& counts, double fraction) {
  std::vector<Index> out;
  Index seen = 0, given = 0;
  for (const Index count : counts) {
    seen += count;
    const auto total = static_cast<Index>(std::floor(fraction * static_cast<double>(seen) + 0.5));
    out.push_back(total - given);
    given = total;
  }
  return out;
}

/// Sample numbers in the random order of a seed.
std::vector<Index> drawn_order(Index n, std::uint64_t seed) {
  // Entity 2 of batch_order: characters draw windows with 0, epochs are shuffled with 1.
  const RngKey key{seed, Purpose::batch_order, 2};
  const auto all = static_cast<std::uint64_t>(n);
  std::vector<Index> order;
  for (std::uint64_t place = 0; place < all; ++place) order.push_back(static_cast<Index>(shuffled(place, all, key, 0)));
  return order;
}

}  // namespace

SampleSplit split_samples(Index n, std::span<const int> labels, const DrawnPart& validation, const DrawnPart& test) {
  NUDGE_EXPECT(n >= 1 && (labels.empty() || static_cast<Index>(labels.size()) == n));
  NUDGE_EXPECT(validation.fraction >= 0 && test.fraction >= 0 && validation.fraction + test.fraction < 1);
  const int classes = labels.empty() ? 1 : *std::max_element(labels.begin(), labels.end()) + 1;
  const auto label = [&](Index i) {
    return labels.empty() ? std::size_t{0} : static_cast<std::size_t>(labels[static_cast<std::size_t>(i)]);
  };
  std::vector<Index> counts(static_cast<std::size_t>(classes), 0);
  for (Index i = 0; i < n; ++i) ++counts[label(i)];
  std::vector<Index> tests = quotas(counts, test.fraction);
  std::vector<Index> validations = quotas(counts, test.fraction + validation.fraction);
  for (std::size_t c = 0; c < tests.size(); ++c) validations[c] -= tests[c];
  SampleSplit split;
  std::vector<bool> is_test(static_cast<std::size_t>(n), false);
  for (const Index i : drawn_order(n, test.seed)) {
    if (tests[label(i)]-- <= 0) continue;
    split.test.push_back(i);
    is_test[static_cast<std::size_t>(i)] = true;
  }
  for (const Index i : drawn_order(n, validation.seed)) {
    if (is_test[static_cast<std::size_t>(i)]) continue;
    (validations[label(i)]-- > 0 ? split.validation : split.training).push_back(i);
  }
  return split;
}

std::uint64_t shuffled(std::uint64_t i, std::uint64_t n, const RngKey& key, std::uint64_t step) {
  NUDGE_EXPECT(i < n && n <= (std::uint64_t{1} << 32));
  unsigned half = 1;  // bits of each half
  while ((std::uint64_t{1} << (2 * half)) < n) ++half;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  constexpr std::uint32_t rounds = 8;
  do {
    std::uint64_t left = i >> half, right = i & mask;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const std::uint64_t mixed = left ^ (random_bits(key, step, round, static_cast<std::uint32_t>(right)) & mask);
      left = right;
      right = mixed;
    }
    i = (left << half) | right;
  } while (i >= n);
  return i;
}

const std::vector<std::string>& scaling_names() {
  static const std::vector<std::string> names = {"none", "unit", "unit_each", "standard", "channel"};
  return names;
}

FeatureScaling::FeatureScaling(Index columns)
    : offset_(static_cast<std::size_t>(columns), 0.0), gain_(static_cast<std::size_t>(columns), 1.0) {}

FeatureScaling::FeatureScaling(const std::string& kind, const Matrix<double>& training, Index channels)
    : FeatureScaling(training.cols()) {
  NUDGE_EXPECT(training.size() > 0 && training.cols() % channels == 0);
  if (kind == "none") return;
  const bool standard = kind == "standard" || kind == "channel";
  const Index together = kind == "unit" ? training.cols() : kind == "channel" ? training.cols() / channels : 1;
  for (Index first = 0; first < training.cols(); first += together) {
    const auto columns = training.middleCols(first, together);
    const double low = columns.minCoeff(), high = columns.maxCoeff();
    const double offset = standard && high > low ? columns.mean() : low;
    double gain = 1;
    if (high > low) gain = 1 / (standard ? std::sqrt((columns.array() - offset).square().mean()) : high - low);
    std::fill_n(offset_.begin() + first, together, offset);
    std::fill_n(gain_.begin() + first, together, gain);
  }
}

Matrix<float> FeatureScaling::applied(const Matrix<double>& x) const {
  NUDGE_EXPECT(static_cast<std::size_t>(x.cols()) == gain_.size());
  Matrix<float> found(x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    stop_point();
    for (Index j = 0; j < x.cols(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      found(i, j) = static_cast<float>((x(i, j) - offset_[at]) * gain_[at]);
    }
  }
  return found;
}

}  // namespace nudge
