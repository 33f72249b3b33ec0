// SPDX-License-Identifier: Apache-2.0
// The distribution of lower bounds is the published one: g_min follows from it, and a g_min that cuts it is reported.
#include "devices/spreads.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "devices/device_array.hpp"
#include "devices/presets.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

constexpr Index n = 128;  // 16384 devices

/// Mean and standard deviation of the lower bounds in units of g_reference − g_min, from the reference down.
struct Bounds {
  double mean, std;
  Index at_zero;
};

Bounds bounds(const DeviceSpec& spec) {
  const DeviceArray<double> array(spec, n, n, {1, 2, 0});
  const auto below =
      ((spec.g_reference_S() - array.cells().lower.array()) / (spec.g_reference_S() - spec.g_min_S)).eval();
  return {below.mean(), std::sqrt((below - below.mean()).square().mean()), (array.cells().lower.array() == 0).count()};
}

}  // namespace

TEST_CASE("window rule: presets of published windows keep the spread of their lower bounds", "[devices][statistics]") {
  for (const char* name : {"reram_es", "reram_sb", "capacitor", "ecram", "ecram_mo", "idealized", "gokmen_vlasov"}) {
    CAPTURE(name);
    const DeviceSpec& spec = device_preset(name).spec;
    CHECK(cut_warning(spec).empty());
    CHECK(cut_share(spec) <= 3.2e-5 * 1.001);
    const double sigma = spec.lower_bound_spread;
    const Bounds b = bounds(spec);
    // |1 + σ ξ| folds Φ(−1/σ) of the devices over: moments of the folded Gaussian. 5 standard errors of mean and std
    // (false alarm 6e-7 each) and what cutting at 4 deviations does: 7e-6 σ of the mean, below 1e-4 of the spread.
    const double tail = 0.5 * std::erfc(1 / (sigma * std::sqrt(2.0)));
    const double mean = sigma * std::sqrt(2 / M_PI) * std::exp(-0.5 / (sigma * sigma)) + 1 - 2 * tail;
    const double std_of = std::sqrt(1 + sigma * sigma - mean * mean);
    CHECK(std::abs(b.mean - mean) < (5.0 / n + 7e-6) * std_of);
    CHECK(std::abs(b.std / std_of - 1) < 5 / std::sqrt(2.0 * n * n) + 1e-4);
    CHECK(b.at_zero <= 5);  // 16384 · 3.2e-5 = 0.5 expected: Poisson, false alarm 1e-5
  }
}

TEST_CASE("window rule: a g_min of the user's is obeyed and said to cut", "[devices]") {
  DeviceSpec spec = device_preset("gokmen_vlasov").spec;
  // Spread 0.3 of half a window at 4 deviations: k = 0.6.
  CHECK(spec.g_min_S == Approx(25e-6 * 0.6 / 1.6).epsilon(1e-12));
  spec.g_min_S = 0.25e-6;
  const std::string text = cut_warning(spec);
  CHECK_THAT(text, Contains("device.g_min = 250 nS") && Contains("9.375 uS"));
  // Half a deviation of 0.15 windows is 7.5 %: one per cent cuts Φ(−0.067) = 47 %; the bounds of the array agree within 5
  // standard errors.
  CHECK(cut_share(spec) == Approx(0.473).margin(1e-3));
  CHECK(std::abs(static_cast<double>(bounds(spec).at_zero) / (n * n) - cut_share(spec)) < 5 * 0.5 / n);
  CHECK(cut_warning(DeviceSpec{}).empty());
  spec.lower_bound_spread = 0;
  CHECK(cut_warning(spec).empty());
}
