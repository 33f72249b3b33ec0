// SPDX-License-Identifier: Apache-2.0
#include "training/data/samples.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/base/interrupts.hpp"

namespace nudge {
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

}  // namespace

SampleSplit split_samples(Index n, std::span<const int> labels, double validation_fraction, double test_fraction,
                          std::uint64_t seed) {
  NUDGE_EXPECT(n >= 1 && (labels.empty() || static_cast<Index>(labels.size()) == n));
  NUDGE_EXPECT(validation_fraction >= 0 && test_fraction >= 0 && validation_fraction + test_fraction < 1);
  const int classes = labels.empty() ? 1 : *std::max_element(labels.begin(), labels.end()) + 1;
  const auto label = [&](Index i) {
    return labels.empty() ? std::size_t{0} : static_cast<std::size_t>(labels[static_cast<std::size_t>(i)]);
  };
  std::vector<Index> counts(static_cast<std::size_t>(classes), 0);
  for (Index i = 0; i < n; ++i) ++counts[label(i)];
  const std::vector<Index> test = quotas(counts, test_fraction);
  const std::vector<Index> held_out = quotas(counts, test_fraction + validation_fraction);
  std::vector<Index> taken(counts.size(), 0);
  SampleSplit split;
  // Entity 2 of batch_order: characters draw windows with 0, epochs are shuffled with 1 (training/data/samples.cpp).
  const RngKey key{seed, Purpose::batch_order, 2};
  for (Index place = 0; place < n; ++place) {
    const auto i =
        static_cast<Index>(shuffled(static_cast<std::uint64_t>(place), static_cast<std::uint64_t>(n), key, 0));
    const std::size_t c = label(i);
    const Index nth = taken[c]++;
    (nth < test[c] ? split.test : nth < held_out[c] ? split.validation : split.training).push_back(i);
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
  static const std::vector<std::string> names = {"none", "unit", "unit_each", "standard"};
  return names;
}

FeatureScaling::FeatureScaling(Index columns)
    : offset_(static_cast<std::size_t>(columns), 0.0), gain_(static_cast<std::size_t>(columns), 1.0) {}

FeatureScaling::FeatureScaling(const std::string& kind, const Matrix<float>& training)
    : FeatureScaling(training.cols()) {
  NUDGE_EXPECT(training.size() > 0);
  if (kind == "none") return;
  const auto smallest = static_cast<double>(training.minCoeff()), largest = static_cast<double>(training.maxCoeff());
  for (Index j = 0; j < training.cols(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    const auto column = training.col(j).cast<double>();
    const double low = kind == "unit" ? smallest : column.minCoeff();
    const double high = kind == "unit" ? largest : column.maxCoeff();
    offset_[at] = kind == "standard" && high > low ? column.mean() : low;
    if (high == low) continue;
    gain_[at] = 1 / (kind == "standard" ? std::sqrt((column.array() - offset_[at]).square().mean()) : high - low);
  }
}

void FeatureScaling::apply(Matrix<float>& x) const {
  NUDGE_EXPECT(static_cast<std::size_t>(x.cols()) == gain_.size());
  for (Index i = 0; i < x.rows(); ++i) {
    stop_point();
    for (Index j = 0; j < x.cols(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      x(i, j) = static_cast<float>((static_cast<double>(x(i, j)) - offset_[at]) * gain_[at]);
    }
  }
}

void FeatureScaling::undo(Matrix<float>& y) const {
  NUDGE_EXPECT(static_cast<std::size_t>(y.cols()) == gain_.size());
  for (Index i = 0; i < y.rows(); ++i) {
    for (Index j = 0; j < y.cols(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      y(i, j) = static_cast<float>(static_cast<double>(y(i, j)) / gain_[at] + offset_[at]);
    }
  }
}

}  // namespace nudge
