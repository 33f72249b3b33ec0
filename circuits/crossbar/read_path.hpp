// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "circuits/circuit_spec.hpp"
#include "circuits/crossbar/line_view.hpp"
#include "circuits/crossbar/periphery_spec.hpp"
#include "circuits/crossbar/read_noise.hpp"
#include "circuits/read_context.hpp"
#include "sim/base/product.hpp"

namespace nudge {

/// One read of an array in either direction:
///     drive → DAC → curve of the devices → product with them (+ pedestal) → fresh noise → amplifiers → ADC → (− pedestal)
/// All devices share the shape of their current over voltage, so that a curved device at x V is a straight one at
/// I(x V)/G: exact with ideal wires, and with wires to first order in the product of curvature and voltage drop.
/// The pedestal c Σ_i x_i of the offset mapping loads amplifiers and converters and is taken off digitally after them.
/// What is ideal costs nothing.
template <class S>
class ReadPath {
 public:
  /// noise, curve: of this array's devices. `id` and `seed` name the array.
  ReadPath(const PeripherySpec& spec, const CircuitSpec& circuit, const ReadNoise<S>& noise, const CurrentCurve& curve,
           Index inputs, Index outputs, std::uint64_t seed, std::uint32_t id);

  const CircuitSpec& circuit() const { return circuit_; }

  /// Conductances have changed: new loads of the amplifiers. k: siemens per unit of weight.
  void set_view(const LineView<S>& view, double siemens_per_weight);

  /// out (=, +=, −=) read of `drive` over the chosen columns of the array. Advances read.read; adds to read.meter.
  void read(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, MatrixRef<S> out,
            Columns columns, Store store, ReadContext& read) const;

 private:
  void meter(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, Columns columns, Index outputs,
             ReadContext& read) const;

  PeripherySpec spec_;
  CircuitSpec circuit_;
  CurrentCurve curve_;
  ReadNoise<S> noise_;
  Amplifiers<S> forward_, transposed_;
  double siemens_per_weight_ = 1;
};

}  // namespace nudge
