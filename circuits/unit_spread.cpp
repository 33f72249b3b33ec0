// SPDX-License-Identifier: Apache-2.0
#include "circuits/unit_spread.hpp"

#include <algorithm>

#include "sim/base/rng.hpp"

namespace nudge {

std::shared_ptr<const UnitSpread> drawn_units(double gain_spread, double offset_spread, Index units, std::uint64_t seed,
                                              std::uint32_t node) {
  if (gain_spread == 0 && offset_spread == 0) return nullptr;
  auto spread = std::make_shared<UnitSpread>();
  const auto draw = [&](std::uint32_t lane, double sigma, std::vector<double>& values) {
    values.resize(static_cast<std::size_t>(units));
    fill_normal<double>({seed, Purpose::unit_spread, node}, 0, lane, values);
    for (double& value : values) value *= sigma;
  };
  draw(0, gain_spread, spread->gain);
  draw(1, offset_spread, spread->offset);
  for (double& gain : spread->gain) gain = std::clamp(gain, -0.5, 0.5);  // below −1 it would turn the curve round
  return spread;
}

}  // namespace nudge
