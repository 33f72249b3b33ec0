// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/linear_map.hpp"

namespace nudge {

/// T arrays that hold one weight matrix, one for each token of a sequence: row r of a drive belongs to token r mod T (k copies
/// of T tokens, copy by copy) and is read by replica r mod T, whose devices, errors, wires and noise are its own. The rows
/// of a drive must be a multiple of T.
///
/// All replicas are to hold the same matrix, so all get the same requests: the summed change of an update, the factors of
/// all tokens in a coincidence update, the target of a programming. What each makes of them is up to its devices.
/// weights() is their mean: ∂C/∂W of a change that moves all alike is the sum over tokens of x_tᵀ u_t.
template <class S>
class ReplicatedMap final : public LinearMap<S> {
 public:
  using Replica = std::unique_ptr<LinearMap<S>>;

  /// What program(target) does.
  enum class Program {
    each,   ///< every replica is set to the target as well as it can: arrays of devices
    shift,  ///< all move by target − weights(), so that their differences stay: exact circuits
  };

  /// At least one; all of one shape, in the order of the tokens.
  explicit ReplicatedMap(std::vector<Replica> replicas, Program program = Program::each);

  void read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
            ReadContext& context) const override;
  void derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> out,
                  Columns columns, Store store, ReadContext& context) const override;
  void correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale, int parameter,
                 GradientSink<S>& sink, const ReadContext& context) const override;
  /// Curved or noisy where any replica is.
  MapTraits<S> traits() const override;
  /// The noise-free circuits of all replicas; its program() and apply() move all of them alike.
  std::unique_ptr<LinearMap<double>> noise_free() const override;
  void apply(const WeightUpdate<S>& update) override;
  void program(const Matrix<S>& target) override;
  void advance_time(double seconds, std::uint64_t step) override;
  /// The mean over replicas.
  const Matrix<S>& weights() const override { return weights_; }
  /// Those of all replicas, named replica<t>/...
  std::vector<StateArray<S>> state() override;
  void state_restored() override;
  /// Counts and energies summed, the worst IR drop, everything else averaged; how many replicas, and how far apart.
  std::vector<MapReading> readings() const override;

  Index tokens() const { return static_cast<Index>(replicas_.size()); }
  const LinearMap<S>& replica(Index token) const { return *replicas_[static_cast<std::size_t>(token)]; }

 private:
  /// act(replica, token, context): every replica starts at the same place of its own stream.
  template <class Act>
  void each(ReadContext& read, Act act) const;
  void refresh();

  std::vector<Replica> replicas_;
  Program program_;
  Matrix<S> weights_;
};

}  // namespace nudge
