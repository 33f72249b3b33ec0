// SPDX-License-Identifier: Apache-2.0
// One matrix of a file: CSV and .npy in both orders, and what is wrong with them.
#include "tests/support/catch.hpp"
#include "training/data/readers/readers.hpp"

#include <cmath>
#include <cstring>

#include "sim/base/errors.hpp"
#include "tests/support/data_files.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;
using Catch::Matchers::EndsWith;

namespace {

std::string bytes_of(const std::vector<double>& values) {
  std::string out(8 * values.size(), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

std::string error_of(const std::string& path, EmptyFields empty = EmptyFields::refused) {
  try {
    read_matrix_file(path, "conductances", empty);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a matrix is the same in C order, in Fortran order and as CSV", "[data]") {
  const TemporaryDirectory folder;
  Matrix<double> expected(2, 3);
  expected << 1, 2.5, 3, 4, 5, 6e-3;
  const auto read = [&](const char* name, const std::string& bytes) {
    return read_matrix_file(write_bytes(folder / name, bytes), "conductances").values;
  };
  CHECK((read("c.npy", npy("<f8", "(2, 3)", bytes_of({1, 2.5, 3, 4, 5, 6e-3}))) == expected));
  CHECK((read("f.npy", npy("<f8", "(2, 3)", bytes_of({1, 4, 2.5, 5, 3, 6e-3}), true)) == expected));
  CHECK((read("g.csv", "1,2.5,3\n4,5,6e-3\n") == expected));
  CHECK((read("h.csv", "\xEF\xBB\xBF# measured\r\nb0;b1;b2\r\n1;2.5;3\r\n4;5;6e-3\r\n") == expected));
  CHECK((read("v.npy", npy("<f8", "(3,)", bytes_of({1, 2.5, 3}))) == expected.row(0)));
}

TEST_CASE("an array of three dimensions in Fortran order has its elements where numpy has them", "[data]") {
  // numpy.arange(24).reshape(2, 3, 4) saved with numpy.asfortranarray: the first index is the fastest.
  std::string bytes;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) bytes += bytes_of({static_cast<double>(12 * i + 4 * j + k)});
  const RawArray array = parse_npy(npy("<f8", "(2, 3, 4)", bytes, true), "a");
  for (Index i = 0; i < 24; ++i) CHECK(array.at(i) == static_cast<double>(i));
}

TEST_CASE("empty fields and NaN are free where they may be, and name their place where not", "[data]") {
  const TemporaryDirectory folder;
  const std::string path = write_bytes(folder / "s.csv", ",,\n1,nan,2\n");
  const Matrix<double> map = read_matrix_file(path, "stuck map", EmptyFields::nan).values;
  REQUIRE((map.rows() == 2 && map.cols() == 3));
  CHECK((std::isnan(map(0, 0)) && std::isnan(map(0, 2)) && std::isnan(map(1, 1))));
  CHECK((map(1, 0) == 1 && map(1, 2) == 2));
  CHECK_THAT(error_of(path), Contains("s.csv\", line 1: field 1 is \"\" (must be a number)"));
  const auto csv = [&](const std::string& text) { return error_of(write_bytes(folder / "g.csv", text)); };
  CHECK_THAT(csv("1,2\n3\n"), Contains("line 2: 1 fields (must be 2"));
  CHECK_THAT(csv("1,2O\n3,4\n"), Contains("line 1: field 2 is \"2O\" (must be a number)"));
  CHECK_THAT(csv("# two\n1,2\n3,nan\n"), Contains("line 3, field 2: nan (must be a finite number)"));
  CHECK_THAT(csv("1,inf\n"), Contains("line 1, field 2: inf"));
  CHECK_THAT(csv(""), Contains("no line with numbers"));
  CHECK_THAT(csv("a,b\n"), Contains("a header and no line with numbers"));
  const auto array = [&](const std::string& bytes) { return error_of(write_bytes(folder / "g.npy", bytes)); };
  CHECK_THAT(array(npy("<f8", "(2, 2)", bytes_of({1, 2, std::nan(""), 4}))), Contains("row 1, column 0: nan"));
  CHECK_THAT(array(npy("<f8", "(1, 1, 1)", bytes_of({1}))), Contains("has the shape (1, 1, 1) (must be a matrix"));
  CHECK_THAT(array(npy("<f8", "(0, 3)", "")), EndsWith("holds no number"));
  CHECK_THAT(array(zip({{"g.npy", npy("<f8", "(1, 1)", bytes_of({1}))}}, 0)), Contains("holds arrays by name"));
  CHECK_THAT(error_of((folder / "absent.csv").string()), Contains("absent.csv"));
}
