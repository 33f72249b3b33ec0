// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "circuits/array_use.hpp"
#include "circuits/circuit_spec.hpp"
#include "circuits/crossbar/line_view.hpp"
#include "circuits/read_context.hpp"
#include "circuits/read_policy.hpp"
#include "devices/device_spec.hpp"
#include "sim/base/product.hpp"
#include "sim/base/rng.hpp"

namespace nudge {

/// Outputs of one read among the sensed lines of its array: `rows` rows of the drive, `count` lines from `first` on. Where
/// `common` (reference column), each row also has one number common to all lines, kept as the line after the last.
struct LineBlock {
  Index rows = 0;
  Index first = 0, count = 0;
  Index lines = 0;  ///< lines of the array
  bool common = false;

  /// Count of numbers of one read: rows times count, row by row, then the common ones.
  Index numbers() const { return rows * (count + (common ? 1 : 0)); }
  Index memory_lines() const { return lines + (common ? 1 : 0); }
};

/// Takes one step of AR(1) processes of variance 1, x ← ρ x + √(1 − ρ²) N; a line that was not read before begins with N.
/// numbers: N on entry, x on return.
template <class S>
void correlate(double rho, const LineBlock& block, Matrix<S>& states, S* numbers);

/// Ornstein–Uhlenbeck processes of variance 1 over a read of r time constants, exactly: with ρ = e^{−r}
///     x ← ρ x + √(1 − ρ²) N₁,    mean over the read A = a x + b N₁ + c N₂  (x at its start)
///     a = (1 − ρ)/r,   b = a √((1 − ρ)/(1 + ρ)),   a² + b² + c² = 2 (r − 1 + ρ)/r²
/// (b from ⟨A x(end)⟩ = a, c from the variance of the mean). A line that was not read before begins with x = N₀. sums += A.
struct ReadAverage {
  double rho, a, b, c;
  explicit ReadAverage(double r);
};
template <class S>
void average(const ReadAverage& mean, const LineBlock& block, Matrix<S>& states, const S* n0, const S* n1, const S* n2,
             S* sums);

/// Fresh noise of the circuits at the lines of one direction.
struct LineNoise {
  double amplifier_V = 0;  ///< input noise density e_n of the amplifiers of sensed lines, V/√Hz
  double gain = 0;         ///< standard deviation of their gain, per √τ
  double driver_V = 0;     ///< noise density e_d of the voltage of driven lines, V/√Hz
};

/// Fresh noise of a read, drawn at the outputs, which is exact for independent Gaussian noise of the devices. In units of
/// weight · drive and for an interval Δ (in τ) between reads, every output gains independently N(0, v/Δ) with
///     v = d (σ W/k)² Σ x²                       conductance noise σ (of the window W, per √τ) of d devices
///       + Σ_i x_i² V_ij                         the part of it that depends on the state, V_ij of a cross point over k²
///       + 2 k_B T/(τ V² k) · (L + 1)            thermal: 4 k_B T ΣG per hertz of the whole sensed line of load L and of the
///                                               feedback conductance k of its amplifier
///       + q/(τ V k) · Σ_i |x_i| T_ij            shot: 2 q |I| per hertz of every device
///       + e_n²/(2 τ V²) · (1 + L)²              input noise e_n of the amplifier times its noise gain
/// (a one-sided density s averaged over Δτ has the variance s/(2Δτ); V the read voltage, T_ij all conductance of a cross
/// point over k). Reference devices add the same terms of their own. In a forward read this is one number, common to all outputs of
/// a row of the drive. In a transposed read, which drives them by −Σ x, every output gets its own. With wires, L and T are seen
/// through them: exact to first order in their resistance.
///
/// Two kinds are common to all devices of a line. They are put where they act instead of in v:
///     y ← y (1 + γ N/√Δ)           gain noise γ of a sensed line; y with the pedestal, one N per row of the drive and line
///     x ← x + e_d/(V √(2 τ Δ)) N   voltage noise e_d of a driven line, one N per row of the drive and line
/// By the second, outputs j and j' have the covariance e_d²/(2 τ V² Δ) Σ_i W_ij W_ij'. One driver serves both devices of a pair,
/// the second by an inverted copy of its voltage.
///
/// White noise has no variance, so that a curved function of reads (relu, softmax) has no limit for Δ → 0: the amplifier's pole τ_a makes
/// one. A finite τ_a acts on outputs of a relaxation that go on (Store::assign; sums at a node pass sim/mover.hpp instead). Their noise
/// has the variance v tanh(h/2τ_a)/Δ and the correlation ρ = e^{−h/τ_a} from read to read, h the duration of a read. The density at zero frequency is Δ ·
/// var · (1 + ρ)/(1 − ρ) = v as without the pole. The variance is v/(2 τ_a) for h = Δ → 0 (white noise behind one pole) and v/Δ for h ≫ τ_a.
///
/// LineView::moving adds slow noise of the devices averaged over each read: √(Σ_i x_i² V_ij) times a process of variance 1 per row of the
/// drive and line. Exact for a drive that stands still; rows of a drive (tokens) and the two directions are independent, as for fresh noise.
template <class S>
class ReadNoise {
 public:
  /// Makes a source without noise.
  ReadNoise() = default;
  /// Makes the noise of an array. devices: number per cross point; reference: true if rows have a reference device.
  ReadNoise(const DeviceSpec& device, const CircuitSpec& circuit, int devices, bool reference, std::uint32_t id);

  /// Sets the noise of the circuits at the lines of one direction of reads.
  void set_lines(ReadDirection direction, const LineNoise& noise);

  /// True if a read of that direction has noise that is common to all devices of a line: it is then made beside its target.
  bool on_lines(ReadDirection direction) const { return gain_[side(direction)] > 0 || driver_[side(direction)] > 0; }

  /// Adds the noise of the drivers to what drives the next read, which add() then completes.
  void add_drivers(ReadDirection direction, const LineView<S>& view, Columns columns, Store store, int reads,
                   MatrixRef<S> driven, ReadContext& read) const;

  /// Sets the scale k when it has been chosen (anew).
  void set_scale(double siemens_per_weight);

  /// Puts (=, +=, −=: `store`) into out a read that has been made, adds the noise of the mean of `reads` reads like it, and
  /// moves on to the next read. With gain noise, `out` holds nothing but that read.
  void add(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, Columns columns, Store store,
           int reads, MatrixRef<S> out, ReadContext& read) const;

  /// Number of devices per cross point.
  int devices() const { return devices_; }
  std::uint32_t id() const { return id_; }

  /// True if reads have any noise.
  bool present(const LineView<S>& view) const {
    return white(view) || !view.moving.empty() || on_lines(ReadDirection::forward) ||
           on_lines(ReadDirection::transposed);
  }

  /// True if the noise of a read needs LineView::total.
  static bool wants_total(const CircuitSpec& circuit) { return circuit.shot_noise; }

 private:
  /// Place of one read in the stream of the array, its outputs, and the factor of its white noise.
  struct OneRead;
  OneRead one_read(ReadDirection direction, const LineView<S>& view, Index rows, Columns columns, Store store,
                   int reads, const ReadContext& read) const;
  /// White numbers of that read from number `skipped` on, block by row; where it has a pole, of process `process` of the memory.
  const S* white_numbers(const OneRead& one, Index skipped, const LineBlock& block, std::size_t process,
                         LineMemory<S>& memory, std::uint64_t seed) const;
  LineMemory<S>& memory_of(ReadDirection direction, ReadContext& read) const;
  static std::size_t side(ReadDirection direction) { return direction == ReadDirection::forward ? 0 : 1; }
  bool products(const LineView<S>& view) const { return shot_ > 0 || view.variance.size() > 0; }
  bool white(const LineView<S>& view) const {
    return device_ > 0 || thermal_ > 0 || amplifier_[0] > 0 || amplifier_[1] > 0 || products(view);
  }
  void add_white(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, Columns columns, S scale,
                 const S* numbers, DriveProducts<S>& known, MatrixRef<S> out) const;
  void add_moving(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, Columns columns, S sign,
                  const LineBlock& block, double duration_s, const RngKey& key, std::uint64_t place, std::uint32_t lane,
                  LineMemory<S>& memory, MatrixRef<S> out) const;
  /// Computes variance (n, outputs) = Σ_i of the noise that depends on drive and device: shot noise and state-dependent noise.
  void product_variance(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, Columns columns,
                        Matrix<S>& variance) const;

  CircuitSpec circuit_ = {};
  double sigma_S_ = 0;  ///< standard deviation of one conductance for an interval of τ
  int devices_ = 0;
  bool reference_ = false;
  std::uint32_t id_ = 0;
  double pole_s_ = 0;                           ///< τ_a of the amplifiers; 0: none
  double device_ = 0, thermal_ = 0, shot_ = 0;  ///< variances: of one device per x², of unit load, of unit |x| T
  double amplifier_[2] = {0, 0};                ///< variance at noise gain 1, forward and transposed
  double gain_[2] = {0, 0};                     ///< standard deviation γ
  double driver_[2] = {0, 0};                   ///< standard deviation of x of a driven line
};

}  // namespace nudge
