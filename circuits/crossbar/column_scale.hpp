// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "circuits/linear_map.hpp"

namespace nudge {

/// Scale of every column of a weight matrix: its largest |weight|, (1, outputs). A column of zeros has the largest of all
/// columns; a matrix of zeros has 1.
template <class S>
Matrix<S> column_scales(const Matrix<S>& weights);

/// Matrix whose columns are divided by their scales.
template <class S>
Matrix<S> without_scales(const Matrix<S>& weights, const Matrix<S>& scales) {
  return (weights.array().rowwise() / scales.row(0).array()).matrix();
}

/// Map behind digital factors of its columns: W = Ŵ diag(s), Ŵ held by another map. A forward read is multiplied by s behind
/// the converters, the drive of a transposed read before them:
///     x W = (x Ŵ) s,   y Wᵀ = (y s) Ŵᵀ
/// so that both directions read one matrix, and noise and errors of a column are Ŵ's times s. Changes of W reach the map
/// divided by s, gradients with respect to Ŵ are divided by s. Scales are chosen at construction and kept.
template <class S>
class ColumnScaledMap final : public LinearMap<S> {
 public:
  /// Takes the map of Ŵ and scales (1, outputs) > 0.
  ColumnScaledMap(std::unique_ptr<LinearMap<S>> map, Matrix<S> scale);

  const Matrix<S>& scale() const { return scale_; }

  void read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
            ReadContext& context) const override;
  void derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> out,
                  Columns columns, Store store, ReadContext& context) const override;
  void correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale, int parameter,
                 GradientSink<S>& sink, const ReadContext& context) const override;
  MapTraits<S> traits() const override { return map_->traits(); }
  std::unique_ptr<LinearMap<double>> noise_free() const override;
  void apply(const WeightUpdate<S>& update) override;
  void program(const Matrix<S>& target) override;
  void advance_time(const Elapsed& time, std::uint64_t step) override;
  const Matrix<S>& weights() const override { return weights_; }
  /// State of the map, and the scales.
  std::vector<StateArray<S>> state() override;
  void state_restored() override;
  /// Readings of the map, and the range of the scales.
  std::vector<MapReading> readings() const override;

 private:
  auto of(Columns columns) const { return scale_.row(0).segment(columns.begin, columns.count).array(); }
  void renew();

  std::unique_ptr<LinearMap<S>> map_;
  Matrix<S> scale_;    ///< (1, outputs)
  Matrix<S> weights_;  ///< W
};

}  // namespace nudge
