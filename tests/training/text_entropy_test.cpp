// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "training/data/text_dataset.hpp"

#include <cmath>

#include "tests/support/temporary_directory.hpp"
#include "training/train/train_summary.hpp"

using namespace nudge;
using namespace nudge::test;

TEST_CASE("entropies of counting, by hand") {
  // training aabab (a = 0, b = 1): n(a) = 3, n(b) = 2; pairs aa 1, ab 2, ba 1. Held out: a|ab.
  const std::vector<int> training = {0, 0, 1, 0, 1}, held_out = {0, 0, 1};
  const TextEntropy e = text_entropy(training, held_out, 2);
  CHECK(e.chance == Approx(std::log(2.0)));
  CHECK(e.unigram == Approx(-(std::log(4.0 / 7) + std::log(3.0 / 7)) / 2));
  CHECK(e.bigram == Approx(-(std::log(2.0 / 5) + std::log(3.0 / 5)) / 2));
}

TEST_CASE("what training never showed costs a finite loss, and equal letters cost ln V") {
  const std::vector<int> training = {0, 0, 0}, held_out = {0, 1};
  CHECK(text_entropy(training, held_out, 2).unigram == Approx(-std::log(1.0 / 5)));
  CHECK(text_entropy(training, held_out, 2).bigram == Approx(-std::log(1.0 / 4)));
  std::vector<int> even;
  for (int i = 0; i < 400; ++i) even.push_back(i % 4);
  const TextEntropy e = text_entropy(even, even, 4);
  CHECK(e.unigram == Approx(e.chance).margin(1e-4));  // (100 + 1)/(400 + 4) but for the first character
  CHECK(e.bigram < 0.1);                              // the next letter is certain
}

TEST_CASE("lines of a text come back from a file, with and without a test part") {
  const TemporaryDirectory folder;
  std::string text;
  for (int i = 0; i < 500; ++i) text += i % 7 == 0 ? "a" : "bc";
  for (const double test : {0.2, 0.0}) {
    const TextLines lines = text_lines(TextDataset::from_text(text, "t", {0.2, test}, 4));
    CHECK(lines.test.has_value() == (test > 0));
    CHECK(lines.validation.bigram < lines.validation.unigram);
    CHECK(lines.validation.unigram < lines.validation.chance);
    H5Document document;
    write_text_lines(lines, document);
    const auto path = folder / (test > 0 ? "a.h5" : "b.h5");
    document.write(path, Overwrite::must_not_exist);
    const auto read = read_text_lines(H5Reader(path));
    REQUIRE(read.has_value());
    CHECK(read->validation.unigram == lines.validation.unigram);
    CHECK(read->test.has_value() == (test > 0));
    if (read->test) CHECK(read->test->bigram == lines.test->bigram);
  }
}

TEST_CASE("the final loss is the mean of the finite losses of the last tenth") {
  std::vector<double> losses(30, 5.0);
  losses[27] = 1;
  losses[28] = 2;
  losses[29] = 6;
  CHECK(final_training_loss(losses) == 3);
  losses[29] = std::nan("");
  CHECK(final_training_loss(losses) == 1.5);
  CHECK(final_training_loss({4.0, 7.0}) == 7);
  CHECK(std::isnan(final_training_loss({})));
}
