// SPDX-License-Identifier: Apache-2.0
// KLU without memory: an exception that says so, and no verdict on the matrix.
#include <SuiteSparse_config.h>

#include <cstdlib>
#include <cstring>

#include "netlist/sparse_lu.hpp"
#include "sim/base/out_of_memory.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

void* nothing(std::size_t /*bytes*/) { return nullptr; }

void take_from(void* (*allocate)(std::size_t)) {
#if SUITESPARSE_MAIN_VERSION >= 7
  SuiteSparse_config_malloc_func_set(allocate);
#else
  SuiteSparse_config.malloc_func = allocate;
#endif
}

/// Memory as an earlier use may have left it.
void* used(std::size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory != nullptr) std::memset(memory, 0x55, bytes);
  return memory;
}

/// While it lives KLU gets no memory.
struct NoMemory {
  NoMemory() { take_from(nothing); }
  ~NoMemory() { take_from(std::malloc); }
};

}  // namespace

TEST_CASE("a factorisation without memory is no singular matrix", "[netlist][memory]") {
  SparsePattern pattern;
  pattern.size = 2;
  pattern.column_begin = {0, 2, 4};
  pattern.row = {0, 1, 0, 1};
  const std::vector<double> regular{2, 1, 1, 2}, other{3, 1, 1, 2};
  {
    const NoMemory now;
    CHECK_THROWS_WITH(SparseLu(pattern), Contains("KLU has no memory for an order of 2 unknowns with 4 entries"));
  }
  SparseLu lu(pattern);
  {
    const NoMemory now;
    CHECK_THROWS_AS(lu.choose_pivots(regular), OutOfMemory);
    CHECK_THROWS_WITH(lu.factor(other), Contains("KLU has no memory for the factors of 2 unknowns"));
  }
  CHECK(lu.choose_pivots(regular));
  CHECK(lu.factor(other));
  double b[] = {4, 3};  // (3 1; 1 2) (1, 1)
  lu.solve(b);
  CHECK(b[0] == Approx(1));
  CHECK(b[1] == Approx(1));
}

TEST_CASE("the verdict on a small pivot does not depend on what memory held before", "[netlist][memory]") {
  // A source of voltage across 1 fOhm: columns alone in their block, one of them 1e-15 of its row. KLU sets no length of these.
  SparsePattern pattern;
  pattern.size = 2;
  pattern.column_begin = {0, 2, 3};
  pattern.row = {0, 1, 0};
  const std::vector<double> values{1e15, 1, 1};
  take_from(used);
  SparseLu lu(pattern);
  const bool pivots = lu.choose_pivots(values), regular = lu.factor(values, true);
  take_from(std::malloc);
  CHECK(pivots);
  REQUIRE(regular);
  std::vector<double> b{0, 1};  // no current into the node, 1 V
  lu.solve(b.data());
  CHECK(b[0] == Approx(1).epsilon(1e-14));
  CHECK(b[1] == Approx(-1e15).epsilon(1e-14));
}
