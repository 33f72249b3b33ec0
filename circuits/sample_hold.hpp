// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "circuits/crossbar/converter.hpp"
#include "circuits/read_context.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Sample-and-hold that keeps the state of a phase: a capacitor per node, and the converter behind it. Voltages over circuit.read_voltage.
struct HoldSpec {
  double noise = 0;       ///< standard deviation of one sample: √(kT/C) of the capacitor
  double node_noise = 0;  ///< std of a sample from the node, if its motion is not simulated (solver coordinate)
  double offset = 0;      ///< standard deviation of the offset of a hold, static
  ConverterSpec adc = {};

  bool ideal() const { return noise == 0 && node_noise == 0 && offset == 0 && adc.ideal(); }
};

/// Holds of one circuit, in which the state of a phase ends: z ← q(z + o + ξ √(s² + s_n²/n)). The offset o is fixed for each
/// node and row, the noise ξ is fresh, and n states make the mean. A free state and the nudged states have the same o.
template <class S>
class SampleHold {
 public:
  /// Makes the holds. scale (1, cols): units of a column of the state per voltage of its node. read: reads of the system
  /// whose states are held, which say when. It must outlive this.
  SampleHold(Index rows, const Matrix<S>& scale, const HoldSpec& spec, std::uint64_t seed, const ReadContext& read);

  /// Starts on an example: its fresh noise begins anew.
  void bind() { taken_ = 0; }

  /// Replaces z (k·rows, cols) by its held value; `samples`: n.
  void take(MatrixRef<S> z, int samples);

 private:
  Index rows_;
  HoldSpec spec_;
  Matrix<S> scale_;   ///< (1, cols)
  Matrix<S> offset_;  ///< (rows, cols)
  const ReadContext* read_;
  std::uint32_t taken_ = 0;  ///< number of samples taken since bind()
  Matrix<S> draws_;
};

}  // namespace nudge
