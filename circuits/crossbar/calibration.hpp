// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/crossbar/line_view.hpp"
#include "circuits/linear_map.hpp"
#include "devices/device_draws.hpp"

namespace nudge {

/// Calibration of the gain of an array's amplifiers, which follows the common drift of all its devices. n inputs of ±1, drawn
/// once, are read twice after every write, Y₀, Y₁ ≈ X W, and again after every wait, Y. The gain is then multiplied by
///     a = ⟨Y₀, Y₁⟩/⟨½(Y₀ + Y₁), Y⟩
/// the factor that brings the part of Y along X W back to X W. A common loss, W = e W₀, is undone (a = 1/e); a spread that is
/// independent of the weights leaves a near 1. A step is at most a factor 4: beyond it nothing is left to be followed.
///
/// It is the global drift compensation of Joshi et al., Nat. Commun. 11:2473 (2020), methods, with a projection instead of
/// the sum of magnitudes. The two reads have noise of their own, so that neither noise nor spread biases a; ⟨Y₀, Y₀⟩ of one
/// read would hold its noise too.
template <class S>
class GainCalibration {
 public:
  GainCalibration(int reads, const ArrayIdentity& identity, Index inputs);

  bool active() const { return inputs_.rows() > 0; }
  /// Calibration inputs X (n, N).
  const Matrix<S>& inputs() const { return inputs_; }
  S gain() const { return active() ? gain_(0, 0) : S(1); }

  /// Takes the responses to the inputs (n, M) in two reads, with the gain, after a write. programmed() comes first after a
  /// programming, which begins with the gain 1.
  void programmed() { gain_(0, 0) = 1; }
  void written(const Matrix<S>& first, const Matrix<S>& second);
  /// Updates the gain after a wait, gain ← a gain, from the response to the inputs.
  void aged(const Matrix<S>& response);

  void append_state(std::vector<StateArray<S>>& all);

 private:
  Matrix<S> inputs_, response_;
  Matrix<S> gain_ = Matrix<S>::Ones(1, 1), wanted_ = Matrix<S>::Zero(1, 1);
};

/// Clock of rewriting the devices of an array (crossbar.refresh, `nudge test --refresh`): they are set again to the weights
/// that they had after their last write. Updates of learning do not set the clock back.
template <class S>
class RefreshClock {
 public:
  explicit RefreshClock(double interval_s) : interval_s_(interval_s) {}  ///< interval 0: never

  bool active() const { return interval_s_ > 0; }
  void written(const Matrix<S>& weights) { meant_ = weights; }

  /// Lets `seconds` pass: calls wait(s) for the time to the next rewriting and write(weights) then, again and again.
  /// UserError if there are too many rewritings.
  template <class Wait, class Write>
  void pass(double seconds, Wait wait, Write write) {
    check(seconds);
    for (double left = seconds;;) {
      const double share = active() ? std::min(left, interval_s_ - clock_s_) : left;
      if (share > 0) wait(share);
      left -= share;
      if (!due_after(share)) return;
      write(Matrix<S>(meant_));
      if (!(left > 0)) return;
    }
  }

  void append_state(std::vector<StateArray<S>>& all);
  void state_restored();

 private:
  void check(double seconds) const;
  bool due_after(double seconds);

  double interval_s_;
  double clock_s_ = 0;
  Matrix<S> meant_;
  Matrix<S> digits_ = Matrix<S>::Zero(1, 3);
};

/// Trim of the lines' own loads in an array of pairs that is driven at both ends at once, rows at x and the columns of a pair
/// at ±g. Every device carries G (x ∓ g), so that column pair j and row i sense, over k,
///     Σ_i w_ij x_i − g_j Σ_i (G⁺ + G⁻)_ij/k,      Σ_j w_ij g_j − x_i Σ_j (G⁺ + G⁻)_ij/k.
/// A conductance at every line takes its own drive off again. It is trimmed with the error ε, drawn once per line with the standard deviation
/// crossbar.load_trim. The trim is made once, to the load (1 + ε) n (g_min + g_max)/k of n pairs around the middle of their window. Or it is
/// made after every write to the line's own load, (1 + ε) Σ (G⁺ + G⁻)/k, which a read of each line by itself tells. The rest δ loads the node
/// that drives the line like a leak. Pulses up and down that differ move G⁺ + G⁻, so that a trim made once does not last.
template <class S>
class LoadTrim {
 public:
  /// Draws the errors; has no effect if the array is driven one way at a time.
  LoadTrim(const CrossbarSpec& spec, Index rows, Index cols, std::uint64_t seed, std::uint32_t id);

  /// Computes the rest δ anew after a change of the devices or of the scale k, siemens per unit of weight.
  void renew(const LineView<S>& view, double siemens_per_weight);

  /// Rest δ of columns and rows; null: driven one way at a time.
  const WeightSums<S>* residue() const { return present_ ? &residue_ : nullptr; }

 private:
  bool present_, follows_;
  double pair_S_;                 ///< g_min + g_max
  LineValues<S> columns_, rows_;  ///< 1 + ε
  WeightSums<S> residue_;
};

}  // namespace nudge
