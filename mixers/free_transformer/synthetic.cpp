// SPDX-License-Identifier: Apache-2.0
#include "mixers/free_transformer/synthetic.hpp"

#include "sim/base/rng.hpp"

namespace nudge {

std::vector<int> SyntheticText::sequence(std::uint64_t seed, std::uint64_t n) {
  const RngKey key{seed, Purpose::synthetic_data, 0};
  const auto below = [&](std::uint64_t limit, std::uint32_t which) {
    return static_cast<int>(random_below(limit, key, n, 0, which));
  };
  const int letter = below(blank, 0);
  const int position = below(body - target + 1, 1);
  std::vector<int> tokens = {letter, end_of_prompt};
  for (int t = 0; t < body; ++t) {
    const bool hit = below(16, static_cast<std::uint32_t>(2 + t)) == 0;
    const bool inside = t >= position && t < position + target;
    tokens.push_back(hit ? noise : inside ? letter : blank);
  }
  return tokens;
}

int target_position(const std::vector<int>& sequence, int& letter) {
  constexpr int body = SyntheticText::body;
  if (sequence.size() != std::size_t{SyntheticText::prompt + body}) return -1;
  int first = -1;
  int last = -1;
  letter = -1;
  const auto at = [&](int t) { return sequence[SyntheticText::prompt + static_cast<std::size_t>(t)]; };
  for (int t = 0; t < body; ++t) {
    if (at(t) == SyntheticText::blank || at(t) == SyntheticText::noise) continue;
    if (at(t) > SyntheticText::blank || (letter >= 0 && at(t) != letter)) return -1;
    letter = at(t);
    if (first < 0) first = t;
    last = t;
  }
  if (first < 0) return -1;
  int found = -1;
  for (int p = 0; p <= body - SyntheticText::target; ++p) {
    if (p > first || p + SyntheticText::target <= last) continue;
    bool fits = true;
    for (int t = p; t < p + SyntheticText::target; ++t) fits = fits && at(t) != SyntheticText::blank;
    if (!fits) continue;
    if (found >= 0) return -1;
    found = p;
  }
  return found;
}

SyntheticStatistics synthetic_statistics(const std::vector<std::vector<int>>& sequences) {
  SyntheticStatistics s;
  s.sequences = static_cast<Index>(sequences.size());
  if (sequences.empty()) return s;
  double characters = 0;
  double targets = 0;
  for (const auto& tokens : sequences) {
    const bool prompted =
        tokens.size() > 1 && tokens[0] < SyntheticText::blank && tokens[1] == SyntheticText::end_of_prompt;
    s.valid_prompts += prompted ? 1 : 0;
    for (std::size_t t = SyntheticText::prompt; t < tokens.size(); ++t) {
      s.noise += tokens[t] == SyntheticText::noise ? 1 : 0;
      characters += 1;
    }
    int letter = -1;
    const int position = target_position(tokens, letter);
    if (position < 0) continue;
    targets += 1;
    s.mean_position += position;
    s.right_letters += letter == tokens[0] ? 1 : 0;
  }
  const auto n = static_cast<double>(sequences.size());
  s.valid_prompts /= n;
  if (characters > 0) s.noise /= characters;
  s.whole_targets = targets / n;
  if (targets > 0) s.mean_position /= targets;
  if (targets > 0) s.right_letters /= targets;
  return s;
}

}  // namespace nudge
