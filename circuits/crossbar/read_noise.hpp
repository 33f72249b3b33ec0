// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "circuits/circuit_spec.hpp"
#include "circuits/crossbar/line_view.hpp"
#include "circuits/read_context.hpp"
#include "devices/device_spec.hpp"

namespace nudge {

enum class ReadDirection { forward, transposed };

/// Fresh noise of a read, drawn at the outputs, which is exact for independent Gaussian noise of the devices. In units of
/// weight · drive and for an interval Δ (in τ) between reads, every output gains independently N(0, v/Δ) with
///     v = d (σ W/k)² Σ x²                       conductance noise σ (of the window W, per √τ) of d devices
///       + Σ_i x_i² V_ij                         the part of it that depends on the state, V_ij of a cross point over k²
///       + 2 k_B T/(τ V² k) · L                  thermal: 4 k_B T ΣG per hertz of the whole sensed line of load L
///       + q/(τ V k) · Σ_i |x_i| T_ij            shot: 2 q |I| per hertz of every device
/// (a one-sided density s averaged over Δτ has the variance s/(2Δτ); V the read voltage, T_ij all conductance of a cross
/// point over k). Reference devices add the same terms of their own: in a forward read one number common to all
/// outputs of a row of the drive, in a transposed read, where they are driven by −Σ x, to every output its own.
/// With wires, L and T are those seen through them: exact to first order in their resistance.
/// Valid for noise that is white beyond 1/(Δτ) and small against the signal; not for noise with memory.
template <class S>
class ReadNoise {
 public:
  /// None.
  ReadNoise() = default;
  /// devices: per cross point; reference: whether rows have a reference device.
  ReadNoise(const DeviceSpec& device, const CircuitSpec& circuit, int devices, bool reference, std::uint32_t id);

  /// The scale k has been chosen (anew).
  void set_scale(double siemens_per_weight);

  /// out += sign · noise of the mean of `reads` reads like this one; moves on to the next read.
  void add(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, Columns columns, S sign, int reads,
           MatrixRef<S> out, ReadContext& read) const;

  /// Devices per cross point.
  int devices() const { return devices_; }

  /// Whether reads have any.
  bool present(const LineView<S>& view) const {
    return device_ > 0 || thermal_ > 0 || shot_ > 0 || view.variance.size() > 0;
  }

  /// What the noise of a read asks of LineView::total.
  static bool wants_total(const CircuitSpec& circuit) { return circuit.shot_noise; }

 private:
  /// variance (n, outputs) = Σ_i of what depends on drive and device: shot noise and state-dependent noise.
  void product_variance(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, Columns columns,
                        Matrix<S>& variance) const;

  CircuitSpec circuit_ = {};
  double sigma_S_ = 0;  ///< standard deviation of one conductance for an interval of τ
  int devices_ = 0;
  bool reference_ = false;
  std::uint32_t id_ = 0;
  double device_ = 0, thermal_ = 0, shot_ = 0;  ///< variances of one device per x², of unit load, of unit |x| T
};

}  // namespace nudge
