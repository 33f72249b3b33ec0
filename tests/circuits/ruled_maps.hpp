// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

#include "circuits/linear_map_factory.hpp"
#include "circuits/rules/ruled_map.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"

namespace nudge::test {

inline constexpr Index kInputs = 6, kOutputs = 5;
inline constexpr std::uint64_t kSeed = 3;

/// Devices whose steps bend towards a symmetry point, without any noise: what is sent decides where they stand.
inline CrossbarSpec bending(UpdateScheme update) {
  CrossbarSpec spec;
  spec.device.model = "soft_bounds";
  spec.device.pulses = 200;
  spec.device.step_spread = 0.2;
  spec.device.asymmetry_spread = 0.2;
  spec.mapping.w_max = 1;
  spec.programming.update = update;
  return spec;
}

inline CrossbarSpec even(UpdateScheme update) {
  CrossbarSpec spec;
  spec.device.model = "constant_step";
  spec.mapping.w_max = 1;  // q = 0.002
  spec.programming.update = update;
  return spec;
}

inline double reading(const LinearMap<double>& map, const std::string& name) {
  for (const MapReading& one : map.readings()) {
    if (one.name == name) return one.value;
  }
  return std::nan("");
}

inline Matrix<double> state_of(LinearMap<double>& map, const std::string& name) {
  for (const StateArray<double>& one : map.state()) {
    if (one.name == name) return *one.values;
  }
  FAIL("no state " << name);
  return {};
}

/// Change t of a training: gradients with a mean, so that weights travel.
inline Matrix<double> change(int t, double size) {
  return size * (random_matrix<double>(kInputs, kOutputs, 100) +
                 random_matrix<double>(kInputs, kOutputs, static_cast<std::uint64_t>(200 + t)));
}
inline double schedule(int t) { return 1 - 0.01 * t; }

}  // namespace nudge::test
