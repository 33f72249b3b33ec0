// SPDX-License-Identifier: Apache-2.0
#include "mixers/mask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/errors.hpp"

namespace nudge {

Mask::Mask(Index queries, Index keys, std::vector<std::uint8_t> attended) : queries_(queries), keys_(keys) {
  std::vector<Run> runs;
  for (Index t = 0; t < queries; ++t) {
    const auto begin = attended.begin() + t * keys;
    const auto first = std::find_if(begin, begin + keys, [](std::uint8_t a) { return a != 0; });
    auto last = begin + keys;
    while (last != first && *(last - 1) == 0) --last;
    const bool whole = std::all_of(first, last, [](std::uint8_t a) { return a != 0; });
    runs.push_back({first - begin, last - first, whole});
  }
  attended_ = std::make_shared<const Attended>(Attended{std::move(attended), std::move(runs)});
}

Mask Mask::causal(Index n) { return causal_window(n, n); }

Mask Mask::full(Index queries, Index keys) {
  return from_bytes(queries, keys, std::vector<std::uint8_t>(static_cast<std::size_t>(queries * keys), 1));
}

Mask Mask::causal_window(Index n, Index window) {
  if (window < 1) throw UserError(fmt::format("window = {} (must be at least 1: a token attends to itself)", window));
  std::vector<std::uint8_t> attended(static_cast<std::size_t>(n * n), 0);
  for (Index t = 0; t < n; ++t) {
    for (Index i = std::max<Index>(0, t - window + 1); i <= t; ++i) attended[static_cast<std::size_t>(t * n + i)] = 1;
  }
  return {n, n, std::move(attended)};
}

Mask Mask::from_bytes(Index queries, Index keys, std::vector<std::uint8_t> attended) {
  NUDGE_EXPECT(static_cast<Index>(attended.size()) == queries * keys);
  for (Index t = 0; t < queries; ++t) {
    const auto begin = attended.begin() + t * keys;
    if (std::all_of(begin, begin + keys, [](std::uint8_t a) { return a == 0; })) {
      throw UserError(fmt::format("mask: row {} attends to nothing (every token must attend to at least one)", t));
    }
  }
  return {queries, keys, std::move(attended)};
}

bool Mask::is_causal() const {
  if (queries_ != keys_) return false;
  for (Index t = 0; t < queries_; ++t) {
    for (Index i = 0; i < keys_; ++i) {
      if ((*this)(t, i) != (i <= t)) return false;
    }
  }
  return true;
}

}  // namespace nudge
