// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "circuits/rules/rule_kinds.hpp"

namespace nudge {

/// Weight matrix held by the arrays of an update rule, W = C + Σ share_k (A_k − zero_k). A read sums the reads of its arrays,
/// with the drives of array k times share_k, minus the product with the known weights at rest. All arrays have the window of
/// C.
template <class S>
class RuledMap final : public LinearMap<S> {
 public:
  /// Makes the arrays as Crossbar does, for the rule of spec.programming.update; array k is number id + k · 2^16 for its random numbers.
  RuledMap(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id, std::uint64_t seed);

  void read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
            ReadContext& context) const override;
  void derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> out,
                  Columns columns, Store store, ReadContext& context) const override;
  void correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale, int parameter,
                 GradientSink<S>& sink, const ReadContext& context) const override;
  MapTraits<S> traits() const override;
  std::unique_ptr<LinearMap<double>> noise_free() const override;
  void apply(const WeightUpdate<S>& update) override;
  void program(const Matrix<S>& target) override;
  void advance_time(const Elapsed& time, std::uint64_t step) override;
  const Matrix<S>& weights() const override { return arrays_.alone() ? arrays_.all.front()->weights() : weights_; }
  std::vector<StateArray<S>> state() override;
  void state_restored() override;
  /// Readings of the arrays, the rule's costs, and the count of numbers that it keeps per weight. Names of two arrays
  /// begin with slow_ and fast_, of more with tile0_, tile1_, …
  std::vector<MapReading> readings() const override;

  const RuleArrays<S>& arrays() const { return arrays_; }

 private:
  std::string prefix(std::size_t array) const;
  bool counts(std::size_t array) const { return arrays_.share[array] != 0; }
  void subtract_rest(std::size_t array, ReadDirection way, const Matrix<S>& driven, MatrixRef<S> out, Columns columns,
                     Store store) const;
  void refresh();

  const RuleKind& kind_;
  double numbers_;
  RuleArrays<S> arrays_;
  std::unique_ptr<UpdateRule<S>> rule_;
  Matrix<S> weights_;  ///< weights of several arrays together
};

}  // namespace nudge
