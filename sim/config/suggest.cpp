// SPDX-License-Identifier: Apache-2.0
#include "sim/config/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace nudge {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows i-2, i-1 and i of the dynamic programme over prefixes.
  std::vector<std::size_t> older(b.size() + 1), old(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) now[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    older.swap(old);
    old.swap(now);
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      now[j] = std::min({old[j] + 1, now[j - 1] + 1, old[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) now[j] = std::min(now[j], older[j - 2] + 1);
    }
  }
  return now[b.size()];
}

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const auto [shorter, longer] = std::minmax({name.size(), candidate.size()});
    if (longer - shorter >= best_distance) continue;  // so many insertions at least
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string best = nearest(name, candidates);
  if (!best.empty()) return fmt::format("did you mean {}?", best);
  std::vector<std::string> longer;  // names of a family that share their beginning
  for (const std::string& candidate : candidates) {
    if (name.size() >= 2 && candidate.starts_with(name)) longer.push_back(candidate);
  }
  if (!longer.empty()) return fmt::format("did you mean one of {}?", fmt::join(longer, ", "));
  return fmt::format("known: {}", fmt::join(candidates, ", "));
}

}  // namespace nudge
