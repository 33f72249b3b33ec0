// SPDX-License-Identifier: Apache-2.0
#include "training/models/weight_file.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "sim/base/errors.hpp"
#include "sim/io/h5_document.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/config/config_table.hpp"
#include "training/models/registry.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

std::shared_ptr<const NetworkPlan> small_plan() {
  const Config config = parse_program_config("c.toml", "[model]\nchannels = 4\ntokens = 3\nmemories = 5\nheads = 2\n");
  return network_plan(config, {3, 7, 7, 0, 0, {}});
}

/// Weights that tell each element from every other.
std::vector<Matrix<float>> numbered(const NetworkPlan& plan) {
  std::vector<Matrix<float>> weights;
  plan.initial(1, weights);
  float next = 0;
  for (Matrix<float>& w : weights) {
    for (Index i = 0; i < w.size(); ++i) w.data()[i] = next += 0.25F;
  }
  return weights;
}

struct Entry {
  std::string name, type;
  std::vector<Index> shape;
  std::string data;
};

void write_safetensors(const std::filesystem::path& path, const std::vector<Entry>& entries) {
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}", data;
  for (const Entry& e : entries) {
    header += fmt::format(R"(,"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", e.name, e.type,
                          fmt::join(e.shape, ","), data.size(), data.size() + e.data.size());
    data += e.data;
  }
  header += "}";
  std::string length(8, '\0');
  for (std::size_t b = 0; b < 8; ++b) length[b] = static_cast<char>(header.size() >> (8 * b) & 0xFF);
  std::ofstream(path, std::ios::binary) << length << header << data;
}

/// All groups of a plan as F32.
std::vector<Entry> entries_of(const NetworkPlan& plan, const std::vector<Matrix<float>>& weights) {
  std::vector<Entry> out;
  for (const ParameterGroup& g : plan.groups()) {
    const Matrix<float> w = weights[static_cast<std::size_t>(g.parameter)].middleCols(g.columns.begin, g.columns.count);
    std::string data(static_cast<std::size_t>(w.size()) * 4, '\0');
    std::memcpy(data.data(), w.data(), data.size());
    out.push_back({g.name, "F32", {w.rows(), w.cols()}, data});
  }
  return out;
}

TEST_CASE("weights come from safetensors and HDF5 files by the names of the groups", "[weights]") {
  const test::TemporaryDirectory dir;
  const auto plan = small_plan();
  const std::vector<Matrix<float>> wanted = numbered(*plan);
  write_safetensors(dir / "w.safetensors", entries_of(*plan, wanted));
  H5Document document;
  for (const ParameterGroup& g : plan->groups()) {
    document.matrix<float>("parameters/" + g.name,
                           wanted[static_cast<std::size_t>(g.parameter)].middleCols(g.columns.begin, g.columns.count),
                           {"1", "weights", {"input", "output"}});
  }
  document.write(dir / "run.h5", Overwrite::must_not_exist);
  for (const char* file : {"w.safetensors", "run.h5"}) {
    CAPTURE(file);
    std::vector<Matrix<float>> found;
    std::vector<Matrix<double>> in_double;
    plan->initial(2, found);
    plan->initial(2, in_double);
    read_weights((dir / file).string(), *plan, found);
    read_weights((dir / file).string(), *plan, in_double);
    for (std::size_t p = 0; p < wanted.size(); ++p) {
      CHECK(found[p] == wanted[p]);
      CHECK(in_double[p] == wanted[p].cast<double>());  // quarters are exact
    }
  }
}

TEST_CASE("half precision is widened exactly", "[weights]") {
  const test::TemporaryDirectory dir;
  const auto plan = small_plan();
  std::vector<Entry> entries = entries_of(*plan, numbered(*plan));
  Entry& first = entries.front();
  const auto count = static_cast<std::size_t>(first.shape[0] * first.shape[1]);
  REQUIRE(count >= 5);
  // binary16: 1, −2, 2⁻²⁴ (the least subnormal), 65504 (the largest), 0; bfloat16: 1, −2, 3.
  for (const bool bf : {false, true}) {
    std::vector<std::uint16_t> halves(count, 0);
    const std::vector<std::uint16_t> bits =
        bf ? std::vector<std::uint16_t>{0x3F80, 0xC000, 0x4040} : std::vector<std::uint16_t>{0x3C00, 0xC000, 1, 0x7BFF};
    const std::vector<double> values = bf ? std::vector<double>{1, -2, 3} : std::vector<double>{1, -2, 0x1p-24, 65504};
    std::copy(bits.begin(), bits.end(), halves.begin());
    first.type = bf ? "BF16" : "F16";
    first.data.assign(reinterpret_cast<const char*>(halves.data()), 2 * count);
    write_safetensors(dir / "w.safetensors", entries);
    std::vector<Matrix<double>> found;
    plan->initial(2, found);
    read_weights((dir / "w.safetensors").string(), *plan, found);
    const ParameterGroup group = plan->groups().front();
    const Matrix<double>& w = found[static_cast<std::size_t>(group.parameter)];
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<Index>(i);
      CHECK(w(at / group.columns.count, group.columns.begin + at % group.columns.count) == values[i]);
    }
  }
}

TEST_CASE("a weights file that does not fit says what is wrong", "[weights]") {
  const test::TemporaryDirectory dir;
  const auto plan = small_plan();
  const std::vector<Entry> good = entries_of(*plan, numbered(*plan));
  const std::string path = (dir / "w.safetensors").string();
  std::vector<Matrix<float>> weights;
  plan->initial(2, weights);
  const auto refused = [&](std::vector<Entry> entries, const std::string& message) {
    write_safetensors(path, entries);
    CHECK_THROWS_WITH(read_weights(path, *plan, weights), Contains("w.safetensors") && Contains(message));
  };
  const auto at = [](std::vector<Entry>& entries, const std::string& name) -> Entry& {
    return *std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  };
  std::vector<Entry> other = good;
  at(other, "Wm").name = "Wn";
  refused(other, "the network has no parameter Wn");
  other = good;
  other.pop_back();
  refused(other, "has no parameter " + good.back().name);
  other = good;
  std::swap(at(other, "Wm").shape[0], at(other, "Wm").shape[1]);
  refused(other, "Wm: shape (4, 5) expected (inputs, outputs), found (5, 4): the transpose");
  other = good;
  at(other, "Wm").data.replace(0, 4, std::string("\0\0\xC0\x7F", 4));
  refused(other, "Wm: element 0 is not finite");
  other = good;
  at(other, "Wm").type = "F8_E4M3";
  refused(other, "type F8_E4M3");
  other = good;
  at(other, "Wm").shape = {4, 4};
  refused(other, "do not fit the shape (4, 4)");
  std::ofstream(path, std::ios::binary) << "\x10";
  CHECK_THROWS_WITH(read_weights(path, *plan, weights), Contains("truncated"));
}

}  // namespace
