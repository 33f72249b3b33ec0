// SPDX-License-Identifier: Apache-2.0
// The mixers' reference cases, whole and spoiled. Spoiled copies are made of the smallest case of each way of reading.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>

#include "reference/case_kind.hpp"
#include "sim/base/errors.hpp"
#include "sim/io/h5_document.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shared_file.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

struct Array {
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
  H5Shape shape;
};

/// What a case may read: all but the references.
struct Input {
  std::map<std::string, Array> arrays;
  std::map<std::string, H5Attribute> attributes;

  explicit Input(const std::filesystem::path& path) {
    const H5Reader file(path);
    for (const std::string& name : file.all_datasets()) {
      const std::string group = name.substr(0, name.find('/'));
      if (group != "params" && group != "inputs" && group != "cot" && group != "tan") continue;
      Array& array = arrays[name];
      array.shape = file.shape(name);
      if (file.type(name) == H5Type::integer) {
        array.integers = file.integers(name);
      } else {
        array.reals = file.reals<double>(name);
      }
    }
    for (const std::string& name : file.attributes()) attributes[name] = file.attribute(name);
  }

  void write(const std::string& path) const {
    H5Document document;
    for (const auto& [name, value] : attributes) document.attribute(name, value);
    for (const auto& [name, array] : arrays) {
      if (array.integers.empty()) {
        document.dataset(name, array.reals, array.shape, {});
      } else {
        document.dataset(name, array.integers, array.shape, {});
      }
    }
    document.write(path, Overwrite::replace);
  }
};

/// Runs the spoiled input and checks that the error names the file and the object.
void refuses(const Folder& folder, const Input& input, const std::string& object) {
  const std::string path = folder.file("spoiled.h5");
  input.write(path);
  CAPTURE(object);
  CHECK_THROWS_AS(run_case(path, std::nullopt), UserError);
  CHECK_THROWS_WITH(run_case(path, std::nullopt), Contains("spoiled.h5: ") && Contains(object));
}

}  // namespace

TEST_CASE("every mixer case within its tolerances", "[mixer_cases]") {
  for (const auto& path : reference_cases("mixer_")) {
    const CaseOutcome outcome = run_case(path, std::nullopt);
    CAPTURE(outcome.report);
    CHECK(outcome.failed == 0);
    if (path.filename() != "mixer_ft_synth_examples.h5") CHECK(outcome.compared > 0);
  }
}

TEST_CASE("mixer cases without references compute, without an input, or with a spoiled one, they name it",
          "[mixer_cases]") {
  const Folder folder;
  for (const auto& path : reference_cases("mixer_")) {
    if (path.filename() == "mixer_ft_synth_examples.h5") continue;
    CAPTURE(path.filename().string());
    const Input good(path);
    good.write(folder.file("bare.h5"));
    CHECK(run_case(folder.file("bare.h5"), std::nullopt).compared == 0);
    for (const auto& [name, array] : good.arrays) {
      Input spoiled = good;
      if (name.rfind("tan/params", 0) != 0) {
        spoiled.arrays.erase(name);
        refuses(folder, spoiled, name);
        spoiled = good;
      }
      spoiled.arrays[name].shape.insert(spoiled.arrays[name].shape.begin(), 1);
      refuses(folder, spoiled, name);
      if (array.reals.empty()) continue;
      spoiled = good;
      spoiled.arrays[name].reals.back() = std::numeric_limits<double>::quiet_NaN();
      refuses(folder, spoiled, name);
    }
  }
}

TEST_CASE("mixer cases refuse sizes and numbers that make no sense", "[mixer_cases]") {
  struct Wrong {
    const char* file;
    const char* attribute;
    H5Attribute value;
  };
  const auto n = [](std::int64_t value) { return H5Attribute(value); };
  const std::vector<Wrong> wrong = {
      {"mha", "H", n(3)},
      {"mha2nd", "sign", n(1)},
      {"momen_stack", "gelu", std::string("tanh")},
      {"nag_stack", "ln_eps", 1e-6},
      {"ft_model", "rms_eps", 1e-5},
      {"fem_softmax", "rope", n(2)},
      {"fem_aft", "eps", 0.0},
      {"fem_lrnn", "tdc_norm_scale", std::numeric_limits<double>::quiet_NaN()},
      {"loop_inner", "refresh", n(-1)},
      {"toy", "fem", n(2)},
      {"mha", "B", n(3)},
      {"mha", "T", n(0)},
      {"fem_softmax", "H", n(5)},
      {"fem_softmax", "H", n(0)},
      {"fem_softmax", "g_groups", n(4)},
      {"fem_softmaxwin", "window", n(0)},
      {"fem_gla", "eps", 0.0},
      {"fem_tdc", "tdc", std::string("both")},
      {"fem_aft", "prior", std::string("aftt")},
      {"fem_read", "groups", n(3)},
      {"gd_inner", "T_temp", 0.0},
      {"loop_inner", "K", n(0)},
      {"light2nd", "eps", -0.1},
      {"momen_stack", "layers", n(3)},
      {"ft_mapper", "H", n(21)},
      {"ft_kl", "kappa", -0.5},
      {"ft_model", "n_head", n(3)},
      {"ft_model", "n_head", n(8)},
      {"ft_model", "L", n(4)},
      {"ft_model", "kappa", -1.0},
      {"ft_gen", "V", n(3)},
      {"toy", "H", n(3)},
      {"toy", "steps", n(9)},
  };
  const Folder folder;
  for (const Wrong& each : wrong) {
    const auto path = shared_file(std::string("cases/mixer_") + each.file + "_a.h5");
    if (!path) return;
    Input spoiled(*path);
    spoiled.attributes[each.attribute] = each.value;
    CAPTURE(each.file, each.attribute);
    // A vocabulary that is too small shows in the tokens.
    refuses(folder, spoiled, each.attribute == std::string("V") ? "inputs/tok" : each.attribute);
  }
}

TEST_CASE("mixer cases refuse inverse temperatures and masks that are none", "[mixer_cases]") {
  const auto path = shared_file("cases/mixer_fem_softmax_a.h5");
  if (!path) return;
  const Folder folder;
  Input cold(*path);
  cold.arrays["params/xb"].reals[1] = -1000;  // softplus(-998.2) = 0 in double
  refuses(folder, cold, "xb");
  Input blind(*path);
  auto& mask = blind.arrays["inputs/mask"].integers;
  std::fill(mask.begin(), mask.begin() + 7, 0);
  refuses(folder, blind, "inputs/mask");
  Input odd(*path);
  odd.arrays["inputs/mask"].integers[0] = 2;
  refuses(folder, odd, "inputs/mask");
}
