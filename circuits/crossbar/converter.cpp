// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/converter.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {

void ConverterSpec::validate(const std::string& key) const {
  constexpr int largest = 24;  // beyond the significand of float
  if (bits < 0 || bits > largest) {
    throw UserError(fmt::format("{}_bits = {} (must be 0, no rounding, or 1 to {})", key, bits, largest));
  }
  if (!(range >= 0 && std::isfinite(range))) {
    throw UserError(
        fmt::format("{}_range = {:g} (must be finite and >= 0; 0 ranges every read by its largest value)", key, range));
  }
}

template <class S>
std::uint64_t convert(const ConverterSpec& spec, MatrixRef<S> x) {
  if (spec.ideal()) return 0;
  std::uint64_t clipped = 0;
  if (spec.range > 0) clipped = static_cast<std::uint64_t>((x.array().abs() > static_cast<S>(spec.range)).count());
  if (spec.bits == 0) {
    const S range = static_cast<S>(spec.range);
    x = x.cwiseMax(-range).cwiseMin(range);
    return clipped;
  }
  const S steps = static_cast<S>((1 << (spec.bits - 1)) - 1);  // on either side of 0
  for (Index row = 0; row < x.rows(); ++row) {
    auto values = x.row(row).array();
    const S range = spec.range > 0 ? static_cast<S>(spec.range) : values.abs().maxCoeff();
    if (!(range > S(0)) || !std::isfinite(range)) continue;
    if (spec.bits == 1) {
      const S half = range / S(2);
      values = values.unaryExpr([half](S one) { return std::isnan(one) ? one : std::copysign(half, one + S(0)); });
      continue;
    }
    values = (values.max(-range).min(range) * (steps / range)).round() * (range / steps);
  }
  return clipped;
}

template std::uint64_t convert<float>(const ConverterSpec&, MatrixRef<float>);
template std::uint64_t convert<double>(const ConverterSpec&, MatrixRef<double>);

}  // namespace nudge
