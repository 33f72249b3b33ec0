// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "circuits/circuit_spec.hpp"
#include "circuits/crossbar/line_view.hpp"
#include "circuits/crossbar/periphery_spec.hpp"
#include "circuits/crossbar/read_noise.hpp"
#include "circuits/read_context.hpp"
#include "circuits/wires/tile_spec.hpp"
#include "sim/base/product.hpp"
#include "sim/gradient_sink.hpp"

namespace nudge {

/// One read of an array in either direction:
///     drive → DAC → noise of drivers → curve of the devices → product with them (+ pedestal) → fresh noise → amplifiers → ADC → (− pedestal)
/// All devices share the shape of their current over voltage, so a curved device at x V is a straight one at I(x V)/G. This is exact
/// with ideal wires. With wires it holds to first order in the product of curvature and voltage drop. The pedestal c Σ_i x_i of the
/// offset mapping loads amplifiers and converters and is taken off digitally after them. Ideal parts of the path cost nothing.
template <class S>
class ReadPath {
 public:
  /// Makes the path with the noise and the curve of this array's devices. `id` and `seed` determine the array's random numbers.
  /// tiles: of the array. A read counts the lines and conversions of every tile, and converts the sum of their currents once.
  ReadPath(const PeripherySpec& spec, const CircuitSpec& circuit, const TileSpec& tiles, const ReadNoise<S>& noise,
           const CurrentCurve& curve, Index inputs, Index outputs, std::uint64_t seed, std::uint32_t id);

  const CircuitSpec& circuit() const { return circuit_; }

  /// Sets the loads of the amplifiers after conductances have changed. k: siemens per unit of weight.
  void set_view(const LineView<S>& view, double siemens_per_weight);

  /// Reads `drive` over the chosen columns of the array into out (=, +=, −=); of several reads, as read's policy asks, the
  /// mean. Advances read.read; adds to read.meter.
  void read(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, MatrixRef<S> out,
            Columns columns, Store store, ReadContext& read) const;

  /// True if the derivative of a noise-free read needs no operating point.
  bool linear() const { return curve_.linear() && spec_.forward.ideal() && spec_.transposed.ideal(); }
  bool noisy(const LineView<S>& view) const { return noise_.present(view); }

  /// Derivative of the noise-free read at the drive `at` (T, ...). With φ the curve of the devices behind the DAC's clip, p =
  /// φ(at), s = p (W + c) and y = A(s) − c Σ clip(at), A amplifiers and ADC's clip:
  ///     dy = A′(s) ∘ [(φ′ ∘ v) (W + c)] − c Σ v,    ⟨u, ∂y/∂W⟩ = pᵀ (A′(s) ∘ u)
  /// Rounding has no derivative and is left out: the limit of many bits. What tables of converters leave of it, their mean
  /// curves (ConverterTable::mean), is in φ and A.
  void derivative(ReadDirection direction, Derivative which, const LineView<S>& view, ConstMatrixRef<S> at,
                  ConstMatrixRef<S> v, MatrixRef<S> out, Columns columns, Store store) const;
  /// Adds scale · ⟨u, ∂y/∂W[:, columns]⟩ to the sink: the derivative with respect to W[:, columns].
  void correlate(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> at, ConstMatrixRef<S> u,
                 Columns columns, S scale, int parameter, GradientSink<S>& sink) const;

  /// Copy of this path in double without fresh noise and rounding. Converters of a fixed range still clip, and those with a
  /// table follow its mean curve.
  ReadPath<double> noise_free() const;

 private:
  template <class T>
  friend class ReadPath;
  /// Slopes p, φ′ and A′ at a drive; empty where they are 1.
  struct Slopes {
    Matrix<S> p, in, out;
  };
  void jvp(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> at, ConstMatrixRef<S> v,
           MatrixRef<S> out, Columns columns, Store store) const;
  void vjp(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> at, ConstMatrixRef<S> u,
           MatrixRef<S> out, Columns columns, Store store) const;
  Slopes slopes(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> at, Columns columns) const;
  Matrix<S> clipped_direction(ReadDirection direction, ConstMatrixRef<S> at, ConstMatrixRef<S> v) const;
  void lines(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> in, MatrixRef<S> out, Columns columns,
             Store store, ReadContext& read) const;
  void mean(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, MatrixRef<S> out,
            Columns columns, Store store, ReadContext& read) const;
  void read_once(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, MatrixRef<S> out,
                 Columns columns, Store store, int reads, ReadContext& read) const;
  ReadPath(const PeripherySpec& spec, const CircuitSpec& circuit, const CurrentCurve& curve, Amplifiers<S> forward,
           Amplifiers<S> transposed, double siemens_per_weight)
      : spec_(spec),
        circuit_(circuit),
        curve_(curve),
        forward_(std::move(forward)),
        transposed_(std::move(transposed)),
        siemens_per_weight_(siemens_per_weight) {}
  void meter(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, Columns columns, Index outputs,
             int reads, ReadContext& read) const;

  PeripherySpec spec_;
  CircuitSpec circuit_;
  TileSpec tiles_ = {};
  CurrentCurve curve_;
  ReadNoise<S> noise_;
  Amplifiers<S> forward_, transposed_;
  double siemens_per_weight_ = 1;
  std::uint64_t view_ = 0;  ///< number that no other view has; 0: none was set
};

/// Stores a read that was made beside its target there: out ← from, out + from or out − from, of one shape.
template <class S>
void put(const Matrix<S>& from, Store store, MatrixRef<S> out) {
  if (store == Store::assign) out = from;
  if (store == Store::add) out += from;
  if (store == Store::subtract) out -= from;
}

}  // namespace nudge
