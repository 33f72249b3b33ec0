// SPDX-License-Identifier: Apache-2.0
#include "mixers/mask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/errors.hpp"

namespace nudge {

Mask Mask::causal(Index n) { return causal_window(n, n); }

Mask Mask::full(Index queries, Index keys) {
  return {queries, keys, std::vector<Run>(static_cast<std::size_t>(queries), Run{0, keys, true}), {}};
}

Mask Mask::causal_window(Index n, Index window) {
  if (window < 1) throw UserError(fmt::format("window = {} (must be at least 1: a token attends to itself)", window));
  std::vector<Run> runs;
  for (Index t = 0; t < n; ++t) {
    const Index begin = std::max<Index>(0, t - window + 1);
    runs.push_back({begin, t + 1 - begin, true});
  }
  return {n, n, std::move(runs), {}};
}

Mask Mask::from_bytes(Index queries, Index keys, std::vector<std::uint8_t> attended) {
  NUDGE_EXPECT(static_cast<Index>(attended.size()) == queries * keys);
  std::vector<Run> runs;
  for (Index t = 0; t < queries; ++t) {
    const auto begin = attended.begin() + t * keys;
    const auto first = std::find_if(begin, begin + keys, [](std::uint8_t a) { return a != 0; });
    if (first == begin + keys) {
      throw UserError(fmt::format("mask: row {} attends to nothing (every token must attend to at least one)", t));
    }
    auto last = begin + keys;
    while (*(last - 1) == 0) --last;
    const bool whole = std::all_of(first, last, [](std::uint8_t a) { return a != 0; });
    runs.push_back({first - begin, last - first, whole});
  }
  return {queries, keys, std::move(runs), std::move(attended)};
}

bool Mask::is_causal() const {
  if (queries_ != keys_) return false;
  for (Index t = 0; t < queries_; ++t) {
    const Run& each = run(t);
    if (each.begin != 0 || each.count != t + 1 || !each.whole) return false;
  }
  return true;
}

}  // namespace nudge
