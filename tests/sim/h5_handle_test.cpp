// SPDX-License-Identifier: Apache-2.0
// What C libraries could not make is an exception with a sentence: for want of memory one, for all else a bug of ours.
#include "sim/io/h5_handle.hpp"

#include "sim/base/out_of_memory.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

TEST_CASE("what a library could not make is told", "[io][memory]") {
  int number = 3;
  CHECK(made_by("a library", &number, "a number") == &number);
  CHECK_THROWS_WITH(made_by("KLU", static_cast<int*>(nullptr), "an order"), "KLU has no memory for an order");
  CHECK_THROWS_AS(made_by("KLU", static_cast<int*>(nullptr), "an order"), std::bad_alloc);
}

TEST_CASE("a call of HDF5 that failed is told by what it was for, and by its reason", "[io][memory]") {
  const H5Session session;
  CHECK(h5_made(H5Screate(H5S_SCALAR), H5Sclose, "a space").ok());
  CHECK_NOTHROW(h5_need(true, "a type"));
  CHECK_THROWS_WITH(h5_made(H5Tcopy(-1), H5Tclose, "a type"), Contains("HDF5 could not make a type ("));
  // As its own code pushes it where malloc() gave nothing.
  H5Eclear2(H5E_DEFAULT);
  H5Epush2(H5E_DEFAULT, "file.c", "function", 1, H5E_ERR_CLS, H5E_RESOURCE, H5E_NOSPACE, "memory allocation failed");
  CHECK_THROWS_AS(h5_need(false, "a type"), OutOfMemory);
  CHECK_THROWS_WITH(h5_made(-1, H5Tclose, "a type"), "HDF5 has no memory for a type");
  H5Eclear2(H5E_DEFAULT);
}
