// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "circuits/linear_map.hpp"

namespace nudge {

/// A map behind sample-and-holds that leak: every drive, of either direction, arrives as share · drive, share =
/// exp(−(T − 1) slot/τ_hold) (TokenSpec::held_share). In a multiplexed array a token's drive is sampled in its slot of one
/// round and used in its slot of the next, T − 1 slots later.
///
/// A linear factor on drives, so that Y(x) = Y_map(share · x), and by the chain rule D = share · D_map at share · x₀ for both
/// jvp and vjp; what drives the rows in a correlation is share · x₀. weights() are those of the map: what devices hold, not
/// what reads of them through the holds amount to.
template <class S>
class HeldMap final : public LinearMap<S> {
 public:
  HeldMap(std::unique_ptr<LinearMap<S>> map, double share) : map_(std::move(map)), share_(share) {}

  double share() const { return share_; }

  Index inputs() const override { return map_->inputs(); }
  Index outputs() const override { return map_->outputs(); }
  void forward(ConstMatrixRef<S> x, MatrixRef<S> y, Columns columns, Store store, ReadContext& read) const override;
  void transposed(ConstMatrixRef<S> y, MatrixRef<S> x, Columns columns, Store store, ReadContext& read) const override;
  void forward_jvp(ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> y, Columns columns, Store store,
                   ReadContext& read) const override;
  void forward_vjp(ConstMatrixRef<S> x0, ConstMatrixRef<S> u, MatrixRef<S> x, Columns columns, Store store,
                   ReadContext& read) const override;
  void transposed_jvp(ConstMatrixRef<S> y0, ConstMatrixRef<S> v, MatrixRef<S> x, Columns columns, Store store,
                      ReadContext& read) const override;
  void transposed_vjp(ConstMatrixRef<S> y0, ConstMatrixRef<S> u, MatrixRef<S> y, Columns columns, Store store,
                      ReadContext& read) const override;
  void correlate_forward(ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale, int parameter,
                         GradientSink<S>& sink, const ReadContext& read) const override;
  void correlate_transposed(ConstMatrixRef<S> y0, ConstMatrixRef<S> u, Columns columns, S scale, int parameter,
                            GradientSink<S>& sink, const ReadContext& read) const override;
  bool curved() const override { return map_->curved(); }
  bool noisy() const override { return map_->noisy(); }
  std::unique_ptr<LinearMap<double>> noise_free() const override {
    return std::make_unique<HeldMap<double>>(map_->noise_free(), share_);
  }
  void apply_update(const Matrix<S>& delta, std::uint64_t step) override { map_->apply_update(delta, step); }
  void apply_scaled(const Matrix<S>& direction, S scale, std::uint64_t step) override {
    map_->apply_scaled(direction, scale, step);
  }
  void apply_now(const Matrix<S>& delta, std::uint64_t step) override { map_->apply_now(delta, step); }
  bool takes_factors() const override { return map_->takes_factors(); }
  void apply_factors(const std::vector<FactorPair<S>>& factors, S rate) override { map_->apply_factors(factors, rate); }
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
