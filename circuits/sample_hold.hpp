// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "circuits/crossbar/converter.hpp"
#include "circuits/read_context.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// What keeps the state of a phase: a capacitor per node, and the converter behind it. Voltages over circuit.read_voltage.
struct HoldSpec {
  double noise = 0;  ///< standard deviation of one sample: √(kT/C) of the capacitor
  double node_noise =
      0;              ///< the same of the node that is sampled, where its motion is not simulated (solver coordinate)
  double offset = 0;  ///< standard deviation of the offset of a hold, static
  ConverterSpec adc = {};

  bool ideal() const { return noise == 0 && node_noise == 0 && offset == 0 && adc.ideal(); }
};

/// The holds of one circuit: the state of a phase ends in them, z ← q(z + o + ξ √(s² + s_n²/n)), o fixed for each node and row, ξ fresh,
/// n the states whose mean is taken. Between them a state of the free phase and those of the nudged ones have the same o.
template <class S>
class SampleHold {
 public:
  /// `scale` (1, cols): of a column of the state over the voltage of its node. `read`: of the system whose states are held, which
  /// says when; it must outlive this.
  SampleHold(Index rows, const Matrix<S>& scale, const HoldSpec& spec, std::uint64_t seed, const ReadContext& read);

  /// Start on an example: its fresh noise begins anew.
  void bind() { taken_ = 0; }

  /// z (k·rows, cols) ← what is held of it; `samples`: n.
  void take(MatrixRef<S> z, int samples);

 private:
  Index rows_;
  HoldSpec spec_;
  Matrix<S> scale_;   ///< (1, cols)
  Matrix<S> offset_;  ///< (rows, cols)
  const ReadContext* read_;
  std::uint32_t taken_ = 0;  ///< since bind()
  Matrix<S> draws_;
};

}  // namespace nudge
