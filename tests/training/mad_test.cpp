// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/support/catch.hpp"
#include "training/data/mad/mad_task.hpp"

using namespace nudge;

namespace {

constexpr std::uint64_t kSeed = 5;
constexpr std::uint64_t kExamples = 200;

template <class Check>
void for_examples(MadKind task, const MadSizes& sizes, Check check) {
  for (const Split split : {Split::training, Split::test}) {
    for (std::uint64_t n = 0; n < kExamples; ++n) {
      const MadExample example = mad_example(task, sizes, kSeed, split, n);
      REQUIRE(example.tokens.size() == example.targets.size());
      for (const int token : example.tokens) REQUIRE((token >= 0 && token < sizes.vocabulary));
      for (const int target : example.targets) REQUIRE((target >= -1 && target < sizes.vocabulary));
      check(split, example);
    }
  }
}

/// Whether in an example every key has one value; counts pairs, noise pairs and keys' occurrences.
struct Pairs {
  std::map<int, int> value_of;
  std::map<int, int> occurrences;
  int pairs = 0, noise = 0;
  bool consistent = true;
};

/// The sequence of a recall example: what is read and the last target.
Pairs pairs_of(const MadExample& example, int kinds) {
  std::vector<int> sequence = example.tokens;
  sequence.push_back(example.targets.back());
  Pairs found;
  for (std::size_t i = 0; i + 1 < sequence.size(); i += 2) {
    ++found.pairs;
    const int key = sequence[i];
    const int value = sequence[i + 1];
    if (key >= 2 * kinds) {
      ++found.noise;
      found.consistent = found.consistent && value >= 2 * kinds;
      continue;
    }
    found.consistent = found.consistent && key < kinds && value >= kinds && value < 2 * kinds;
    if (++found.occurrences[key] > 1) {
      found.consistent = found.consistent && found.value_of[key] == value;
    }
    found.value_of[key] = value;
  }
  return found;
}

}  // namespace

TEST_CASE("MAD examples are pure functions of seed, split and number") {
  for (const MadKind task : {MadKind::in_context_recall, MadKind::noisy_recall, MadKind::fuzzy_recall,
                             MadKind::selective_copy, MadKind::compression, MadKind::memorization}) {
    const MadSizes sizes = published_sizes(task);
    const auto tokens = [&](std::uint64_t seed, Split split, std::uint64_t n) {
      return mad_example(task, sizes, seed, split, n).tokens;
    };
    CHECK(tokens(1, Split::training, 3) == tokens(1, Split::training, 3));
    CHECK(tokens(1, Split::training, 3) != tokens(1, Split::training, 4));
    CHECK(tokens(1, Split::training, 3) != tokens(1, Split::test, 3));
    CHECK(tokens(1, Split::training, 3) != tokens(2, Split::training, 3));
  }
}

TEST_CASE("in-context recall: a key keeps its value, tests ask for repeated keys only") {
  const MadSizes sizes = published_sizes(MadKind::in_context_recall);
  std::map<int, int> first_keys;
  for_examples(MadKind::in_context_recall, sizes, [&](Split split, const MadExample& example) {
    REQUIRE(example.tokens.size() == 127);
    const Pairs pairs = pairs_of(example, 8);
    REQUIRE(pairs.consistent);
    REQUIRE(pairs.pairs == 64);
    REQUIRE(pairs.occurrences.at(example.tokens.back()) > 1);  // the probe was presented
    std::set<int> seen;
    for (std::size_t t = 0; t < example.targets.size(); ++t) {
      const int next = t + 1 < example.tokens.size() ? example.tokens[t + 1] : example.targets.back();
      const bool repeated_key = t % 2 == 0 && !seen.insert(example.tokens[t]).second;
      REQUIRE(example.targets[t] == (split == Split::training || repeated_key ? next : -1));
    }
    ++first_keys[example.tokens.front()];
  });
  // 400 uniform draws of 8 keys: each 50 times, deviation 6.6; five deviations.
  for (const auto& [key, count] : first_keys) CHECK(std::abs(count - 50) < 33);
}

TEST_CASE("noisy recall: a fifth of the pairs is noise, never all of them") {
  const MadSizes sizes = published_sizes(MadKind::noisy_recall);
  double noise = 0;
  for_examples(MadKind::noisy_recall, sizes, [&](Split, const MadExample& example) {
    const Pairs pairs = pairs_of(example, 8);
    REQUIRE(pairs.consistent);
    REQUIRE(pairs.occurrences.at(example.tokens.back()) > 1);
    noise += pairs.noise;
  });
  // 400 x 63 slots, one of them forced: 0.2·62/63 = 0.1968, deviation √(0.2·0.8/25200) = 0.0025; five deviations.
  CHECK(std::abs(noise / (400 * 63) - 0.1968) < 0.0125);
}

TEST_CASE("fuzzy recall: motifs without repetition, the probe at the end and before, padding on the left") {
  const MadSizes sizes = published_sizes(MadKind::fuzzy_recall);
  for_examples(MadKind::fuzzy_recall, sizes, [&](Split split, const MadExample& example) {
    REQUIRE(example.tokens.size() == 128);
    std::vector<int> sequence = example.tokens;
    sequence.push_back(example.targets.back());
    const auto start = std::find_if(sequence.begin(), sequence.end(), [](int token) { return token != 15; });
    REQUIRE(start - sequence.begin() >= 2);
    REQUIRE(std::count(start, sequence.end(), 15) == 0);
    for (const int target : example.targets) REQUIRE(target != 15);
    // Runs of keys 0..6 and values 7..14 alternate; tokens of a run differ.
    std::vector<std::vector<int>> runs;
    for (auto t = start; t != sequence.end(); ++t) {
      if (runs.empty() || (runs.back().front() < 7) != (*t < 7)) runs.emplace_back();
      runs.back().push_back(*t);
    }
    REQUIRE(runs.size() % 2 == 0);
    REQUIRE(runs.front().front() < 7);
    std::map<std::vector<int>, std::vector<int>> value_of;
    int asked = 0;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      REQUIRE(std::set<int>(runs[r].begin(), runs[r].end()).size() == runs[r].size());
      REQUIRE(runs[r].size() <= 3);
      if (r % 2 == 0 && split == Split::test) REQUIRE(runs[r].size() == 3);
      if (r % 2 == 0) continue;
      const auto known = value_of.emplace(runs[r - 1], runs[r]);
      REQUIRE(known.first->second == runs[r]);
      if (!known.second) asked += static_cast<int>(runs[r].size());
    }
    REQUIRE(value_of.size() < runs.size() / 2);  // the probe at least is repeated
    const auto targets = std::count_if(example.targets.begin(), example.targets.end(), [](int t) { return t >= 0; });
    if (split == Split::test) REQUIRE(targets == asked);
  });
}

TEST_CASE("selective copy: the tokens in order where they are asked for") {
  for (const Index length : {256, 64}) {
    MadSizes sizes = published_sizes(MadKind::selective_copy);
    sizes.tokens = length;
    const std::size_t n = length == 256 ? 16 : 8;
    for_examples(MadKind::selective_copy, sizes, [&](Split, const MadExample& example) {
      REQUIRE(static_cast<Index>(example.tokens.size()) == length);
      std::vector<int> wanted;
      for (const int token : example.tokens) {
        if (token < 14) wanted.push_back(token);
      }
      REQUIRE(wanted.size() == n);
      REQUIRE(std::vector<int>(example.targets.end() - static_cast<std::ptrdiff_t>(n), example.targets.end()) ==
              wanted);
      REQUIRE(std::count(example.targets.begin(), example.targets.end(), -1) == length - static_cast<Index>(n));
      REQUIRE(example.tokens[example.tokens.size() - n - 1] == 15);  // copy token, then blanks
      REQUIRE(std::count(example.tokens.end() - static_cast<std::ptrdiff_t>(n), example.tokens.end(), 14) ==
              static_cast<std::ptrdiff_t>(n));
      REQUIRE(example.tokens[example.tokens.size() - n - 2] < 14);  // no blank after the last token
    });
  }
}

TEST_CASE("compression asks for what was read, memorization for one map without repetition") {
  for_examples(MadKind::compression, published_sizes(MadKind::compression), [](Split, const MadExample& example) {
    REQUIRE(example.tokens == example.targets);
    REQUIRE(std::count(example.tokens.begin(), example.tokens.end(), 15) == 1);
    REQUIRE(example.tokens.back() == 15);
  });
  std::map<int, int> value_of;
  for_examples(MadKind::memorization, published_sizes(MadKind::memorization), [&](Split, const MadExample& example) {
    REQUIRE(example.tokens.size() == 32);
    for (std::size_t t = 0; t < 32; t += 2) {
      REQUIRE((example.tokens[t] < 127 && example.tokens[t + 1] == 255 && example.targets[t] == -1));
      const int value = example.targets[t + 1];
      REQUIRE((value >= 127 && value < 255));
      REQUIRE(value_of.emplace(example.tokens[t], value).first->second == value);
    }
  });
  CHECK(value_of.size() == 127);  // 6400 draws: a key is missed with probability 127·e^-50
  std::set<int> values;
  for (const auto& [key, value] : value_of) values.insert(value);
  CHECK(values.size() == 127);
}
