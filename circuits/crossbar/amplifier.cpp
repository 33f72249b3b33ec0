// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/periphery_spec.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {

void AmplifierSpec::validate(const std::string& key) const {
  const auto check = [&key](const char* field, double value, double least) {
    if (std::isfinite(value) && value >= least) return;
    throw UserError(fmt::format("{}_{} = {:g} (must be a finite number >= {:g})", key, field, value, least));
  };
  check("offset", offset_V, 0);
  check("gain_error", gain_error, -1);
  check("gain_spread", gain_spread, 0);
  check("open_loop_gain", open_loop_gain, 0);
  check("saturation", saturation, 0);
  check("noise", noise_V, 0);
  check("gain_noise", gain_noise, 0);
}

template <class S>
Amplifiers<S>::Amplifiers(const AmplifierSpec& spec, Index lines, std::uint64_t seed, std::uint32_t id,
                          std::uint32_t side)
    : spec_(spec) {
  if (spec_.ideal()) return;
  const auto drawn = [&](std::uint64_t which, double sigma) -> LineValues<S> {
    LineValues<S> out(lines);
    fill_normal<S>({seed, Purpose::amplifier, id}, which, side,
                   std::span<S>(out.data(), static_cast<std::size_t>(out.size())));
    return static_cast<S>(sigma) * out;
  };
  line_offset_V_ = drawn(0, spec_.offset_V);
  line_gain_ = drawn(1, spec_.gain_spread);
}

template <class S>
void Amplifiers<S>::set_loads(const LineValues<S>& load, double read_voltage_V) {
  if (spec_.ideal()) return;
  NUDGE_EXPECT(load.size() == line_gain_.size());
  const S inverse_gain = spec_.open_loop_gain > 0 ? static_cast<S>(1 / spec_.open_loop_gain) : S(0);
  const LineValues<S> closed = S(1) / (S(1) + inverse_gain * (S(1) + load));
  gain_ = (static_cast<S>(1 + spec_.gain_error) + line_gain_) * closed;
  offset_ = line_offset_V_ / static_cast<S>(read_voltage_V) * (S(1) + load) * closed;
}

template <class S>
void Amplifiers<S>::apply(MatrixRef<S> y, Index first) const {
  if (spec_.ideal()) return;
  NUDGE_EXPECT(first >= 0 && first + y.cols() <= gain_.size());
  const auto gain = gain_.segment(first, y.cols());
  const auto offset = offset_.segment(first, y.cols());
  const S limit = static_cast<S>(spec_.saturation);
  for (Index n = 0; n < y.rows(); ++n) {
    auto row = y.row(n).array();
    row = row * gain + offset;
    if (limit == 0) continue;
    if (spec_.shape == Saturation::clip) {
      row = row.max(-limit).min(limit);
    } else {
      row = limit * (row / limit).tanh();
    }
  }
}

// Of the saturated output Y: g (1 − (Y/limit)²) for tanh, g inside and 0 beyond the limits for clip.
template <class S>
void Amplifiers<S>::apply_with_slope(MatrixRef<S> y, MatrixRef<S> slope, Index first) const {
  slope.setOnes();
  if (spec_.ideal()) return;
  apply(y, first);
  const auto gain = gain_.segment(first, y.cols());
  const S limit = static_cast<S>(spec_.saturation);
  for (Index n = 0; n < y.rows(); ++n) {
    auto row = slope.row(n).array();
    row = gain;
    if (limit == 0) continue;
    const auto share = y.row(n).array() / limit;
    if (spec_.shape == Saturation::clip) {
      row = (share.abs() < S(1)).select(row, S(0));
    } else {
      row *= S(1) - share.square();
    }
  }
}

NUDGE_BOTH_PRECISIONS_OF(Amplifiers)

}  // namespace nudge
