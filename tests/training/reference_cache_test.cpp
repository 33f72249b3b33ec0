// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "training/data/scores.hpp"

#include <cstdlib>
#include <limits>

#include "tests/support/temporary_directory.hpp"
#include "tests/training/tiny_run.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// The cache in a folder of its own, for a test's time.
class CacheIn {
 public:
  explicit CacheIn(const std::string& folder) { ::setenv("NUDGE_CACHE", folder.c_str(), 1); }
  ~CacheIn() { ::setenv("NUDGE_CACHE", "off", 1); }
};

ReferenceScores some_scores() {
  ReferenceScores scores{"accuracy", "nat", {{"chance", "validation", 2.3, 0.1}, {"linear", "validation", 0.4, 0.8}}};
  scores.ridge = 1e-3;
  scores.samples = 50;
  scores.of_samples = 100;
  scores.above_minimum = 1e-5;
  return scores;
}

std::filesystem::path only_file(const std::filesystem::path& folder) {
  return std::filesystem::directory_iterator(folder)->path();
}

}  // namespace

TEST_CASE("scores are computed once for a key") {
  const TemporaryDirectory dir;
  const CacheIn cache((dir / "made" / "on the way").string());
  int computed = 0;
  const auto compute = [&] {
    ++computed;
    return some_scores();
  };
  CHECK(cached_references("a", 100, compute).find("linear", "validation")->score == 0.8);
  const ReferenceScores again = cached_references("a", 100, compute);
  CHECK(computed == 1);
  CHECK(again.rows.size() == 2);
  CHECK(again.ridge == 1e-3);
  CHECK(again.samples == 50);
  CHECK(again.above_minimum == 1e-5);
  cached_references("b", 100, compute);
  CHECK(computed == 2);
}

TEST_CASE("a file of the cache is not believed blindly") {
  const TemporaryDirectory dir;
  const auto folder = dir / "cache";
  const CacheIn cache(folder.string());
  int computed = 0;
  const auto compute = [&] {
    ++computed;
    return some_scores();
  };
  cached_references("a", 100, compute);
  const auto path = only_file(folder);
  const std::string good = bytes_of(path);
  const auto computes_again = [&] {
    const int before = computed;
    const ReferenceScores scores = cached_references("a", 100, compute);
    CHECK(scores.find("linear", "validation")->score == 0.8);
    return computed == before + 1;
  };
  CHECK_FALSE(computes_again());
  write_bytes(path, good.substr(0, good.size() / 2));
  CHECK(computes_again());
  std::string damaged = good;
  damaged[good.size() / 2] = static_cast<char>(damaged[good.size() / 2] ^ 0x40);
  write_bytes(path, damaged);
  CHECK(computes_again());
  const auto forged = [&](const std::string& key, const ReferenceScores& scores) {
    H5Document document;
    document.attribute("kind", std::string("references"));
    document.attribute("key", key);
    write_reference_scores(scores, document);
    document.write(path, Overwrite::replace);
  };
  forged("another key under the same name", some_scores());
  CHECK(computes_again());
  ReferenceScores wrong = some_scores();
  wrong.rows[1].score = 1.5;
  forged("a", wrong);
  CHECK(computes_again());
  wrong = some_scores();
  wrong.samples = 101;  // of 100
  forged("a", wrong);
  CHECK(computes_again());
  CHECK_FALSE(computes_again());  // mended
}

TEST_CASE("a cache that cannot be written or is off is as none") {
  const TemporaryDirectory dir;
  write_bytes(dir / "file", "no folder");
  int computed = 0;
  const auto compute = [&] {
    ++computed;
    return some_scores();
  };
  {
    const CacheIn cache((dir / "file").string());
    CHECK(cached_references("a", 100, compute).rows.size() == 2);
    CHECK(cached_references("a", 100, compute).rows.size() == 2);
    CHECK(computed == 2);
  }
  CHECK_FALSE(cache_folder());
  cached_references("a", 100, compute);
  CHECK(computed == 3);
}
