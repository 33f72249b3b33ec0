// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/linear_map.hpp"

namespace nudge {

/// Two arrays for one weight matrix, W = γ (A − A₀) + C (Tiki-Taka: Gokmen and Haensch, Front. Neurosci. 14:103 (2020),
/// doi:10.3389/fnins.2020.00103). The fast array A takes every update, times fast_gain; devices whose up and down pulses
/// differ pull it towards its symmetry point A₀, so that A − A₀ follows a decaying mean of the gradient. Every `every`
/// updates the next `columns` columns of A are read (a transposed read with one column driven: noise and converters as
/// in any read), and the slow array C is asked for rate · (A − A₀) on them by pulses. At the optimum the mean gradient is
/// zero, so that A rests at A₀ and C rests where the loss is lowest, wherever its own symmetry point lies.
///
/// A₀ is found once, at construction and programming, by alternating bursts of up and down pulses of falling length
/// (256, 128, …, 1 pulses, zero_shift cycles each) and kept as the mean of the noise-free weights over 128 more cycles of
/// single pulses, which stands for the reference array that holds it (idea: Kim et al., arXiv:1907.10228); with
/// zero_shift = 0, A₀ = 0. What A₀ is wrong by is transferred at every step: C drifts until the gradient balances it.
template <class S>
class TikiTaka final : public LinearMap<S> {
 public:
  /// As Crossbar; the fast array is number id + 2^16 for its random numbers.
  TikiTaka(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id, std::uint64_t seed);

  void read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
            ReadContext& context) const override;
  MapTraits<S> traits() const override;
  std::unique_ptr<LinearMap<double>> noise_free() const override;
  void apply(const WeightUpdate<S>& update) override;
  void program(const Matrix<S>& target) override;
  void advance_time(double seconds, std::uint64_t step) override;
  const Matrix<S>& weights() const override { return weights_; }
  std::vector<StateArray<S>> state() override;
  void state_restored() override;
  /// Those of both arrays, named fast_... and slow_..., the transfers done, their reads and the energy of these.
  std::vector<MapReading> readings() const override;

  const Crossbar<S>& fast() const { return fast_; }
  const Crossbar<S>& slow() const { return slow_; }
  /// A₀.
  const Matrix<S>& symmetry_point() const { return zero_; }

 private:
  void find_symmetry_point();
  void transfer_when_due();
  void refresh();

  TransferSpec spec_;
  CircuitSpec circuit_;
  double pulses_;
  std::uint64_t seed_;
  bool frozen_;  ///< UpdateScheme::none: neither array follows training
  Crossbar<S> slow_;
  Crossbar<S> fast_;
  Matrix<S> zero_;
  Matrix<S> weights_;
  Matrix<S> counters_;      ///< (1, 3): updates since the last transfer, next column, transfers done modulo 2^20
  ReadTotals spent_;        ///< by transfers since construction
  Matrix<S> spent_digits_;  ///< its image for checkpoints: (numbers, 3), summands of falling size
};

}  // namespace nudge
