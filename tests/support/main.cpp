// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER  // of version 2
#include <cstdlib>

#include "tests/support/catch.hpp"

int main(int argc, char** argv) {
  ::setenv("NUDGE_CACHE", "off", 1);  // what another build has kept is no result of this one
  return Catch::Session().run(argc, argv);
}
