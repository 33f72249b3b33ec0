// SPDX-License-Identifier: Apache-2.0
// Whole files are read up to one bound, inflated ones too, and what is free is asked of the system.
#include "sim/base/bounded_read.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "sim/base/errors.hpp"
#include "sim/base/machine_memory.hpp"
#include "sim/io/unpacked.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data_files.hpp"
#include "tests/support/sanitizers.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

const ReadBound kMega{std::size_t{1} << 20U, "so says the test"};

/// What a check finds in a process of its own, whose address space may be bounded.
bool holds_in_child(const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check() ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("read_bounded: what is there up to the bound, and a sentence beyond it", "[memory]") {
  std::string text(700000, 'x');
  text[699999] = 'y';
  for (const std::size_t expected : {0, 5, 700000, 900000}) {
    CAPTURE(expected);
    std::istringstream in(text);
    CHECK(read_bounded(in, "a text", expected, kMega) == text);
  }
  std::istringstream longer(text + text);
  CHECK_THROWS_WITH(read_bounded(longer, "a text", 0, kMega),
                    Contains("a text: has more than 1048576 bytes, so says the test"));
  std::istringstream untouched(text);
  CHECK_THROWS_AS(read_bounded(untouched, "a text", kMega.bytes + 1, kMega), UserError);
  CHECK(untouched.tellg() == std::streampos(0));  // refused by its size alone
}

TEST_CASE("read_bounded: a device without end ends at the bound", "[memory]") {
  std::ifstream zeros("/dev/zero", std::ios::binary);
  CHECK_THROWS_WITH(read_bounded(zeros, "/dev/zero", expected_bytes("/dev/zero"), kMega),
                    Contains("/dev/zero: has more than 1048576 bytes"));
}

TEST_CASE("unpacked: no more than the bound, and its contents once", "[memory]") {
  const std::string text(5000000, 'z'), packed = test::deflated(text, true);
  const std::string all = unpacked(packed, "t.gz", {text.size(), ""});
  CHECK(all == text);
  CHECK(all.capacity() <= text.size() + 64);  // grown by doubling it would be 8 MB, and both halves held at a time
  CHECK_THROWS_WITH(unpacked(packed, "t.gz", kMega), Contains("t.gz: has more than 1048576 bytes, so says"));
  CHECK(unpacked("plain", "t.csv", kMega) == "plain");
  CHECK_THROWS_WITH(unpacked(packed.substr(0, 100), "t.gz", kMega), Contains("t.gz: the .gz is truncated"));
  // Two members, of which the last alone says its size; and a size that is a lie.
  CHECK(unpacked(packed + test::deflated("end", true), "t.gz", {text.size() + 3, ""}) == text + "end");
  std::string lie = packed;
  for (std::size_t b = lie.size() - 4; b < lie.size(); ++b) lie[b] = '\xFF';
  CHECK_THROWS_WITH(unpacked(lie, "t.gz", {std::size_t{1} << 33U, ""}), Contains("the .gz is damaged"));
}

TEST_CASE("free_memory: what the machine tells, and less under a limit of the address space", "[memory]") {
  const FreeMemory free = free_memory();
  CHECK(free.bytes > 1e6);
  CHECK_FALSE(free.where.empty());
  CHECK(read_bound().bytes <= std::size_t{1} << 32U);
  if (!std::isfinite(free.bytes) || NUDGE_SANITIZED)
    return;  // the address sanitizer itself maps more than any such limit
  CHECK(holds_in_child([&free] {
    const rlimit limit{static_cast<rlim_t>(free.bytes / 2), RLIM_INFINITY};
    ::setrlimit(RLIMIT_AS, &limit);
    const FreeMemory less = free_memory();
    return less.bytes <= free.bytes / 2 && less.where == "ulimit -v leaves" &&
           static_cast<double>(read_bound().bytes) <= less.bytes / 3 + 1;
  }));
}

TEST_CASE("bytes_text", "[memory]") {
  CHECK(bytes_text(12e3) == "12 kB");
  CHECK(bytes_text(320e6) == "320 MB");
  CHECK(bytes_text(29.61e9) == "29.6 GB");
}
