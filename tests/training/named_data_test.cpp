// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <map>

#include "sim/io/unpacked.hpp"
#include "tests/support/data_files.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/data/named_data.hpp"
#include "training/data/readers/readers.hpp"
#include "training/data/samples.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

// A data frame of three rows, written by the Python package rdata 1.0 (an independent implementation): x = (1.5, -2, 3.25),
// kind = factor (b, a, b), n = integers (7, 8, 9), bit = factor (0, 1, 1). Packed by liblzma's xz.
constexpr const char* kFrame =
    "fd377a585a000004e6d6b4460200210116000000742fe5a3e0022e00e35d00291107546811e46e52caa033c52438356043c1"
    "45a2a57b14176e49389a4a76036e8b3425718a1a612ec18efcca9bf116d3d8cd4e136b65d5f549a1d381c9c251a671576783"
    "1b90edcc94159e042cda690c51e4a27b61617c63032c955a4a309ea31679dbf8b06542c60c3ef8b9125d9a6f8dc3da814f8c"
    "b6f79a0ca6ef299937b4c194fbba81431423dd2d44e6d0a6e707dea81e35885a5e93c9e519a9dcac4b07f0e4ed552e280a45"
    "283ef0a35934e70e321231118e890079790cd75999908108dc1d1ffa21c9b17923c51e6508d8ed5875a1347076bdfe876af2"
    "ee6c7751df829e8700008dd4014501ac1dc00001ff01af0400002ef7f008b1c467fb020000000004595a";

LabelledData frame(std::string_view bytes, const std::string& labels, Target target = Target::label) {
  return parse_rdata(bytes, "t.rda", {"t.rda", "", labels}, target);
}

std::map<int, int> counts(const std::vector<int>& labels) {
  std::map<int, int> out;
  for (const int one : labels) ++out[one];
  return out;
}

/// Writes `pictures` records of CIFAR-10's binary version: the label, then 3072 bytes that all are the label + 10.
void write_cifar(const std::filesystem::path& file, int pictures) {
  std::ofstream out(file, std::ios::binary);
  for (int n = 0; n < pictures; ++n) {
    out << static_cast<char>(n) << std::string(3072, static_cast<char>(n + 10));
  }
}

}  // namespace

TEST_CASE("R data: a data frame of another writer is read, its factors as classes or as the numbers they name") {
  const std::string bytes = unpacked(from_hex(kFrame), "t.rda");
  REQUIRE(is_rdata(bytes));
  const LabelledData data = frame(bytes, "kind");
  CHECK(data.labels == std::vector<int>{1, 0, 1});
  REQUIRE(data.features.rows() == 3);
  REQUIRE(data.features.cols() == 3);
  Matrix<double> want(3, 3);
  want << 1.5F, 7, 0, -2, 8, 1, 3.25F, 9, 1;
  CHECK(data.features == want);
}

TEST_CASE("R data: refusals name the column and what to do") {
  const std::string bytes = unpacked(from_hex(kFrame), "t.rda");
  CHECK_THROWS_WITH(frame(bytes, "knd"), Contains("has no column data.labels = \"knd\"") && Contains("kind"));
  CHECK_THROWS_WITH(frame(bytes, "n"), Contains("column \"kind\", row 1 is the level \"b\""));
  CHECK_THROWS_WITH(parse_rdata(bytes, "t.rda", {"t.rda", "other", "kind"}, Target::label),
                    Contains("name the data frame"));
  // Every truncation is refused, and none reads beyond the end.
  for (std::size_t n = 0; n < bytes.size(); ++n)
    CHECK_THROWS_WITH(frame(bytes.substr(0, n), "kind"), Contains("t.rda"));
  CHECK_THROWS_WITH(unpacked(from_hex(kFrame).substr(0, 200), "t.xz"), Contains("t.xz: the .xz is truncated"));
  std::string damaged = from_hex(kFrame);
  damaged[150] = static_cast<char>(damaged[150] ^ 1);
  CHECK_THROWS_WITH(unpacked(damaged, "t.xz"), Contains("the .xz is damaged"));
  CHECK_THROWS_WITH(unpacked(from_hex(kFrame), "t.xz", {100, "so says"}), Contains("has more than 100 bytes"));
}

TEST_CASE("a set called by its name comes with its published test split") {
  // Class counts of the Statlog project's training and test files; of letter the published sizes.
  const std::map<std::string, std::pair<std::map<int, int>, std::map<int, int>>> published = {
      {"satellite",
       {{{0, 1072}, {1, 479}, {2, 961}, {3, 415}, {4, 470}, {5, 1038}},
        {{0, 461}, {1, 224}, {2, 397}, {3, 211}, {4, 237}, {5, 470}}}},
      {"dna", {{{0, 464}, {1, 485}, {2, 1051}}, {{0, 303}, {1, 280}, {2, 603}}}}};
  for (const NamedData& set : named_data_sets()) {
    if (set.package != "r-cran-mlbench") continue;
    if (!set.is_here("")) {
      std::printf("SKIPPED: Debian's package %s is absent\n", set.package.c_str());
      return;
    }
    const PublishedData data = set.read(set.folder(""), Target::label);
    if (set.name == "letter") {
      CHECK(data.training.count() == 16000);
      CHECK(data.test.count() == 4000);
      CHECK(data.training.labels.front() ==
            'T' - 'A');  // the first line of UCI's file: T,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8
      CHECK(data.training.features(0, 6) == 13);
    }
    const auto found = published.find(set.name);
    if (found == published.end()) continue;
    CHECK(counts(data.training.labels) == found->second.first);
    CHECK(counts(data.test.labels) == found->second.second);
  }
}

TEST_CASE(".ts: a case is its times one after the other, its class the place in @classLabel") {
  const auto read = [](const std::string& text, Target target = Target::label) {
    return parse_ts(text, "t.ts", {"t.ts"}, target);
  };
  const std::string head = "# made by hand\r\n@problemName x\n@timeStamps false\n@classLabel true up down\n@data\n";
  REQUIRE(is_ts(head));
  CHECK_FALSE(is_ts("# note\na,b\n1,2\n"));
  const LabelledData two = read(head + "1, 2,3:4,5,6:down\r\n\n-1e-3,8,9:10,11,12:up\n");
  CHECK(two.shape == std::vector<Index>{3, 2});
  CHECK(two.labels == std::vector<int>{1, 0});
  Matrix<double> expected(2, 6);
  expected << 1, 4, 2, 5, 3, 6, -1e-3, 10, 8, 11, 9, 12;
  CHECK(two.features == expected);
  const LabelledData one = read("@targetlabel true\n@DATA\n1,2:0.5\n3,4:-2", Target::value);
  CHECK(one.shape == std::vector<Index>{2});
  CHECK((one.values(0, 0) == 0.5 && one.values(1, 0) == -2));
  for (const auto& [text, said] : std::map<std::string, std::string>{
           {head + "1,2:up\n1:up\n", "t.ts, line 7: 1 values (must be 2"},
           {head + "1,2:up\n1,2:3,4:up\n", "line 7: 2 dimensions (must be 1"},
           {head + "1,?:up\n", "line 6: a value is \"?\" (must be a number; missing"},
           {head + "1,2:left\n", "class \"left\" (@classLabel names up, down)"},
           {head + "1,2\n", "has one part (must be its values, a colon, then its class)"},
           {head, "has no case below @data"},
           {"@classLabel true a b\n1,2:a\n", "has no line @data"},
           {"@timeStamps true\n@data\n", "@timeStamps true"},
           {"@targetlabel true\n@data\n1:1\n", "declares real targets (task.kind = classification needs classes)"}}) {
    INFO(text);
    CHECK_THROWS_WITH(read(text), Contains(said));
  }
  CHECK_THROWS_WITH(parse_ts(head + "1:up\n", "t.ts", {"t.ts", "", "class"}, Target::label),
                    Contains("data.labels = \"class\": t.ts has its targets"));
}

TEST_CASE("a set of series is found by its name in the unpacked package") {
  const TemporaryDirectory folder;
  std::filesystem::create_directories(folder.path() / "GunPoint");
  const std::string head = "@classLabel true 1 2\n@data\n";
  std::ofstream(folder.path() / "GunPoint/GunPoint_TRAIN.ts") << head << "1,2,3:1\n4,5,6:2\n";
  std::ofstream(folder.path() / "GunPoint/GunPoint_TEST.ts") << head << "7,8,9:2\n";
  const NamedData* set = named_data("gunpoint");
  REQUIRE(set != nullptr);
  CHECK_THROWS_WITH(set->folder(""), Contains("unpack PyPI's package aeon"));
  const PublishedData data = set->read(set->folder(folder.path().string()), Target::label);
  CHECK((data.training.count() == 2 && data.test.labels == std::vector<int>{1}));
  CHECK(data.test.features(0, 2) == 9);
}

TEST_CASE("CIFAR-10 is read from its binary files, five of training and one of test") {
  const TemporaryDirectory folder;
  for (int n = 1; n <= 5; ++n) write_cifar(folder.path() / ("data_batch_" + std::to_string(n) + ".bin"), 10);
  write_cifar(folder.path() / "test_batch.bin", 3);
  const NamedData* set = named_data("cifar-10");
  REQUIRE(set != nullptr);
  const PublishedData data = set->read(set->folder(folder.path()), Target::label);
  CHECK(data.training.count() == 50);
  CHECK(data.test.count() == 3);
  CHECK(data.training.shape == std::vector<Index>{3, 32, 32});
  CHECK(data.training.labels[37] == 7);
  CHECK(data.training.features(37, 3071) == 17);
  SampleOptions options;
  options.named = set;
  options.folder = folder.path();
  CHECK(load_samples(options, Target::label).classes == 10);
  for (int n = 1; n <= 5; ++n) write_cifar(folder.path() / ("data_batch_" + std::to_string(n) + ".bin"), 1);
  CHECK_THROWS_WITH(load_samples(options, Target::label), Contains("has samples of 1 classes") && Contains("has 10"));
  std::filesystem::resize_file(folder.path() / "test_batch.bin", 3000);
  CHECK_THROWS_WITH(set->read(folder.path(), Target::label), Contains("test_batch.bin") && Contains("has 3000 bytes"));
  CHECK_THROWS_WITH(set->folder(""), Contains("name the folder that has data_batch_1 in data.folder"));
}

TEST_CASE("CIFAR-10's Python version is read from its pickles, as Python 2 wrote them, and none is run") {
  const auto text = [](std::string_view s) { return std::string("U") + static_cast<char>(s.size()) + std::string(s); };
  const std::string pixels(2 * 3072, '\x05'),
      two_rows = "\x4b\x02\x4d" + std::string("\x00\x0c", 2) + "\x86";  // (2, 3072)
  const std::string type = "cnumpy\ndtype\n" + text("u1") + std::string("K\0K\x01\x87R(K\x03", 9) + text("|") +
                           std::string("NNNK\0K\0K\0tb", 11);
  const auto batch = [&](const std::string& labels) {
    return "\x80\x02}q\x01(" + text("labels") + "]q\x02(" + labels + "e" + text("data") +
           "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n" + std::string("K\0\x85", 3) + text("b") +
           "\x87R(K\x01" + two_rows + type + "\x89T" + std::string("\x00\x18\0\0", 4) + pixels + "tbu.";
  };
  RawArray pictures, labels;
  add_cifar_pickle(batch("K\x06K\x09"), "data_batch_1", pictures, labels);
  CHECK(labels.bytes == "\x06\x09");
  CHECK(pictures.bytes == pixels);
  const std::string good = batch("K\x06K\x09");
  for (std::size_t n = 0; n < 300; ++n) {
    CHECK_THROWS_WITH(add_cifar_pickle(good.substr(0, n), "t", pictures, labels), Contains("t: "));
  }
  CHECK_THROWS_WITH(add_cifar_pickle(batch("K\x06"), "t", pictures, labels), Contains("must be a batch of CIFAR-10"));
  CHECK_THROWS_WITH(add_cifar_pickle(batch("K\x06K\x0b"), "t", pictures, labels), Contains("has the label 11"));
  CHECK_THROWS_WITH(add_cifar_pickle("\x80\x02i", "t", pictures, labels), Contains("has the opcode 69"));
}
