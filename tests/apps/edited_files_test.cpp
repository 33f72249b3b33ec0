// SPDX-License-Identifier: Apache-2.0
// Files of nudge that another program has edited: whole HDF5 files that do not say what they should. The fuzzer found these
// (tests/fuzz/contents.cpp).
#include <hdf5.h>

#include <array>
#include <functional>

#include "apps/info/describe.hpp"
#include "apps/report/report.hpp"
#include "sim/base/errors.hpp"
#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/compare/merge.hpp"
#include "training/train/train_log.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

using Edit = std::function<void(hid_t file)>;

std::filesystem::path edited(const test::TemporaryDirectory& dir, const std::string& base, const Edit& edit) {
  const std::filesystem::path path = dir / ("edited_" + base);
  std::filesystem::copy_file(std::filesystem::path(NUDGE_SOURCE_DIR) / "tests/fuzz/bases" / base, path,
                             std::filesystem::copy_options::overwrite_existing);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  REQUIRE(file >= 0);
  edit(file);
  H5Fclose(file);
  return path;
}

Edit without(const std::string& object) {
  return [=](hid_t file) { REQUIRE(H5Ldelete(file, object.c_str(), H5P_DEFAULT) >= 0); };
}

/// A dataset without dimension labels of elements of a type that were never written: zeros.
Edit with_dataset(const std::string& object, const std::vector<hsize_t>& shape, hid_t type) {
  return [=](hid_t file) {
    H5Ldelete(file, object.c_str(), H5P_DEFAULT);
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t data = H5Dcreate2(file, object.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(data >= 0);
    H5Dclose(data);
    H5Sclose(space);
  };
}

Edit with_column(const std::string& object, hsize_t count, hid_t type) { return with_dataset(object, {count}, type); }

/// The numbers of a dataset replaced by as many others.
Edit with_numbers(const std::string& object, const std::vector<double>& values) {
  return [=](hid_t file) {
    const hid_t data = H5Dopen2(file, object.c_str(), H5P_DEFAULT);
    REQUIRE(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
    H5Dclose(data);
  };
}

/// A text attribute in the place of another.
Edit with_text(const std::string& object, const std::string& name, const std::string& value) {
  return [=](hid_t file) {
    H5Adelete_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT);
    const hid_t text = H5Tcopy(H5T_C_S1), one = H5Screate(H5S_SCALAR);
    H5Tset_size(text, value.size());
    const hid_t made =
        H5Acreate_by_name(file, object.c_str(), name.c_str(), text, one, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(H5Awrite(made, text, value.data()) >= 0);
    H5Aclose(made);
    H5Sclose(one);
    H5Tclose(text);
  };
}

/// A map of no rows and four columns in the place of another.
Edit with_empty_map(const std::string& object) {
  return [=](hid_t file) {
    H5Ldelete(file, object.c_str(), H5P_DEFAULT);
    const std::array<hsize_t, 2> sizes = {0, 4};
    const hid_t space = H5Screate_simple(2, sizes.data(), nullptr), text = H5Tcopy(H5T_C_S1);
    const hid_t data =
        H5Dcreate2(file, object.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Tset_size(text, 3);
    const hid_t one = H5Screate(H5S_SCALAR), role = H5Acreate2(data, "role", text, one, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(H5Awrite(role, text, "map") >= 0);
    H5Aclose(role);
    H5Dclose(data);
    H5Sclose(space);
    H5Sclose(one);
    H5Tclose(text);
  };
}

template <class Read>
std::string refusal(const Read& read) {
  try {
    read();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a report names the column that an edited file lacks", "[report]") {
  const test::TemporaryDirectory dir;
  const auto refused = [&](const std::string& base, const Edit& edit) {
    const auto path = edited(dir, base, edit);
    return refusal([&] { report::report_html({path}); });
  };
  CHECK_THAT(refused("device.h5", without("staircase/conductance_mean")),
             Contains("staircase/conductance_mean: missing"));
  CHECK_THAT(refused("device.h5", with_column("endurance/low_std", 1, H5T_NATIVE_DOUBLE)),
             Contains("endurance/low_std: shape"));
  CHECK_THAT(refused("device.h5", without("drift/conductance_mean")), Contains("drift/conductance_mean: missing"));
  CHECK_THAT(refused("crossbar.h5", with_empty_map("ir_drop/Wh/positive")),
             Contains("ir_drop/Wh/positive: has no devices"));
  CHECK_THAT(refused("compare.h5", without("entrants/difference_low")), Contains("entrants: column difference_low"));
  CHECK_THAT(refused("compare.h5", without("tuning/validation_loss")), Contains("tuning: column validation_loss"));
}

TEST_CASE("a report of a tuning that does not say what it swept says so", "[report]") {
  const test::TemporaryDirectory dir;
  const auto path = edited(dir, "compare.h5", [](hid_t file) {
    H5Adelete_by_name(file, "tuning", "keys", H5P_DEFAULT);
    H5Adelete_by_name(file, "/", "keys", H5P_DEFAULT);
  });
  CHECK_THAT(report::report_html({path}), Contains("does not say which keys were swept"));
}

TEST_CASE("a map of numbers as large as there are is drawn", "[report]") {
  const test::TemporaryDirectory dir;
  const auto path = edited(dir, "crossbar.h5", [](hid_t file) {
    const std::string object = "ir_drop/Wh/positive";
    const hid_t data = H5Dopen2(file, object.c_str(), H5P_DEFAULT), space = H5Dget_space(data);
    std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)),
                               1.7e306);  // drawn in per cent
    values[0] = -1.7e306;
    H5Sclose(space);
    H5Dclose(data);
    with_numbers(object, values)(file);
  });
  CHECK_THAT(report::report_html({path}), Contains("IR drop at the positive devices of Wh"));
}

TEST_CASE("texts that are not UTF-8 are shown", "[report]") {
  const test::TemporaryDirectory dir;
  const auto path = edited(dir, "sweep.h5", with_text("/", "machine", "a\xff\xff machine"));
  CHECK_THAT(describe_run_file(path, DescribeFormat::json), Contains("a\xEF\xBF\xBD\xEF\xBF\xBD machine"));
}

TEST_CASE("a swept key that a sweep lists among its results is none", "[report]") {
  const test::TemporaryDirectory dir;
  H5Document document;
  document.attribute("kind", "sweep");
  document.group("points");
  document.attribute("keys", "a, b", "points");
  document.attribute("mode", "one_at_a_time", "points");
  document.attribute("results", "b, loss", "points");
  const H5Meaning meaning{"1", "", {"point"}};
  document.column("points/a", std::vector<double>{1, 2, 1}, meaning);
  document.column("points/b", std::vector<double>{1, 1, 2}, meaning);
  document.column("points/loss", std::vector<double>{3, 2, 1}, meaning);
  document.write(dir / "sweep.h5", Overwrite::must_not_exist);
  CHECK_THAT(report::report_html({dir / "sweep.h5"}), Contains("Sweep of a, b: single runs from 1"));
}

TEST_CASE("an axis that has no name is none", "[sweep]") {
  const test::TemporaryDirectory dir;
  const auto path = edited(dir, "sweep.h5", with_text("points/final_loss", "x", "points/"));
  const std::filesystem::path whole = std::filesystem::path(NUDGE_SOURCE_DIR) / "tests/fuzz/bases/sweep.h5";
  merge_sweeps({path, whole}, dir / "merged.h5", MissingPoints::accept);
  CHECK(H5Reader(dir / "merged.h5").reals<double>("points/final_loss").size() == 4);
}

TEST_CASE("files whose columns are of another type are not merged", "[sweep]") {
  const test::TemporaryDirectory dir;
  const std::filesystem::path whole = std::filesystem::path(NUDGE_SOURCE_DIR) / "tests/fuzz/bases/sweep.h5";
  const auto refused = [&](const Edit& edit) {
    const auto path = edited(dir, "sweep.h5", edit);
    return refusal([&] { merge_sweeps({whole, path}, dir / "merged.h5", MissingPoints::accept); });
  };
  CHECK_THAT(refused(with_column("points/status", 4, H5T_NATIVE_INT64)),
             Contains("points/status: is missing or of another type"));
  CHECK_THAT(refused(without("plan/row")), Contains("plan/row: is missing or of another type"));
  CHECK_THAT(refused(with_column("plan/seconds", 4, H5T_NATIVE_INT64)), Contains("plan/seconds: is missing"));
  CHECK_THAT(refused(with_column("plan/seconds", 3, H5T_NATIVE_DOUBLE)), Contains("4 rows expected, found 3"));
  CHECK_THAT(refused(with_column("points/final_loss", 4, H5T_NATIVE_INT64)),
             Contains("/points/final_loss: missing in one of them, or of another type"));
  CHECK_FALSE(std::filesystem::exists(dir / "merged.h5"));
}

TEST_CASE("a log with more rows than steps is not resumed", "[train]") {
  const test::TemporaryDirectory dir;
  const auto path = edited(dir, "train.h5", [](hid_t file) {
    const hsize_t count = 7;
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    const hid_t old = H5Dopen2(file, "train/array_energy", H5P_DEFAULT);
    const hid_t data = H5Dcreate2(file, "longer", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(old >= 0);
    H5Dclose(data);
    H5Dclose(old);
    H5Sclose(space);
    H5Ldelete(file, "train/array_energy", H5P_DEFAULT);
    H5Lmove(file, "longer", file, "train/array_energy", H5P_DEFAULT, H5P_DEFAULT);
  });
  CHECK_THAT(refusal([&] { resume(path, nullptr); }), Contains("train/array_energy: 7 rows, of 2 steps"));
}

TEST_CASE("a column in the place of a group of columns is not written beside it", "[train]") {
  const test::TemporaryDirectory dir;
  const auto path = edited(dir, "train.h5", with_column("weights/Wk", 2, H5T_NATIVE_DOUBLE));
  TrainLog log;
  log.restore(H5Reader(path), "");
  const auto column = [&](const std::string& name) { return refusal([&] { log.add(name, 1, "1", ""); }); };
  CHECK_THAT(column("weights/Wk/max"), Contains("has a column weights/Wk and cannot have weights/Wk/max"));
  CHECK_THAT(column("weights"), Contains("cannot have weights:"));
  CHECK(column("weights/Wkv").empty());
}

TEST_CASE("a log whose rows of numbers have no dimension labels is written again", "[train]") {
  const test::TemporaryDirectory dir;
  const auto path = edited(dir, "train.h5", with_dataset("weights/Wk", {2, 3}, H5T_NATIVE_DOUBLE));
  TrainLog log;
  log.restore(H5Reader(path), "");
  H5Document document;
  log.write(document, "");
  document.write(dir / "again.h5", Overwrite::must_not_exist);
  CHECK(H5Reader(dir / "again.h5").meaning("weights/Wk").dimensions == std::vector<std::string>{"entry", "column"});
}

TEST_CASE("steps that an edited log says to be less than none are none", "[train]") {
  const test::TemporaryDirectory dir;
  const auto path = edited(dir, "train.h5", with_numbers("train/skipped", {-1, -1}));
  CHECK(resume(path, nullptr).of("skipped") == 0);
}

TEST_CASE("a log whose column has entries of another width takes no more of them", "[train]") {
  const test::TemporaryDirectory dir;
  const auto path = edited(dir, "train.h5", with_dataset("weights/Wk", {2, 3}, H5T_NATIVE_DOUBLE));
  TrainLog log;
  log.restore(H5Reader(path), "");
  log.axis("train/validation_step");
  CHECK_THAT(refusal([&] { log.add("weights/Wk", 1, "1", ""); }),
             Contains("weights/Wk of rows of 3 and cannot add single numbers"));
  CHECK_THAT(refusal([&] { log.add_row("weights/Wk", {1, 2}, "1", "", "x"); }), Contains("cannot add rows of 2"));
  log.add_row("weights/Wk", {1, 2, 3}, "1", "", "x");
}

TEST_CASE("a dataset that would be the group of another is the error of the file", "[io]") {
  H5Document document;
  document.column("text", std::vector<double>{1}, {});
  document.column("texts/a", std::vector<double>{1}, {});
  CHECK_FALSE(document.bytes().empty());
  document.column("text/validation/bigram", std::vector<double>{1}, {});
  CHECK_THAT(refusal([&] { document.bytes(); }),
             Contains("text as a dataset and as the group of text/validation/bigram"));
}

TEST_CASE("a checkpoint of more steps than its training has, or of less than none, is not resumed", "[train]") {
  const test::TemporaryDirectory dir;
  for (const std::int64_t wrong : {-1, 3}) {  // of 2
    const auto path = edited(dir, "train.h5", [=](hid_t file) {
      const hid_t done = H5Aopen(file, "checkpoint_done", H5P_DEFAULT);
      REQUIRE(H5Awrite(done, H5T_NATIVE_INT64, &wrong) >= 0);
      H5Aclose(done);
    });
    CHECK_THAT(refusal([&] { resume(path, nullptr); }),
               Contains("attribute checkpoint_done: " + std::to_string(wrong) + " (must be in [0, 2]"));
  }
}

TEST_CASE("counters that are no whole numbers are not restored", "[train]") {
  const test::TemporaryDirectory dir;
  for (const double wrong : {-1.0, 0.5, 2e6}) {
    const auto path =
        edited(dir, "train.h5", with_numbers("checkpoint/maps/Wh/counters", std::vector<double>(36, wrong)));
    CHECK_THAT(refusal([&] { resume(path, nullptr); }), Contains("counters of a crossbar: restored as"));
  }
}

TEST_CASE("labels that name no dimension are none, and values that were never written are not made up", "[io]") {
  const test::TemporaryDirectory dir;
  const auto labelled = [](hid_t file, hsize_t count, const char* text) {
    const hid_t data = H5Dopen2(file, "staircase/pulse", H5P_DEFAULT);
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &count, nullptr);
    H5Tset_size(type, 4);
    H5Adelete(data, "DIMENSION_LABELS");
    const hid_t attribute = H5Acreate2(data, "DIMENSION_LABELS", type, space, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(H5Awrite(attribute, type, text) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(data);
  };
  const auto dimensions = [&](hsize_t count, const char* text) {
    const auto path = edited(dir, "device.h5", [&](hid_t file) { labelled(file, count, text); });
    return H5Reader(path).meaning("staircase/pulse").dimensions;
  };
  CHECK(dimensions(2, "one\0two\0").empty());
  CHECK(dimensions(1, "\0ne").empty());
  CHECK(dimensions(1, "o\0e") == std::vector<std::string>{"o"});
  const auto large = edited(dir, "sweep.h5", with_column("points/final_loss", hsize_t{1} << 27, H5T_NATIVE_DOUBLE));
  CHECK_THAT(refusal([&] { H5Reader(large).reals<double>("points/final_loss"); }),
             Contains("of which the file holds 0 bytes"));
}
