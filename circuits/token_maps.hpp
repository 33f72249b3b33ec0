// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "circuits/linear_map.hpp"

namespace nudge {

/// Arrays, one for each of T tokens of a sequence, that hold one weight matrix. Row r of a drive belongs to token r mod T (k
/// copies of T tokens, copy by copy). Replica r mod T reads it, with devices, errors, wires and noise of its own. The rows of
/// a drive must be a multiple of T.
///
/// All replicas shall hold the same matrix, so all get the same requests. These are the summed change of an update, the
/// factors of all tokens in a coincidence update, and the target of a programming. The effect depends on each replica's
/// devices. weights() is their mean. For a change that moves all alike, ∂C/∂W is the sum over tokens of x_tᵀ u_t.
template <class S>
class ReplicatedMap final : public LinearMap<S> {
 public:
  using Replica = std::unique_ptr<LinearMap<S>>;

  /// Effect of program(target) on the replicas.
  enum class Program {
    each,   ///< every replica is set to the target as well as it can: arrays of devices
    shift,  ///< all move by target − weights(), so that their differences stay: exact circuits
  };

  /// Takes at least one replica, all of one shape, in the order of the tokens.
  explicit ReplicatedMap(std::vector<Replica> replicas, Program program = Program::each);

  void read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
            ReadContext& context) const override;
  void derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> out,
                  Columns columns, Store store, ReadContext& context) const override;
  void correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale, int parameter,
                 GradientSink<S>& sink, const ReadContext& context) const override;
  /// Traits: curved or noisy if any replica is.
  MapTraits<S> traits() const override;
  /// Noise-free circuits of all replicas; program() and apply() of the result move all of them alike.
  std::unique_ptr<LinearMap<double>> noise_free() const override;
  void apply(const WeightUpdate<S>& update) override;
  void program(const Matrix<S>& target) override;
  void advance_time(const Elapsed& time, std::uint64_t step) override;
  /// Mean of the weights over replicas.
  const Matrix<S>& weights() const override { return weights_; }
  /// State of all replicas, named replica<t>/...
  std::vector<StateArray<S>> state() override;
  void state_restored() override;
  /// Readings: counts and energies summed, the worst IR drop, all others averaged; also the number of replicas and their distance.
  std::vector<MapReading> readings() const override;

  Index tokens() const { return static_cast<Index>(replicas_.size()); }
  const LinearMap<S>& replica(Index token) const { return *replicas_[static_cast<std::size_t>(token)]; }

 private:
  /// Calls act(replica, token, context) for each replica; every replica starts at the same place of its own stream.
  template <class Act>
  void each(ReadContext& read, Act act) const;
  void refresh();

  std::vector<Replica> replicas_;
  Program program_;
  Matrix<S> weights_;
};

/// Map behind sample-and-holds that leak: every drive, of either direction, arrives as share · drive, share = exp(−(T k − 1)
/// slot/τ_hold) (TokenSpec::held_share). In a multiplexed array a token's drive is sampled in its slot of one round and used
/// in its slot of the next. This is T k − 1 slots later, with k slots a turn.
///
/// The share is a linear factor on drives, so that Y(x) = Y_map(share · x), and by the chain rule D = share · D_map at share
/// · x₀ for both jvp and vjp. In a correlation share · x₀ drives the rows. weights() are the map's, as the devices hold
/// them. Reads through the holds see other weights.
template <class S>
class HeldMap final : public LinearMap<S> {
 public:
  HeldMap(std::unique_ptr<LinearMap<S>> map, double share) : map_(std::move(map)), share_(share) {}

  double share() const { return share_; }

  void read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
            ReadContext& context) const override;
  void derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> out,
                  Columns columns, Store store, ReadContext& context) const override;
  void correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale, int parameter,
                 GradientSink<S>& sink, const ReadContext& context) const override;
  MapTraits<S> traits() const override;
  std::unique_ptr<LinearMap<double>> noise_free() const override {
    return std::make_unique<HeldMap<double>>(map_->noise_free(), share_);
  }
  void apply(const WeightUpdate<S>& update) override { map_->apply(update); }
  void program(const Matrix<S>& target) override { map_->program(target); }
  void advance_time(const Elapsed& time, std::uint64_t step) override { map_->advance_time(time, step); }
  const Matrix<S>& weights() const override { return map_->weights(); }
  std::vector<StateArray<S>> state() override { return map_->state(); }
  void state_restored() override { map_->state_restored(); }
  /// Readings of the map, and the share.
  std::vector<MapReading> readings() const override;

 private:
  std::unique_ptr<LinearMap<S>> map_;
  double share_;
};

}  // namespace nudge
