// SPDX-License-Identifier: Apache-2.0
#include "sim/base/parallel.hpp"
#include "tests/support/catch.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using nudge::Index;
using nudge::parallel_for;

TEST_CASE("parallel_for runs each index once, for any number of threads", "[parallel]") {
  for (const int threads : {0, 1, 2, 5}) {
    CAPTURE(threads);
    std::vector<int> visits(1000, 0);
    std::vector<int> bad_thread(1000, 0);
    parallel_for(1000, threads, [&](Index i, int thread) {
      const auto at = static_cast<std::size_t>(i);
      ++visits[at];
      bad_thread[at] = thread < 0 || thread >= nudge::thread_count(threads);
    });
    CHECK(visits == std::vector<int>(1000, 1));
    CHECK(bad_thread == std::vector<int>(1000, 0));
  }
  parallel_for(0, 2, [](Index, int) { throw std::logic_error("no index to run"); });
}

TEST_CASE("parallel_for finishes the loop, then rethrows the exception of the lowest index", "[parallel]") {
  for (const int threads : {1, 2, 5}) {
    CAPTURE(threads);
    std::vector<int> visits(100, 0);
    std::string message;
    try {
      parallel_for(100, threads, [&](Index i, int) {
        ++visits[static_cast<std::size_t>(i)];
        if (i % 10 == 3) throw std::runtime_error(std::to_string(i));
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    CHECK(message == "3");
    CHECK(visits == std::vector<int>(100, 1));
  }
}

}  // namespace
