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

/// One gain of an array's amplifiers that follows what time does to all of its devices alike. n inputs of ±1, drawn once, are read twice
/// after every write, Y₀, Y₁ ≈ X W, and again after every wait, Y; the gain is then multiplied by
///     a = ⟨Y₀, Y₁⟩/⟨½(Y₀ + Y₁), Y⟩
/// the factor that brings the part of Y along X W back to X W. A common loss, W = e W₀, is undone (a = 1/e); a spread that is independent of the
/// weights leaves a near 1. Global drift compensation (Joshi et al., Nat. Commun. 11:2473 (2020), methods) with the sum of magnitudes replaced
/// by a projection whose reads have noise of their own, so that neither it nor spread biases a: of one read, ⟨Y₀, Y₀⟩ holds its noise too. A step is at most a factor 4: beyond it nothing is left to be followed.
template <class S>
class GainCalibration {
 public:
  GainCalibration(int reads, const ArrayIdentity& identity, Index inputs);

  bool active() const { return inputs_.rows() > 0; }
  /// X (n, N).
  const Matrix<S>& inputs() const { return inputs_; }
  S gain() const { return active() ? gain_(0, 0) : S(1); }

  /// What the inputs gave (n, M) in two reads, with the gain: after a programming, which begins with the gain 1, or after another write.
  void programmed() { gain_(0, 0) = 1; }
  void written(const Matrix<S>& first, const Matrix<S>& second);
  /// After a wait: gain ← a gain.
  void aged(const Matrix<S>& response);

  void append_state(std::vector<StateArray<S>>& all);

 private:
  Matrix<S> inputs_, response_;
  Matrix<S> gain_ = Matrix<S>::Ones(1, 1), wanted_ = Matrix<S>::Zero(1, 1);
};

/// When the devices of an array are written anew (crossbar.refresh, `nudge test --refresh`), and with what: the weights that they had after their
/// last write. Updates of learning do not set the clock back.
template <class S>
class RefreshClock {
 public:
  explicit RefreshClock(double interval_s) : interval_s_(interval_s) {}  ///< 0: never

  bool active() const { return interval_s_ > 0; }
  void written(const Matrix<S>& weights) { meant_ = weights; }

  /// Lets `seconds` pass: wait(s) for the time to the next rewriting and write(weights) there, again and again. UserError for too many of
  /// them.
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

/// What a line senses of its own drive where an array of pairs is driven at both ends at once, rows at x and the columns of a pair at
/// ±g. Every device carries G (x ∓ g), so that column pair j and row i sense, over k,
///     Σ_i w_ij x_i − g_j Σ_i (G⁺ + G⁻)_ij/k,      Σ_j w_ij g_j − x_i Σ_j (G⁺ + G⁻)_ij/k.
/// A conductance at every line takes its own drive off again. It is trimmed, with the error ε drawn once per line with the standard
/// deviation crossbar.load_trim, either once, to the load (1 + ε) n (g_min + g_max)/k of n pairs around the middle of their window, or
/// after every write to the line's own, (1 + ε) Σ (G⁺ + G⁻)/k, which a read of each line by itself tells. What is left, δ, loads the
/// node that drives the line like a leak. Pulses up and down that differ move G⁺ + G⁻, so that a trim made once does not last.
template <class S>
class LoadTrim {
 public:
  /// Nothing where the array is driven one way at a time.
  LoadTrim(const CrossbarSpec& spec, Index rows, Index cols, std::uint64_t seed, std::uint32_t id);

  /// The devices or the scale k, siemens per unit of weight, have changed.
  void renew(const LineView<S>& view, double siemens_per_weight);

  /// δ of columns and rows; null: one way at a time.
  const WeightSums<S>* residue() const { return present_ ? &residue_ : nullptr; }

 private:
  bool present_, follows_;
  double pair_S_;                 ///< g_min + g_max
  LineValues<S> columns_, rows_;  ///< 1 + ε
  WeightSums<S> residue_;
};

}  // namespace nudge
