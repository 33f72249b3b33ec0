// SPDX-License-Identifier: Apache-2.0
#include "sim/base/build_info.hpp"
#include "tests/support/catch.hpp"

#include <cctype>

using Catch::Contains;

TEST_CASE("the program knows what it was built from") {
  const nudge::BuildInfo& info = nudge::build_info();
  CHECK(std::isdigit(static_cast<unsigned char>(info.version.front())) != 0);
  CHECK_THAT(info.compiler, Contains("gcc ") || Contains("clang "));
  CHECK_THAT(info.libraries, Contains("Eigen 3.") && Contains("HDF5 1.") && Contains("Boost 1."));
  CHECK_THAT(nudge::version_and_revision(), Catch::StartsWith(info.version));
  CHECK_THAT(nudge::compiler_and_flags(), Catch::StartsWith(info.compiler + ", " + info.build_type));
}
