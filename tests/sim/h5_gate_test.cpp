// SPDX-License-Identifier: Apache-2.0
// HDF5 files that point out of themselves, or in circles.

#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>

#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/errors.hpp"
#include "sim/io/descriptor.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// A file of one good dataset "own" and what `add` puts into it.
std::filesystem::path made(const std::filesystem::path& path, const std::function<void(hid_t)>& add) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const double value = 1.5;
  const hid_t own = H5Dcreate2(file, "own", H5T_IEEE_F64LE, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(H5Dwrite(own, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0);
  H5Dclose(own);
  H5Sclose(scalar);
  add(file);
  H5Fclose(file);
  return path;
}

hid_t new_dataset(hid_t file, const char* name, hid_t type, hsize_t size, hid_t properties) {
  const hid_t space = H5Screate_simple(1, &size, nullptr);
  const hid_t data = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  H5Sclose(space);
  return data;
}

void add_external(hid_t file, const std::string& victim) {
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  REQUIRE(H5Pset_external(properties, victim.c_str(), 0, 8) >= 0);
  H5Dclose(new_dataset(file, "leak", H5T_STD_U8LE, 8, properties));
  H5Pclose(properties);
}

void add_virtual(hid_t file, const std::string& victim) {
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t size = 8;
  const hid_t space = H5Screate_simple(1, &size, nullptr);
  REQUIRE(H5Pset_virtual(properties, space, victim.c_str(), "own", space) >= 0);
  H5Sclose(space);
  H5Dclose(new_dataset(file, "leak", H5T_IEEE_F64LE, 8, properties));
  H5Pclose(properties);
}

/// With the seal that a forger can make.
void reseal(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::byte> bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  seal(bytes);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void expect_refused(const std::filesystem::path& path, const std::string& object, const std::string& why) {
  for (const bool sealed : {false, true}) {
    if (sealed) reseal(path);
    const H5Reader file(path);
    CHECK(file.reals<double>("own").at(0) == 1.5);  // the rest can be read
    CHECK_THROWS_WITH(file.reals<double>(object), Contains(object.substr(0, object.find('/'))) && Contains(why));
    CHECK_THROWS_WITH(file.integers(object), Contains(why));
    CHECK_THROWS_WITH(file.texts(object), Contains(why));
    CHECK_THROWS_WITH(file.type(object), Contains(why));
    CHECK_THROWS_WITH(file.shape(object), Contains(why));
    CHECK_THROWS_WITH(file.meaning(object), Contains(why));
  }
}

}  // namespace

TEST_CASE("values that lie in other files are refused by name", "[io]") {
  const test::TemporaryDirectory dir;
  std::ofstream(dir / "secret.txt") << "password";
  const auto secret = made(dir / "secret.h5", [](hid_t) {});
  expect_refused(made(dir / "raw.h5", [&](hid_t f) { add_external(f, (dir / "secret.txt").string()); }), "leak",
                 "its values are in another file (\"" + (dir / "secret.txt").string() + "\")");
  expect_refused(made(dir / "virtual.h5", [&](hid_t f) { add_virtual(f, secret.string()); }), "leak",
                 "a virtual dataset");
  const auto link = made(dir / "link.h5", [&](hid_t f) {
    REQUIRE(H5Lcreate_external(secret.c_str(), "/", f, "outside", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    REQUIRE(H5Lcreate_soft("/outside/own", f, "detour", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  });
  expect_refused(link, "outside/own", "a link to another file (\"" + secret.string() + "\")");
  expect_refused(link, "detour", "a link to another file");
  const H5Reader file(link);
  CHECK_THROWS_WITH(file.datasets(), Contains("link to another file"));
  CHECK_THROWS_WITH(file.all_datasets(), Contains("link to another file"));
  CHECK_THROWS_WITH(file.has("outside/own"), Contains("link to another file"));
  CHECK_THROWS_WITH(file.attributes("outside"), Contains("link to another file"));
}

TEST_CASE("other files are not even opened: a pipe does not keep the reader waiting", "[io]") {
  const test::TemporaryDirectory dir;
  const std::string pipe = (dir / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const auto path = made(dir / "waits.h5", [&](hid_t f) {
    add_virtual(f, pipe);
    REQUIRE(H5Lcreate_external(pipe.c_str(), "/", f, "outside", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  });
  reseal(path);  // no child reads it first
  ::alarm(20);
  const H5Reader file(path);
  CHECK_THROWS_AS(file.reals<double>("leak"), UserError);
  CHECK_THROWS_AS(file.all_datasets(), UserError);
  CHECK_THROWS_WITH(H5Reader(pipe), Contains("is not a plain file"));
  ::alarm(0);
}

TEST_CASE("links in a circle, to nothing, and groups with 2^40 paths come to an end", "[io]") {
  const test::TemporaryDirectory dir;
  const auto path = made(dir / "links.h5", [](hid_t f) {
    REQUIRE(H5Lcreate_soft("/b", f, "a", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    REQUIRE(H5Lcreate_soft("/a", f, "b", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  });
  CHECK_THROWS_WITH(H5Reader(path).reals<double>("a"), Contains("a: a link that leads nowhere, in a circle"));
  CHECK_THROWS_WITH(H5Reader(path).all_datasets(), Contains("in a circle"));
  CHECK(H5Reader(path).reals<double>("own").at(0) == 1.5);

  const auto pairs = made(dir / "pairs.h5", [](hid_t f) {
    hid_t at = H5Gopen2(f, "/", H5P_DEFAULT);
    for (int i = 0; i < 40; ++i) {
      const hid_t next = H5Gcreate2(at, "x", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      H5Lcreate_hard(at, "x", at, "y", H5P_DEFAULT, H5P_DEFAULT);
      H5Gclose(at);
      at = next;
    }
    H5Gclose(at);
  });
  CHECK(H5Reader(pairs).all_datasets() == std::vector<std::string>{"own"});
}

TEST_CASE("links within the file are followed", "[io]") {
  const test::TemporaryDirectory dir;
  const auto path = made(dir / "inside.h5", [](hid_t f) {
    H5Gclose(H5Gcreate2(f, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    REQUIRE(H5Lcreate_soft("/own", f, "group/soft", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    REQUIRE(H5Lcreate_hard(f, "own", f, "group/hard", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  });
  const H5Reader file(path);
  CHECK(file.all_datasets() == std::vector<std::string>{"own", "group/hard", "group/soft"});
  CHECK(file.reals<double>("group/soft").at(0) == 1.5);
}

TEST_CASE("a filter that is not built in is named and not looked for among plugins", "[io]") {
  const test::TemporaryDirectory dir;
  const auto path = made(dir / "filter.h5", [](hid_t f) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 8;
    H5Pset_chunk(properties, 1, &chunk);
    REQUIRE(H5Pset_filter(properties, 32001, H5Z_FLAG_OPTIONAL, 0, nullptr) >= 0);
    H5Dclose(new_dataset(f, "packed", H5T_IEEE_F64LE, 8, properties));
    H5Pclose(properties);
  });
  unsigned before = 0, after = 0;
  H5PLget_loading_state(&before);
  expect_refused(path, "packed", "stored with the filter 32001");
  H5PLget_loading_state(&after);
  CHECK(before == after);  // other users of the library keep theirs
}

TEST_CASE("names of a file cannot forge the lines of an error", "[io]") {
  const test::TemporaryDirectory dir;
  const auto path = made(dir / "names.h5", [](hid_t f) {
    H5Gclose(H5Gcreate2(f, "x\n\x1b[2Jall is well", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  });
  const H5Reader file(path);
  CHECK_THROWS_WITH(file.reals<double>(file.groups().at(0)), Contains("x\\n\\u001b[2Jall is well: a dataset expected"));
}

TEST_CASE("further questions about a dataset of a foreign file do not open it anew", "[io]") {
  const test::TemporaryDirectory dir;
  const auto path = made(dir / "many.h5", [](hid_t f) {
    const hid_t scalar = H5Screate(H5S_SCALAR);
    for (int i = 0; i < 10000; ++i) {
      const std::string name = "d" + std::to_string(i);
      H5Dclose(H5Dcreate2(f, name.c_str(), H5T_IEEE_F64LE, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    H5Sclose(scalar);
  });
  // Processor time of one question per dataset, and of six: the first opens, the others read what it kept. Both are of the
  // same file on the same machine, so that a slow machine does not matter.
  const auto seconds = [&](int questions) {
    const H5Reader file(path);
    const std::vector<std::string> names = file.all_datasets();
    const std::clock_t begin = std::clock();
    for (const std::string& name : names) {
      for (int i = 0; i < questions; i += 2) {
        file.type(name);
        if (questions > 1) file.shape(name);
      }
    }
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  double one = seconds(1), six = seconds(6);
  for (int repeat = 0; repeat < 2; ++repeat) {
    one = std::min(one, seconds(1));
    six = std::min(six, seconds(6));
  }
  INFO(one << " s for one question per dataset, " << six << " s for six");
  CHECK(six < 3 * one);  // six if each opened its dataset
}
