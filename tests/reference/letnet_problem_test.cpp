// SPDX-License-Identifier: Apache-2.0
// Reading a letnet case: what is accepted, and where every number ends up.
#include <hdf5.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <numeric>

#include "reference/letnet_problem.hpp"
#include "tests/reference/letnet_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shared_file.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

std::vector<double> numbers(const std::vector<Matrix<double>>& layers) {
  std::vector<double> all;
  for (const Matrix<double>& m : layers) all.insert(all.end(), m.data(), m.data() + m.size());
  return all;
}

LetnetProblem read(const Folder& folder, const LetnetFile& file) { return LetnetProblem(H5Reader(file.write(folder))); }

/// Writes a dataset of a file again, as int32.
void narrow_integers(const std::string& path, const std::string& name, const LetnetIntegers& data) {
  const std::vector<std::int32_t> values(data.values.begin(), data.values.end());
  std::vector<hsize_t> sizes(data.shape.begin(), data.shape.end());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  REQUIRE(file >= 0);
  REQUIRE(H5Ldelete(file, name.c_str(), H5P_DEFAULT) >= 0);
  const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
  const hid_t dataset = H5Dcreate2(file, name.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  H5Dclose(dataset);
  H5Sclose(space);
  REQUIRE(H5Fclose(file) >= 0);
}

}  // namespace

TEST_CASE("a letnet case is read as it stands", "[letnet]") {
  const Folder folder;
  const LetnetFile file;
  const LetnetProblem p = read(folder, file);
  CHECK(p.sizes.batch == 2);
  CHECK(p.sizes.tokens == 3);
  CHECK(p.sizes.channels == 4);
  CHECK(p.sizes.heads == 2);
  CHECK(p.sizes.hidden == 5);
  CHECK(p.sizes.vocabulary == 7);
  CHECK(p.sizes.layers == 2);
  CHECK(p.sizes.loops == 2);
  CHECK(p.sizes.nodes == 8);
  CHECK(p.free_steps == 6);
  CHECK(p.nudged_steps == 9);
  CHECK_FALSE(p.rope);
  CHECK_FALSE(p.float32);
  CHECK(p.activation == LetnetActivation::gelu);
  CHECK(p.step == 0.9);
  CHECK(p.kappa == 0);
  CHECK(p.beta == 0.05);
  CHECK(p.beta_frozen == 2);
  CHECK(p.beta_aep == 1e-3);
  CHECK(p.idx == std::vector<int>{0, 1, 2, 6, 4, 3});
  const auto second = p.sample(p.targets, 1);
  CHECK(std::vector<int>(second.begin(), second.end()) == std::vector<int>{4, 3, 6});
  std::vector<Index> layers;
  for (Index node = 0; node < 8; ++node) layers.push_back(p.layer_of(node));
  CHECK(layers == std::vector<Index>{0, 0, 1, 1, 0, 0, 1, 1});  // LETNET.md's own example
  const auto& w1 = file.reals.at("params/W1").values;
  REQUIRE(p.weights.at("W1").size() == 2);
  CHECK(p.weights.at("W1")[1](3, 2) == w1[(1 * 4 + 3) * 5 + 2]);
  for (const auto& parameter : letnet_parameters(p.sizes, p.rope)) {
    CAPTURE(parameter.name);
    CHECK(numbers(p.weights.at(parameter.name)) == file.reals.at("params/" + parameter.name).values);
  }
  // Sample 1, node 5, token 2, channel 3 of [B, n, T, C].
  CHECK(p.u[1](2, 5 * 4 + 3) == file.reals.at("inputs/u").values[((1 * 8 + 5) * 3 + 2) * 4 + 3]);
  CHECK(nodes_from_samples(p.z0, p.sizes) == file.reals.at("inputs/z0").values);
  CHECK(nodes_from_samples(p.v, p.sizes) == file.reals.at("inputs/v").values);
}

TEST_CASE("letnet states go from [B, n, T, C] to a matrix per sample and back", "[letnet]") {
  LetnetSizes sizes;
  sizes.batch = 3;
  sizes.nodes = 4;
  sizes.tokens = 5;
  sizes.channels = 2;
  std::vector<double> values(3 * 4 * 5 * 2);
  std::iota(values.begin(), values.end(), 0.0);
  const auto samples = samples_from_nodes(values, sizes);
  REQUIRE(samples.size() == 3);
  for (Index b = 0; b < 3; ++b) {
    const auto& sample = samples[static_cast<std::size_t>(b)];
    REQUIRE((sample.rows() == 5 && sample.cols() == 8));
    for (Index node = 0; node < 4; ++node) {
      for (Index t = 0; t < 5; ++t) {
        for (Index c = 0; c < 2; ++c) {
          CHECK(sample(t, node * 2 + c) == static_cast<double>(((b * 4 + node) * 5 + t) * 2 + c));
        }
      }
    }
  }
  CHECK(nodes_from_samples(samples, sizes) == values);
}

TEST_CASE("letnet cases may be narrow, bare, and say more or less about themselves", "[letnet]") {
  const Folder folder;
  LetnetFile file;
  SECTION("float32 reals are widened") {
    file.narrow = true;
    const LetnetProblem p = read(folder, file);
    CHECK(p.float32);
    for (const auto& [name, data] : file.reals) {
      const std::vector<float> narrow(data.values.begin(), data.values.end());
      const std::vector<double> wide(narrow.begin(), narrow.end());
      CAPTURE(name);
      if (name == "params/W2") CHECK(numbers(p.weights.at("W2")) == wide);
      if (name == "inputs/z0") CHECK(nodes_from_samples(p.z0, p.sizes) == wide);
    }
  }
  SECTION("one float32 dataset is enough to be narrow") {
    const auto& v = file.reals.at("inputs/v");
    const std::vector<float> narrow(v.values.begin(), v.values.end());
    const std::string path =
        file.write(folder, "case.h5", [&](H5Document& d) { d.dataset("inputs/v", narrow, v.shape, {}); });
    CHECK(LetnetProblem(H5Reader(path)).float32);
  }
  SECTION("int32 tokens") {
    const std::string path = file.write(folder);
    for (const char* name : {"inputs/idx", "inputs/targets"}) narrow_integers(path, name, file.integers.at(name));
    const LetnetProblem p{H5Reader(path)};
    CHECK(p.idx == std::vector<int>{0, 1, 2, 6, 4, 3});
    CHECK(p.targets == std::vector<int>{1, 2, 0, 4, 3, 6});
  }
  SECTION("what only informs may be there") {
    file.attributes["seed"] = std::int64_t{7};
    file.attributes["note"] = std::string("made up");
    file.attributes["min_decay"] = 1.0;
    CHECK_NOTHROW(read(folder, file));
  }
  SECTION("references are not read") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    file.reals["out/z_fp"] = {{nan}, {1}};
    CHECK_NOTHROW(read(folder, file));
  }
  SECTION("rotary positions") {
    const LetnetProblem p = read(folder, LetnetFile::rotary());
    CHECK(p.rope);
    CHECK(p.weights.count("pos") == 0);
  }
  SECTION("whole numbers for reals, and the ends of the ranges") {
    file.attributes["beta"] = std::int64_t{1};
    file.attributes["kappa"] = 0.999;
    file.attributes["T1"] = std::int64_t{1};
    file.attributes["T2"] = std::int64_t{1};
    file.attributes["activation"] = std::string("relu2");
    const LetnetProblem p = read(folder, file);
    CHECK(p.beta == 1);
    CHECK(p.kappa == 0.999);
    CHECK(p.activation == LetnetActivation::relu2);
  }
  SECTION("an odd head without rotation") {
    file.attributes["H"] = std::int64_t{4};  // C/H = 1
    CHECK(read(folder, file).sizes.heads == 4);
  }
}

TEST_CASE("every letnet reference case is read", "[letnet]") {
  const auto all = reference_cases("letnet_");
  for (const auto& path : all) {
    CAPTURE(path.filename().string());
    const H5Reader file(path);
    const LetnetProblem p(file);
    CHECK(nodes_from_samples(p.z0, p.sizes) == file.reals<double>("inputs/z0"));
    // The clamp of LETNET.md, section 2, against the reference: one sum of two numbers, rounded once in either program.
    std::vector<double> x;
    for (std::size_t i = 0; i < p.idx.size(); ++i) {
      const auto t = static_cast<Index>(i) % p.sizes.tokens;
      for (Index c = 0; c < p.sizes.channels; ++c) {
        x.push_back(p.weights.at("tok")[0](p.idx[i], c) + (p.rope ? 0.0 : p.weights.at("pos")[0](t, c)));
      }
    }
    CHECK(x == file.reals<double>("out/x"));
    // node 1 reads x, node j the node below: force_z0 = below + G − z0 + kappa (above − z0), whatever G is. Sums of five
    // numbers of order 1..10, so 1e-13 of the whole is ten times their rounding.
    const auto g = samples_from_nodes(file.reals<double>("out/G_z0"), p.sizes);
    const auto force = samples_from_nodes(file.reals<double>("out/force_z0"), p.sizes);
    const Index channels = p.sizes.channels;
    const auto clamp = unstack(x, p.sizes.batch, p.sizes.tokens, channels);
    for (std::size_t b = 0; b < force.size(); ++b) {
      const Matrix<double>& z = p.z0[b];
      Matrix<double> expected = g[b] - z;
      expected.leftCols(channels) += clamp[b];
      const Index rest = z.cols() - channels;
      expected.rightCols(rest) += z.leftCols(rest);
      expected.leftCols(rest) += p.kappa * (z.rightCols(rest) - z.leftCols(rest));
      CHECK(relative_error(force[b], expected) < 1e-13);
    }
  }
  CHECK((all.empty() || all.size() >= 4));
}
