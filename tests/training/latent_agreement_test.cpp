// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "training/models/tapes/free_transformer_parts.hpp"

#include <algorithm>
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
  CHECK(agreement(equal).place == Approx(1));
  CHECK(agreement(equal).distance == 0);
  CHECK(agreement(equal).noise == Approx(1));
  // By chance, of 500 pairs of places uniform over n = 57 (the first of equally dense windows shifts few by little):
  // correlation 0, deviation 1/sqrt(500) = 0.045; E|p - q| = (n^2 - 1)/(3n) = 18.99, deviation
  // sqrt((n^2 - 1)/6 - 18.99^2)/sqrt(500) = 13.44/22.4 = 0.60. 32000 characters: 1/sqrt(32000) = 0.0056. Five each.
  CHECK(std::abs(agreement(independent).place) < 0.23);
  CHECK(std::abs(agreement(independent).distance - 18.99) < 3.0);
  CHECK(std::abs(agreement(independent).noise) < 0.028);
}

TEST_CASE("agreement: distance and correlation of known places, sequences without a letter do not count") {
  const auto target_at = [](int place) {
    std::vector<int> text(66, SyntheticText::blank);
    std::fill_n(text.begin() + 2 + place, 8, 3);
    return text;
  };
  const std::vector<int> blank(66, SyntheticText::blank);
  // a = (10, 20, 30), b = (13, 17, 36): deviations (-10, 0, 10) and (-9, -5, 14), so 230/sqrt(200*302).
  const PairAgreement some = agreement({{target_at(10), target_at(13)},
                                        {target_at(20), target_at(17)},
                                        {target_at(30), target_at(36)},
                                        {target_at(5), blank}});
  CHECK(some.place == Approx(230 / std::sqrt(200.0 * 302.0)));
  CHECK(some.distance == Approx(4));
  CHECK(agreement({{blank, blank}}).noise == 0);
  CHECK(agreement({{blank, blank}}).place == 0);
  CHECK(std::isnan(agreement({{blank, blank}}).distance));
}

TEST_CASE("told bits: none for the best decoder without a latent, whatever the noise") {
  // Before its target starts, place t is its start with probability 1/(57 - t); then letters, then blanks are certain.
  const int letter = 4;
  const double hidden = -40;  // e^-40 of probability: below the tolerance
  for (const int place : {0, 1, 30, 56}) {
    std::vector<int> text(66, SyntheticText::blank);
    text[0] = letter;
    text[1] = SyntheticText::end_of_prompt;
    std::fill_n(text.begin() + 2 + place, 8, letter);
    Matrix<double> logits = Matrix<double>::Constant(66, SyntheticText::classes, hidden);
    for (int t = 0; t < 64; ++t) {
      const double start = t > place ? (t < place + 8 ? 1.0 : 0.0) : 1.0 / (57 - t);
      logits(1 + t, letter) = std::max(hidden, std::log(15.0 / 16 * start));
      logits(1 + t, SyntheticText::blank) = std::max(hidden, std::log(15.0 / 16 * (1 - start)));
      logits(1 + t, SyntheticText::noise) = std::log(1.0 / 16);
    }
    CHECK(std::abs(told_bits(logits, text).place) < 1e-12);
    CHECK(std::abs(told_bits(logits, text).noise) < 1e-12);
    text[2] = text[60] = SyntheticText::noise;
    CHECK(std::abs(told_bits(logits, text).noise) < 1e-12);
    CHECK(told_bits(logits, text).place >= -1e-12);  // what noise hides is not spent
  }
}

TEST_CASE("told bits: all of place and noise for a decoder that knows what follows, both parts are the cross-entropy") {
  const auto text = SyntheticText::sequence(3, 8);
  double noise = 0;
  Matrix<float> sure = Matrix<float>::Zero(66, SyntheticText::classes);
  Matrix<float> any = sure;
  double spent = 0;
  for (Index t = 1; t < 65; ++t) {
    const int next = text[static_cast<std::size_t>(t + 1)];
    noise -= std::log2(next == SyntheticText::noise ? 1.0 / 16 : 15.0 / 16);
    sure(t, next) = 60;  // others at e^-60
    for (int c = 0; c < SyntheticText::classes; ++c) any(t, c) = std::sin(static_cast<float>(t * c % 97));
    const Matrix<double> row = any.row(t).cast<double>();
    spent += std::log2(row.array().exp().sum()) - row(0, next) / std::log(2.0);
  }
  CHECK(told_bits(sure, text).place == Approx(std::log2(57.0)).epsilon(1e-12));
  CHECK(told_bits(sure, text).noise == Approx(noise).epsilon(1e-12));
  const ToldBits told = told_bits(any, text);
  CHECK(told.place + told.noise == Approx(std::log2(57.0) + noise - spent).epsilon(1e-12));
}
