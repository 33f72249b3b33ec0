// SPDX-License-Identifier: Apache-2.0
#include "training/experiments/latent_agreement.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "mixers/free_transformer/synthetic.hpp"

using namespace nudge;

namespace {

std::vector<std::vector<int>> texts(std::size_t n) {
  std::vector<std::vector<int>> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(SyntheticText::sequence(1, i));
  return all;
}

}  // namespace

TEST_CASE("the densest place of a synthetic sequence is its target's, but for noise at the target's edge") {
  int same = 0;
  int counted = 0;
  for (const auto& text : texts(500)) {
    int letter = -1;
    const int place = target_position(text, letter);
    if (place < 0) continue;
    ++counted;
    same += densest_place(text) == place ? 1 : 0;
  }
  CHECK(counted > 400);
  CHECK(same > 9 * counted / 10);  // noise on the last character, 1 in 16, lets an earlier window hold as many
  std::vector<int> blank(66, SyntheticText::blank);
  CHECK(densest_place(blank) == -1);
}

TEST_CASE("agreement: equal sequences agree in place and noise, independent ones at chance") {
  const auto all = texts(1000);
  std::vector<SequencePair> equal, independent;
  for (std::size_t i = 0; i < 500; ++i) {
    equal.push_back({all[i], all[i]});
    independent.push_back({all[i], all[500 + i]});
  }
  CHECK(agreement(equal).position == 1);
  CHECK(agreement(equal).noise == Approx(1));
  // 500 pairs at 1/57: 8.8 expected, deviation 2.9. The correlation of 32000 places deviates by 1/√32000 = 0.0056.
  CHECK(agreement(independent).position < 0.047);
  CHECK(std::abs(agreement(independent).noise) < 0.028);
  const std::vector<int> blank(66, SyntheticText::blank);
  CHECK(agreement({{blank, blank}}).noise == 0);
  CHECK(agreement({{blank, blank}}).position == 0);
}
