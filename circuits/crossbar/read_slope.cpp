// SPDX-License-Identifier: Apache-2.0
// Derivatives of a noise-free read: what references compare the circuit's own reads with.
#include "circuits/crossbar/read_path.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Scales m (k·T, n) ← m ∘ slope (T, n), copy by copy.
template <class S>
void scale_copies(const Matrix<S>& slope, MatrixRef<S> m) {
  NUDGE_EXPECT(m.rows() % slope.rows() == 0 && m.cols() == slope.cols());
  for (Index row = 0; row < m.rows(); row += slope.rows()) {
    m.middleRows(row, slope.rows()).array() *= slope.array();
  }
}

/// Adds row sums, y(n, :) += c Σ_i x(n, i).
template <class S>
void add_row_sums(ConstMatrixRef<S> x, S c, Matrix<S>& y) {
  if (c == S(0)) return;
  y.colwise() += c * x.rowwise().sum();
}

/// Computes what the lines make of x with the devices that a read of this direction sees, or of u with their transpose (vjp), y.
template <class S>
void pass_lines(ReadDirection direction, Derivative which, const LineView<S>& view, Columns columns,
                ConstMatrixRef<S> x, Matrix<S>& y) {
  const Matrix<S>& seen = direction == ReadDirection::forward ? view.weights : view.transposed_weights();
  const auto w = seen.middleCols(columns.begin, columns.count);
  if (way_of(direction, which) == ReadDirection::forward) {
    multiply<S>(x, w, y, Store::assign);
  } else {
    multiply_transposed<S>(x, w, y, Store::assign);
  }
  add_row_sums<S>(x, view.pedestal, y);
}

}  // namespace

template <class S>
typename ReadPath<S>::Slopes ReadPath<S>::slopes(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> at,
                                                 Columns columns) const {
  const bool forward = direction == ReadDirection::forward;
  const PortSpec& port = forward ? spec_.forward : spec_.transposed;
  Slopes s{at, Matrix<S>::Ones(at.rows(), at.cols()), {}};
  convert_with_slope<S>(port.dac, s.p, s.in);
  if (!curve_.linear()) {
    const double volts = circuit_.read_voltage_V;
    s.in.array() *=
        s.p.unaryExpr([&](S x) { return static_cast<S>(curve_.slope(static_cast<double>(x) * volts)); }).array();
    s.p = s.p.unaryExpr([&](S x) { return static_cast<S>(curve_.current(static_cast<double>(x) * volts) / volts); });
  }
  const Index outputs = forward ? columns.count : view.weights.rows();
  Matrix<S> y(at.rows(), outputs);
  pass_lines<S>(direction, Derivative::jvp, view, columns, s.p, y);
  s.out.resize(at.rows(), outputs);
  (forward ? forward_ : transposed_).apply_with_slope(y, s.out, forward ? columns.begin : 0);
  convert_with_slope<S>(port.adc, y, s.out);
  return s;
}

template <class S>
void ReadPath<S>::jvp(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> at, ConstMatrixRef<S> v,
                      MatrixRef<S> out, Columns columns, Store store) const {
  const Slopes s = slopes(direction, view, at, columns);
  Matrix<S> bent = v;
  scale_copies<S>(s.in, bent);
  Matrix<S> y(v.rows(), s.out.cols());
  pass_lines<S>(direction, Derivative::jvp, view, columns, bent, y);
  scale_copies<S>(s.out, y);
  if (view.pedestal != S(0)) add_row_sums<S>(clipped_direction(direction, at, v), -view.pedestal, y);
  put<S>(y, store, out);
}

template <class S>
void ReadPath<S>::vjp(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> at, ConstMatrixRef<S> u,
                      MatrixRef<S> out, Columns columns, Store store) const {
  const Slopes s = slopes(direction, view, at, columns);
  Matrix<S> r = u;
  scale_copies<S>(s.out, r);
  Matrix<S> x(u.rows(), at.cols());
  pass_lines<S>(direction, Derivative::vjp, view, columns, r, x);
  scale_copies<S>(s.in, x);
  if (view.pedestal != S(0)) {
    Matrix<S> direct = Matrix<S>::Zero(x.rows(), x.cols());
    add_row_sums<S>(u, -view.pedestal, direct);
    x += clipped_direction(direction, at, direct);
  }
  put<S>(x, store, out);
}

/// Part of direction v that the digital side, which sees the clipped drive, knows: v where the DAC does not clip `at`, else 0.
template <class S>
Matrix<S> ReadPath<S>::clipped_direction(ReadDirection direction, ConstMatrixRef<S> at, ConstMatrixRef<S> v) const {
  Matrix<S> x = at;
  Matrix<S> inside = Matrix<S>::Ones(at.rows(), at.cols());
  const PortSpec& port = direction == ReadDirection::forward ? spec_.forward : spec_.transposed;
  convert_with_slope<S>({0, port.dac.range}, x, inside);
  Matrix<S> out = v;
  scale_copies<S>(inside, out);
  return out;
}

template <class S>
void ReadPath<S>::derivative(ReadDirection direction, Derivative which, const LineView<S>& view, ConstMatrixRef<S> at,
                             ConstMatrixRef<S> v, MatrixRef<S> out, Columns columns, Store store) const {
  if (which == Derivative::jvp) {
    jvp(direction, view, at, v, out, columns, store);
  } else {
    vjp(direction, view, at, v, out, columns, store);
  }
}

/// Adds the correlation of a read to the sink, with the factors p and A′(s) ∘ u.
template <class S>
void ReadPath<S>::correlate(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> at, ConstMatrixRef<S> u,
                            Columns columns, S scale, int parameter, GradientSink<S>& sink) const {
  const Slopes s = slopes(direction, view, at, columns);
  Matrix<S> slope_u = u;
  scale_copies<S>(s.out, slope_u);
  const bool forward = direction == ReadDirection::forward;
  sink.accumulate(parameter, columns, scale, forward ? s.p : slope_u, forward ? slope_u : s.p);
}

template <class S>
ReadPath<double> ReadPath<S>::noise_free() const {
  PeripherySpec spec = spec_;
  for (PortSpec* port : {&spec.forward, &spec.transposed}) port->dac.bits = port->adc.bits = 0;
  return {spec,
          circuit_,
          curve_,
          forward_.template cast<double>(),
          transposed_.template cast<double>(),
          siemens_per_weight_};
}

#define NUDGE_READ_SLOPE(S)                                                                                       \
  template typename ReadPath<S>::Slopes ReadPath<S>::slopes(ReadDirection, const LineView<S>&, ConstMatrixRef<S>, \
                                                            Columns) const;                                       \
  template void ReadPath<S>::jvp(ReadDirection, const LineView<S>&, ConstMatrixRef<S>, ConstMatrixRef<S>,         \
                                 MatrixRef<S>, Columns, Store) const;                                             \
  template void ReadPath<S>::vjp(ReadDirection, const LineView<S>&, ConstMatrixRef<S>, ConstMatrixRef<S>,         \
                                 MatrixRef<S>, Columns, Store) const;                                             \
  template Matrix<S> ReadPath<S>::clipped_direction(ReadDirection, ConstMatrixRef<S>, ConstMatrixRef<S>) const;   \
  template void ReadPath<S>::derivative(ReadDirection, Derivative, const LineView<S>&, ConstMatrixRef<S>,         \
                                        ConstMatrixRef<S>, MatrixRef<S>, Columns, Store) const;                   \
  template void ReadPath<S>::correlate(ReadDirection, const LineView<S>&, ConstMatrixRef<S>, ConstMatrixRef<S>,   \
                                       Columns, S, int, GradientSink<S>&) const;                                  \
  template ReadPath<double> ReadPath<S>::noise_free() const;
NUDGE_BOTH_PRECISIONS(NUDGE_READ_SLOPE)

}  // namespace nudge
