// SPDX-License-Identifier: Apache-2.0
#include "training/experiments/latent_agreement.hpp"

#include <algorithm>
#include <cmath>

#include "mixers/free_transformer/synthetic.hpp"

namespace nudge {

int densest_place(const std::vector<int>& sequence) {
  const auto is_letter = [&](int place) {
    return sequence[static_cast<std::size_t>(SyntheticText::prompt + place)] < SyntheticText::blank;
  };
  int best = 0;
  int best_place = -1;
  for (int place = 0; place + SyntheticText::target <= SyntheticText::body; ++place) {
    int letters = 0;
    for (int t = place; t < place + SyntheticText::target; ++t) letters += is_letter(t) ? 1 : 0;
    if (letters <= best) continue;
    best = letters;
    best_place = place;
  }
  return best_place;
}

Agreement agreement(const std::vector<SequencePair>& pairs) {
  double same = 0, n = 0, a = 0, b = 0, both = 0;
  for (const SequencePair& pair : pairs) {
    const int place = densest_place(pair.first);
    same += place >= 0 && place == densest_place(pair.second) ? 1 : 0;
    for (std::size_t t = SyntheticText::prompt; t < pair.first.size(); ++t) {
      const bool first = pair.first[t] == SyntheticText::noise;
      const bool second = pair.second[t] == SyntheticText::noise;
      n += 1;
      a += first ? 1 : 0;
      b += second ? 1 : 0;
      both += first && second ? 1 : 0;
    }
  }
  const double variance = (a / n) * (1 - a / n) * (b / n) * (1 - b / n);
  const double covariance = both / n - (a / n) * (b / n);
  return {same / static_cast<double>(pairs.size()), variance > 0 ? covariance / std::sqrt(variance) : 0};
}

}  // namespace nudge
