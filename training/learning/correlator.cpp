// SPDX-License-Identifier: Apache-2.0
#include "training/learning/correlator.hpp"

#include <cmath>

#include "devices/device_config.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

/// Draws normal numbers of standard deviation sd for a parameter of this shape. `step` (0: static) and `lane` name the
/// draw.
template <class S>
Matrix<S> drawn(double sd, ParameterShape shape, const RngKey& key, std::uint64_t step, std::uint32_t lane) {
  Matrix<S> values(shape.rows, shape.cols);
  fill_normal<S>(key, step, lane, {values.data(), static_cast<std::size_t>(values.size())});
  return static_cast<S>(sd) * values;
}

RngKey key_of(std::uint64_t seed, std::size_t parameter) {
  return {seed, Purpose::correlator, static_cast<std::uint32_t>(parameter)};
}

}  // namespace

const Section<CorrelatorSpec>& correlator_section() {
  using param::real;
  static const Section<CorrelatorSpec> section = {
      field(real("correlator.gain_spread", "0", from_below(0, 0.5),
                 "Mismatch of the analog multipliers that form the correlation, one per weight: static standard "
                 "deviation of their gain.",
                 "hardware.level = local: chosen, the matching of small multipliers"),
            &CorrelatorSpec::gain_spread),
      field(real("correlator.offset", "0", at_least(0),
                 "Standard deviation of the static offset of such a product, after auto-zeroing; 1: the product of "
                 "two states of 1. Divided by the distance of the nudged states in beta, it is an offset of the "
                 "gradient.",
                 "hardware.level = local: 20 uV of a read voltage of 0.2 V, chosen"),
            &CorrelatorSpec::offset),
      field(real("correlator.noise", "0", at_least(0),
                 "Standard deviation of the fresh noise of one product, in the same unit.",
                 "hardware.level = local: kT/C of 100 fF at 300 K over 0.2 V"),
            &CorrelatorSpec::noise)};
  return section;
}

ParamTable correlator_keys() { return read_with(with_devices(), correlator_section().rows()); }

template <class S>
Correlators<S>::Correlators(const CorrelatorSpec& spec, const std::vector<ParameterShape>& shapes,
                            std::vector<double> products, std::uint64_t seed)
    : spec_(spec), products_(std::move(products)), seed_(seed), gain_(shapes.size()), offset_(shapes.size()) {
  NUDGE_EXPECT(products_.size() == shapes.size());
  for (std::size_t p = 0; p < shapes.size(); ++p) {
    if (products_[p] == 0) continue;
    if (spec_.gain_spread > 0) {  // a multiplier that is off by all of its gain is none
      gain_[p] = drawn<S>(spec_.gain_spread, shapes[p], key_of(seed_, p), 0, 0).cwiseMax(S(-1)).cwiseMin(S(1));
      gain_[p].array() += S(1);
    }
    if (spec_.offset > 0) offset_[p] = drawn<S>(spec_.offset, shapes[p], key_of(seed_, p), 0, 1);
  }
}

template <class S>
void Correlators<S>::pass(Gradient<S>& gradient, Rows rows, double distance, std::uint64_t step) const {
  NUDGE_EXPECT(rows.multiplied > 0 && rows.counted > 0 && distance > 0);
  const auto multiplied = static_cast<double>(rows.multiplied), counted = static_cast<double>(rows.counted);
  for (std::size_t p = 0; p < products_.size(); ++p) {
    if (products_[p] == 0) continue;
    Matrix<S>& g = gradient[static_cast<int>(p)];
    if (gain_[p].size() > 0) g.array() *= gain_[p].array();
    if (offset_[p].size() > 0) g += static_cast<S>(multiplied / counted * products_[p] / distance) * offset_[p];
    if (spec_.noise > 0) {
      const double sd = spec_.noise * std::sqrt(products_[p] * multiplied) / (counted * distance);
      g += drawn<S>(sd, {g.rows(), g.cols()}, key_of(seed_, p), step, 2);
    }
  }
}

NUDGE_BOTH_PRECISIONS_OF(Correlators)

}  // namespace nudge
