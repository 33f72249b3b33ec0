// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "circuits/linear_map.hpp"

namespace nudge {

/// A map behind sample-and-holds that leak: every drive, of either direction, arrives as share · drive, share =
/// exp(−(T k − 1) slot/τ_hold) (TokenSpec::held_share). In a multiplexed array a token's drive is sampled in its slot of one
/// round and used in its slot of the next, T k − 1 slots later, k slots a turn.
///
/// A linear factor on drives, so that Y(x) = Y_map(share · x), and by the chain rule D = share · D_map at share · x₀ for both
/// jvp and vjp; what drives the rows in a correlation is share · x₀. weights() are those of the map: what devices hold, not
/// what reads of them through the holds amount to.
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
  void advance_time(double seconds, std::uint64_t step) override { map_->advance_time(seconds, step); }
  const Matrix<S>& weights() const override { return map_->weights(); }
  std::vector<StateArray<S>> state() override { return map_->state(); }
  void state_restored() override { map_->state_restored(); }
  /// Those of the map, and the share.
  std::vector<MapReading> readings() const override;

 private:
  std::unique_ptr<LinearMap<S>> map_;
  double share_;
};

}  // namespace nudge
