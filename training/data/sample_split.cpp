// SPDX-License-Identifier: Apache-2.0
#include "training/data/sample_split.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"
#include "training/data/shuffle.hpp"

namespace nudge {
namespace {

/// The share of each class: differences of the rounded running total, so that neither a class nor the sum is off by more
/// than the rounding of one number.
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

}  // namespace nudge
