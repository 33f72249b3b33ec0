// SPDX-License-Identifier: Apache-2.0
// Every refusal names the file, the place and the rule.
#include <limits>

#include "sim/base/errors.hpp"
#include "sim/io/h5_document.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data_files.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/config/config_table.hpp"
#include "training/data/readers/readers.hpp"
#include "training/data/samples.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

template <class Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::string csv(const std::string& text, const std::string& labels = "", Target target = Target::label) {
  return message_of([&] { parse_csv(text, "data file \"t.csv\"", {"t.csv", "", labels}, target); });
}

std::string file(const DataSource& source) {
  return message_of([&] { read_labelled_data(source, Target::label); });
}

/// Of the samples that a config with these settings names.
std::string config(const std::vector<std::string>& settings, Target target = Target::label) {
  std::vector<std::string> all = {"task.kind=classification", "network.kind=hopfield"};
  all.insert(all.end(), settings.begin(), settings.end());
  return message_of([&] { load_samples(sample_options(parse_program_config("t", "", all)), target); });
}

}  // namespace

TEST_CASE("CSV: ragged lines, no numbers, NaN, labels that are no class") {
  const std::string at = "data file \"t.csv\"";
  CHECK(csv("label,x,y\n1,2,3\n\n0,4\n") == at + ", line 4: 2 fields (must be 3, as many as the first line has)");
  CHECK(csv("0,1\n1,2,3\n") == at + ", line 2: 3 fields (must be 2, as many as the first line has)");
  CHECK(csv("l,x\n0,1\n1,cat\n") == at + ", line 3: field 2 is \"cat\" (must be a number)");
  CHECK(csv("l,x\n0,\n") == at + ", line 2: field 2 is \"\" (must be a number)");
  CHECK(csv("0,1\n1,nan\n") == at + ", line 2: field 2 is nan (must be a finite float32)");
  CHECK(csv("0,1\n1,-inf\n") == at + ", line 2: field 2 is -inf (must be a finite float32)");
  CHECK(csv("0,1e99\n") == at + ", line 1: field 2 is 1e+99 (must be a finite float32)");
  CHECK(csv("# c\n-1,2\n") == at + ", line 2: field 1, the label, is -1 (must be a whole number in [0, 65535])");
  CHECK(csv("0.5,2\n") == at + ", line 1: field 1, the label, is 0.5 (must be a whole number in [0, 65535])");
  CHECK(csv("nan,2\n") == at + ", line 1: field 1, the label, is nan (must be a whole number in [0, 65535])");
  CHECK(csv("1e5,2\n") == at + ", line 1: field 1, the label, is 100000 (must be a whole number in [0, 65535])");
  CHECK(csv("nan,2\n", "", Target::value) == at + ", line 1: field 1 is nan (must be a finite float32)");
  CHECK(csv("") == at + ": has no line with numbers");
  CHECK(csv("# only a note\n") == at + ": has no line with numbers");
  CHECK(csv("label,x\n") == at + ": has a header and no line with numbers");
  CHECK(csv("1\n2\n") == at + ": has 1 columns, a label and at least one feature are needed");
}

TEST_CASE("CSV: a header that names another column the label is not read as if the first were it") {
  CHECK(csv("age,height,Label\n40,170,1\n50,180,0\n") ==
        "data file \"t.csv\": its column \"Label\" is not the first, \"age\", which would be the labels. Set "
        "data.labels = "
        "\"Label\", or \"age\"");
  CHECK_THAT(csv("x1,x2,y\n0,1,2\n", "", Target::value), Contains("Set data.labels = \"y\", or \"x1\""));
  for (const char* text : {"age,height\n1,170\n0,180\n", "kind,x,y\n1,2,3\n0,1,2\n", "class,target\n1,2\n0,3\n"}) {
    CHECK(csv(text) == "no error");
  }
}

TEST_CASE("CSV: a column that is not there is answered with the nearest one") {
  CHECK(csv("species,x\n0,1\n", "specis") ==
        "data file \"t.csv\": has no column data.labels = \"specis\" (did you mean species?)");
  CHECK_THAT(csv("0,1\n", "label"),
             Contains("has no header line, so the column data.labels = \"label\" cannot be found"));
  CHECK(csv("a,b,c\n0,1,2\n", "a,a", Target::value) == "data.labels = \"a,a\" names a column twice");
}

TEST_CASE("IDX: magic, truncation, counts that differ, labels missing or swapped") {
  const TemporaryDirectory folder;
  const std::string good = write_bytes(folder / "x", idx(0x08, {2, 1, 2}, std::string(4, '\1')));
  const std::string labels = write_bytes(folder / "y", idx(0x08, {2}, std::string(2, '\1')));
  const std::string name = "data file \"" + (folder / "bad").string() + "\"";
  const auto bad = [&](const std::string& bytes) { return file({write_bytes(folder / "bad", bytes), "", labels}); };
  CHECK(file({good, "", labels}) == "no error");
  CHECK_THAT(bad(idx(0x07, {2, 2}, "abcd")),
             Contains(name + ": wrong IDX magic 00 00 07 02 (must be 00 00, the element"));
  CHECK(bad({"\0\0\x08", 3}) == name + ": has 3 bytes, too few for an IDX file");
  CHECK(bad({"\0\0\x08\0", 4}) == name + ": wrong IDX magic: no dimensions");
  CHECK(bad(idx(0x08, {2, 1, 2}, "").substr(0, 9)) == name + ": truncated: 9 bytes, the header of 3 dimensions has 16");
  CHECK(bad(idx(0x08, {2, 1, 2}, "abc")) ==
        name + ": truncated: 19 bytes, shape (2, 1, 2) with 1 bytes an element needs 20");
  CHECK(bad(idx(0x0E, {2, 1}, "abc")) == name + ": truncated: 15 bytes, shape (2, 1) with 8 bytes an element needs 28");
  CHECK(bad(idx(0x08, {2, 2}, "abcde")) ==
        name + ": too long: 17 bytes, shape (2, 2) with 1 bytes an element needs 16");
  CHECK_THAT(bad(idx(0x08, {1 << 30, 1 << 30, 1 << 30}, "")), Contains("impossible size (1073741824, 1073741824"));
  CHECK_THAT(bad(idx(0x08, {0, 4}, "")), Contains("shape (0, 4) is empty"));
  CHECK_THAT(bad(idx(0x08, {2}, "ab")), Contains("shape (2,) has no features"));
  CHECK(bad(idx(0x08, {3, 1}, "abc")) ==
        "data file \"" + labels + "\" has 2 labels, " + name + " has 3 samples (must be as many)");
  CHECK_THAT(file({good}), Contains("an IDX file of pictures has no labels. Name the file of labels in data.labels"));
  CHECK_THAT(file({good, "", good}), Contains("shape (2, 1, 2) (must be one label per sample, (n))"));
  const std::string quiet = idx(0x0D, {2, 1}, big_bits(1.F) + big_bits(std::numeric_limits<float>::quiet_NaN()));
  CHECK(bad(quiet) == name + ": feature 0 of sample 1 (both counted from 0) is nan (must be a finite float32)");
  const std::string negative = write_bytes(folder / "n", idx(0x09, {2}, "\1\xFF"));
  CHECK(file({good, "", negative}) == "data file \"" + negative +
                                          "\": label of sample 1 (counted from 0) is -1 (must be a whole number in [0, "
                                          "65535])");
  CHECK_THAT(bad(std::string("\1\0\x08\3", 4)),
             Contains("is neither IDX (first bytes 00 00), NPZ (PK), HDF5 (89 HDF)"));
}

TEST_CASE(".gz: truncated anywhere, damaged, with something behind it") {
  const TemporaryDirectory folder;
  std::string text;
  for (int i = 0; i < 400; ++i) text += std::to_string(i % 3) + "," + std::to_string(i * i % 977) + "\n";
  const std::string whole = deflated(text, true);
  const std::string name = "data file \"" + (folder / "x.csv.gz").string() + "\": the .gz ";
  const auto read = [&](const std::string& bytes) { return file({write_bytes(folder / "x.csv.gz", bytes)}); };
  CHECK(read(whole) == "no error");
  for (std::size_t size = 2; size < whole.size(); size += 7) {
    REQUIRE(read(whole.substr(0, size)) == name + "is truncated: its compressed data ends at byte " +
                                               std::to_string(size) + " before it is complete; fetch the file again");
  }
  std::string damaged = whole;
  damaged[damaged.size() - 6] = static_cast<char>(~damaged[damaged.size() - 6]);  // of the checksum
  CHECK_THAT(read(damaged), Contains("is damaged near byte") && Contains("incorrect data check"));
  CHECK_THAT(read(whole + "junk"),
             Contains("has 4 bytes behind its compressed data, from byte " + std::to_string(whole.size()) + " on"));
}

TEST_CASE("NPZ: missing arrays name those there are, truncation, damage, what is not read") {
  const TemporaryDirectory folder;
  const std::string x = npy("<f4", "(2, 1)", std::string(8, '\0')), y = npy("|u1", "(2,)", std::string(2, '\1'));
  const std::string name = "data file \"" + (folder / "d.npz").string() + "\"";
  const auto read = [&](const std::string& bytes, const std::string& features = "") {
    return file({write_bytes(folder / "d.npz", bytes), features});
  };
  const std::string good = zip({{"features.npy", x}, {"labels.npy", y}}, 8);
  CHECK(read(good) == "no error");
  CHECK(read(good, "x_train") == name + ": has no array data.features = \"x_train\" (it has: features, labels)");
  CHECK(read(zip({{"features.npy", x}}, 0)) == name + ": has no array data.labels = \"labels\" (it has: features)");
  for (std::size_t size = 4; size < good.size(); size += 11) {
    REQUIRE_THAT(read(good.substr(0, size)), Contains(name + ": truncated"));
  }
  std::string damaged = zip({{"features.npy", x}, {"labels.npy", y}}, 0);
  damaged[damaged.find("NUMPY") + x.size() - 5] ^= 1;
  CHECK(read(damaged) == name + ": array \"features\" is damaged: its checksum differs");
  CHECK_THAT(read(zip({{"features.npy", x}}, 12)), Contains("is compressed by zip's method 12 (must be stored or"));
  const auto array = [&](const std::string& bytes) {
    return read(zip({{"features.npy", bytes}, {"labels.npy", y}}, 0));
  };
  CHECK_THAT(array("hello, array"), Contains("is not an npy array"));
  CHECK_THAT(array(npy("<f4", "(-2, 1)", std::string(8, '\0'))), Contains("impossible shape (-2, 1)"));
  CHECK_THAT(array(npy("<c8", "(2, 1)", std::string(16, '\0'))), Contains("its elements are \"<c8\""));
  CHECK_THAT(array(npy("<f4", "(2, 3)", std::string(8, '\0'))), Contains("8 bytes of elements, shape (2, 3) needs 24"));
  CHECK_THAT(array(npy("<f4", "(3, 1)", std::string(12, '\0'))),
             Contains("has 2 labels, ") && Contains("has 3 samples"));
}

TEST_CASE("HDF5: missing datasets name those there are, other types, what is no data file at all") {
  const TemporaryDirectory folder;
  H5Document document;
  document.dataset("x", std::vector<float>{1, 2}, {2, 1}, {"1", "features", {"n", "d"}});
  document.column("words", std::vector<std::string>{"a", "b"}, {"1", "words", {"n"}});
  document.write(folder / "d.h5", Overwrite::must_not_exist);
  const std::string path = (folder / "d.h5").string();
  CHECK(file({path}) == path + ": features: missing, data.features names it (the file has: words, x)");
  CHECK(file({path, "x"}) == path + ": labels: missing, data.labels names it (the file has: words, x)");
  CHECK(file({path, "x", "words"}) == path + ": words: type text (must be integers, float32 or float64)");
  CHECK(file({"/nonexistent/x.csv"}) == "data file \"/nonexistent/x.csv\": does not exist; check the path");
  CHECK(file({folder.path().string()}) ==
        "data file \"" + folder.path().string() + "\": is a directory; name a data file in it");
}

TEST_CASE("configs: labels beyond data.classes, parts that do not fit, keys that contradict each other") {
  const TemporaryDirectory folder;
  std::string text;
  for (int i = 0; i < 40; ++i) text += std::to_string(i % 4) + "," + std::to_string(i) + "\n";
  const std::string path = write_bytes(folder / "a.csv", text), one = "data.file=" + path;
  CHECK(config({one}) == "no error");
  CHECK(config({one, "data.classes=3"}) ==
        "data file \"" + path +
            "\": label 3 of sample 3 (counted from 0) is out of range (must be in [0, 2], as there are "
            "3 classes; see data.classes)");
  CHECK(config({one, "data.classes=9"}) == "no error");
  CHECK_THAT(config({one, "data.shape=[2, 2]"}), Contains("data.shape = (2, 2) has 4 features, data file"));
  CHECK_THAT(config({"data.labels=y"}), Contains("data.labels = \"y\" describes data.file, which is empty"));
  CHECK_THAT(config({one, "data.test_labels=y"}), Contains("describes data.test_file, which is empty"));
  CHECK_THAT(config({one, "data.test_file=" + path}), Contains("so the test would use the training samples"));
  const std::string wide = write_bytes(folder / "wide.csv", "0,1,2\n");
  CHECK_THAT(config({one, "data.test_file=" + wide}), Contains("2 features and 0 values a sample, data file"));
  const std::string fresh = write_bytes(folder / "fresh.csv", "7,1\n");
  CHECK_THAT(config({one, "data.test_file=" + fresh}), Contains(fresh + "\": label 7 of sample 0"));
  const std::string few = "data.file=" + write_bytes(folder / "few.csv", "0,1\n1,2\n0,3\n");
  CHECK_THAT(config({few}), Contains("its 3 samples leave none for validation (a larger data.validation_fraction)"));
  CHECK_THAT(config({few, "data.validation_fraction=0.5"}), Contains("leave none for test"));
  CHECK(config({few, "data.validation_fraction=0.5", "data.test_fraction=0"}) == "no error");
  std::string flat;
  for (int i = 0; i < 20; ++i) flat += std::to_string(i % 2) + (i == 3 ? ",1.0000001\n" : ",1\n");
  const std::string thin = "data.file=" + write_bytes(folder / "flat.csv", flat);
  const std::string far = "data.test_file=" + write_bytes(folder / "far.csv", "0,1e37\n");
  CHECK_THAT(config({thin, far, "data.scaling=standard", "data.split_seed=1"}),
             Contains("far.csv\": data.scaling scales a number of its held-out samples beyond float32"));
  CHECK_THAT(message_of([&] { parse_program_config("t", "", {"data.scaling=minmax"}); }), Contains("data.scaling"));
}
