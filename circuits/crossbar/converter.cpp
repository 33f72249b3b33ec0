// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/converter.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Rounds one row within ±range by ideal edges, or by those of a table.
template <class S, class Row>
void round_row(int bits, S range, const ConverterTable* table, Row values) {
  if (bits == 1) {
    const S half = range / S(2);
    values = values.unaryExpr([half](S one) { return std::isnan(one) ? one : std::copysign(half, one + S(0)); });
    return;
  }
  const S steps = static_cast<S>((1 << (bits - 1)) - 1);  // on either side of 0
  if (table == nullptr) {
    values = (values.max(-range).min(range) * (steps / range)).round() * (range / steps);
    return;
  }
  values = values.max(-range).min(range) * (steps / range);
  values = values.unaryExpr([table, step = range / steps](S u) {
    if (!std::isfinite(u)) return u;
    const int code = table->code(static_cast<double>(u));
    return code == 0 ? std::copysign(S(0), u) : static_cast<S>(code) * step;  // as round() does
  });
}

/// Replaces values within ±range by the mean curve of a table.
template <class S>
void follow_mean(const ConverterTable& table, S range, MatrixRef<S> x) {
  const S steps = static_cast<S>(table.top());
  double slope = 0;
  x = x.unaryExpr([&](S one) {
    return std::isfinite(one)
               ? static_cast<S>(table.mean(static_cast<double>(one * (steps / range)), slope)) * (range / steps)
               : one;
  });
}

template <class S>
std::uint64_t rounded(const ConverterSpec& spec, const ConverterTable* table, MatrixRef<S> x) {
  if (spec.ideal()) return 0;
  std::uint64_t clipped = 0;
  if (spec.range > 0) clipped = static_cast<std::uint64_t>((x.array().abs() > static_cast<S>(spec.range)).count());
  if (spec.bits == 0) {
    const S range = static_cast<S>(spec.range);
    x = x.cwiseMax(-range).cwiseMin(range);
    if (table != nullptr) follow_mean<S>(*table, range, x);
    return clipped;
  }
  for (Index row = 0; row < x.rows(); ++row) {
    auto values = x.row(row).array();
    const S range = spec.range > 0 ? static_cast<S>(spec.range) : values.abs().maxCoeff();
    if (!(range > S(0)) || !std::isfinite(range)) continue;
    round_row<S>(spec.bits, range, table, values);
  }
  return clipped;
}

}  // namespace

void ConverterSpec::load(Conversion conversion, const std::string& key) {
  table = inl.empty() ? nullptr : read_converter_table(inl, conversion, bits, key);
}

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
  return rounded<S>(spec, spec.table.get(), x);
}

template <class S>
std::uint64_t round_drive(const ConverterSpec& spec, MatrixRef<S> x) {
  return rounded<S>(spec, nullptr, x);
}

template <class S>
void set_levels(const ConverterSpec& spec, MatrixRef<S> x) {
  if (spec.table == nullptr) return;
  if (spec.bits == 0) return follow_mean<S>(*spec.table, static_cast<S>(spec.range), x);
  const S steps = static_cast<S>(spec.table->top());
  for (Index row = 0; row < x.rows(); ++row) {
    const S range = spec.range > 0 ? static_cast<S>(spec.range) : x.row(row).cwiseAbs().maxCoeff();
    if (!(range > S(0)) || !std::isfinite(range)) continue;
    for (Index j = 0; j < x.cols(); ++j) {
      S& one = x(row, j);
      const auto code = static_cast<int>(std::lround(one * (steps / range)));
      const double level = spec.table->level(code);
      if (level != code) one = static_cast<S>(level) * (range / steps);  // else the bits stay
    }
  }
}

template <class S>
void convert_with_slope(const ConverterSpec& spec, Matrix<S>& x, Matrix<S>& slope) {
  if (spec.range == 0) return;
  const S limit = static_cast<S>(spec.range);
  slope.array() = (x.array().abs() < limit).select(slope.array(), S(0));
  x = x.cwiseMax(-limit).cwiseMin(limit);
  if (spec.table == nullptr) return;
  const S scale = static_cast<S>(spec.table->top()) / limit;
  for (Index i = 0; i < x.size(); ++i) {
    double of_mean = 0;
    S& one = x.data()[i];
    if (!std::isfinite(one)) continue;
    one = static_cast<S>(spec.table->mean(static_cast<double>(one * scale), of_mean)) / scale;
    slope.data()[i] *= static_cast<S>(of_mean);
  }
}

#define NUDGE_CONVERTER(S)                                                   \
  template std::uint64_t convert<S>(const ConverterSpec&, MatrixRef<S>);     \
  template std::uint64_t round_drive<S>(const ConverterSpec&, MatrixRef<S>); \
  template void set_levels<S>(const ConverterSpec&, MatrixRef<S>);           \
  template void convert_with_slope<S>(const ConverterSpec&, Matrix<S>&, Matrix<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_CONVERTER)

}  // namespace nudge
