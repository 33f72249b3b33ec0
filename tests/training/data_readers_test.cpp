// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "training/data/labelled_data.hpp"

#include "sim/io/h5_document.hpp"
#include "tests/support/data_files.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/data/default_data.hpp"
#include "training/data/readers/readers.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

using Ints = std::vector<int>;
using Sizes = std::vector<Index>;

LabelledData csv(std::string_view text, const std::string& labels = "", Target target = Target::label) {
  return parse_csv(text, "t.csv", {"t.csv", "", labels}, target);
}

Matrix<double> rows(std::initializer_list<std::initializer_list<double>> numbers) {
  Matrix<double> out(static_cast<Index>(numbers.size()), static_cast<Index>(numbers.begin()->size()));
  Index i = 0;
  for (const auto& row : numbers) {
    for (const double x : row) out.data()[i++] = x;
  }
  return out;
}

}  // namespace

TEST_CASE("CSV: the label comes first, or stands in the column that is named") {
  const LabelledData plain = csv("2,0.5,-1\n0,1e-3,+4\n");
  CHECK(plain.labels == Ints{2, 0});
  CHECK(plain.features == rows({{0.5F, -1}, {1e-3, 4}}));
  CHECK(plain.shape == Sizes{2});
  const LabelledData named = csv("a,\"kind\",b\n1,3,2\n4,0,5\n", "kind");
  CHECK(named.labels == Ints{3, 0});
  CHECK(named.features == rows({{1, 2}, {4, 5}}));
  CHECK(csv("\"a, in mV\",'=kind\n1,3\n4,0\n", "=kind").features == rows({{1}, {4}}));  // as csv_field() writes names
  CHECK(csv("a,kind,b\n1,3,2\n").labels == Ints{1});  // a header without a name: the first column
}

TEST_CASE("CSV: other separators, comments, blank lines, line ends and a byte order mark change nothing") {
  const LabelledData want = csv("label,x,y\n1,2,3\n0,4,5\n");
  for (const char* text :
       {"label;x;y\n1;2;3\n0;4;5", "label\tx\ty\r\n1\t2\t3\r\n\r\n0\t4\t5\r\n",
        "# origin, licence\nlabel,x,y\n1,2,3\n0,4,5\n", "\xEF\xBB\xBFlabel,x,y\n# a note\n1, 2, 3\n\n0 ,4 ,5\n"}) {
    const LabelledData got = csv(text);
    CHECK(got.labels == want.labels);
    CHECK(got.features == want.features);
  }
}

TEST_CASE("CSV: regression takes one column or several as values") {
  const LabelledData one = csv("y,x\n0.5,1\n-2,3\n", "", Target::value);
  CHECK(one.values == rows({{0.5F}, {-2}}));
  CHECK(one.labels.empty());
  const LabelledData two = csv("a,b,c\n1,2,3\n4,5,6\n", "c, a", Target::value);
  CHECK(two.values == rows({{3, 1}, {6, 4}}));
  CHECK(two.features == rows({{2}, {5}}));
}

TEST_CASE("IDX: every element type comes back, and pictures keep their shape") {
  const TemporaryDirectory folder;
  const std::string labels = write_bytes(folder / "labels", idx(0x08, {2}, {"\7\1", 2}));
  const auto read = [&](int type, const std::string& elements) {
    return read_labelled_data({write_bytes(folder / "x", idx(type, {2, 1, 2}, elements)), "", labels}, Target::label);
  };
  const Matrix<double> small = rows({{1, 2}, {100, 3}});
  CHECK(read(0x08, {"\1\2\x64\3", 4}).features == small);
  CHECK(read(0x08, {"\1\2\x64\3", 4}).shape == Sizes{1, 2});
  CHECK(read(0x08, {"\1\2\x64\3", 4}).labels == Ints{7, 1});
  CHECK(read(0x08, {"\xFF\0\x80\1", 4}).features == rows({{255, 0}, {128, 1}}));
  CHECK(read(0x09, {"\xFF\0\x80\1", 4}).features == rows({{-1, 0}, {-128, 1}}));
  const auto join = [](auto a, auto b, auto c, auto d) {
    return big_bits(a) + big_bits(b) + big_bits(c) + big_bits(d);
  };
  const auto i16 = [](int x) { return static_cast<std::int16_t>(x); };
  CHECK(read(0x0B, join(i16(1), i16(-2), i16(300), i16(-30000))).features == rows({{1, -2}, {300, -30000}}));
  CHECK(read(0x0C, join(1, -2, 70000, 3)).features == rows({{1, -2}, {70000, 3}}));
  CHECK(read(0x0D, join(1.5F, -2.F, 1e-9F, 3.F)).features == rows({{1.5F, -2}, {1e-9F, 3}}));
  CHECK(read(0x0E, join(1.5, -2., 1e-9, 3.)).features == rows({{1.5, -2}, {1e-9, 3}}));  // not rounded to float
}

TEST_CASE(".gz is read as what it holds: IDX as MNIST comes, CSV, several members, padding") {
  const TemporaryDirectory folder;
  std::string pixels;
  for (int i = 0; i < 3 * 28 * 28; ++i) pixels += static_cast<char>(i % 251);
  const std::string images = idx(0x08, {3, 28, 28}, pixels), labels = idx(0x08, {3}, {"\5\0\4", 3});
  const DataSource source{write_bytes(folder / "train-images-idx3-ubyte.gz", deflated(images, true)), "",
                          write_bytes(folder / "train-labels-idx1-ubyte.gz", deflated(labels, true))};
  const LabelledData data = read_labelled_data(source, Target::label);
  CHECK(data.shape == Sizes{28, 28});
  CHECK(data.labels == Ints{5, 0, 4});
  for (Index i = 0; i < 3 * 28 * 28; ++i) REQUIRE(data.features.data()[i] == static_cast<double>(i % 251));
  const std::string members = deflated("1,2\n", true) + deflated("0,3\n", true) + std::string(512, '\0');
  CHECK(read_labelled_data({write_bytes(folder / "x.csv.gz", members)}, Target::label).labels == Ints{1, 0});
}

TEST_CASE("NPZ: stored and deflated arrays, any byte order, named or not") {
  const TemporaryDirectory folder;
  const std::string x = npy(">f4", "(2, 2)", big_bits(0.5F) + big_bits(1.F) + big_bits(-3.F) + big_bits(2.F));
  const std::string y = npy("<i8", "(2,)", little(4, 8) + little(0, 8));
  for (const int method : {0, 8}) {
    const std::string path = write_bytes(folder / "d.npz", zip({{"features.npy", x}, {"labels.npy", y}}, method));
    const LabelledData data = read_labelled_data({path}, Target::label);
    CHECK(data.features == rows({{0.5F, 1}, {-3, 2}}));
    CHECK(data.labels == Ints{4, 0});
    const LabelledData swapped = read_labelled_data({path, "features", "features"}, Target::value);
    CHECK(swapped.values == data.features);
  }
}

TEST_CASE("NPZ: a file that numpy wrote") {
  // numpy.savez_compressed(f, x_train=numpy.arange(12, dtype="f4").reshape(2, 2, 3)/4, y_train=numpy.array([3, 1])), 2.4.6
  const std::string bytes = from_hex(
      "504b03042d000000080000002100cdf8ca57ffffffffffffffff0b001400785f747261696e2e6e707901001000b00000000000000069"
      "000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc294e"
      "058a17672416a402f91a463a0a4064aca9a350ab401ee0620083063b2061cfc0e000c40d40bc00880f00f10320667060601000620520"
      "36700000504b03042d0000000800000021008cde33e0ffffffffffffffff0b001400795f747261696e2e6e7079010010009000000000"
      "0000004a000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3a09e965f54529498179f5f94920a1277"
      "4bcc294e058a17672416a402f91a463a9a3a0ab50a14002e6606086084d200504b01022d032d000000080000002100cdf8ca57690000"
      "00b00000000b0000000000000000000000800100000000785f747261696e2e6e7079504b01022d032d0000000800000021008cde33e0"
      "4a000000900000000b00000000000000000000008001a6000000795f747261696e2e6e7079504b05060000000002000200720000002d"
      "0100000000");
  const TemporaryDirectory folder;
  const LabelledData data =
      read_labelled_data({write_bytes(folder / "a.npz", bytes), "x_train", "y_train"}, Target::label);
  CHECK(data.labels == Ints{3, 1});
  CHECK(data.shape == Sizes{2, 3});
  for (Index i = 0; i < 12; ++i) CHECK(data.features.data()[i] == static_cast<double>(i) / 4);
}

TEST_CASE("HDF5: floats of both precisions and integers, of any shape") {
  const TemporaryDirectory folder;
  H5Document document;
  document.dataset("features", std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, {2, 2, 2},
                   {"1", "pixels", {"n", "y", "x"}});
  document.dataset("train/x", std::vector<float>{1.5F, 2, 3}, {3, 1}, {"1", "features", {"n", "d"}});
  document.column("train/y", std::vector<std::int64_t>{2, 0, 1}, {"1", "labels", {"n"}});
  document.column("labels", std::vector<double>{1, 0}, {"1", "labels", {"n"}});
  document.write(folder / "d.h5", Overwrite::must_not_exist);
  const std::string path = (folder / "d.h5").string();
  const LabelledData pictures = read_labelled_data({path}, Target::label);
  CHECK(pictures.shape == Sizes{2, 2});
  CHECK(pictures.features == rows({{0, 1, 2, 3}, {4, 5, 6, 7}}));
  CHECK(pictures.labels == Ints{1, 0});
  const LabelledData named = read_labelled_data({path, "train/x", "/train/y"}, Target::label);
  CHECK(named.features == rows({{1.5F}, {2}, {3}}));
  CHECK(named.labels == Ints{2, 0, 1});
}

TEST_CASE("the digits that ship: 1797 of 64 pixels, with origin and licence beside them") {
  CHECK(default_digits().starts_with("# Optical Recognition of Handwritten Digits"));
  CHECK(default_digits().find("CC BY 4.0") < 600);
  CHECK(default_digits().find("10.24432/C50P49") < 600);
  const LabelledData digits = parse_csv(default_digits(), "digits", {}, Target::label);
  CHECK(digits.count() == 1797);
  CHECK(digits.features.cols() == 64);
  CHECK(digits.features.minCoeff() == 0);
  CHECK(digits.features.maxCoeff() == 16);
  // Samples of each class as in scikit-learn's description of the data set.
  Ints counts(10, 0);
  for (const int label : digits.labels) ++counts[static_cast<std::size_t>(label)];
  CHECK(counts == Ints{178, 182, 177, 183, 181, 182, 181, 179, 174, 180});
}
