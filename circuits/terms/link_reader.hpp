// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "circuits/linear_map.hpp"
#include "circuits/terms/convolution.hpp"

namespace nudge {

/// The weights of a link from a layer of `inputs` units to one of `outputs`: the map holds its matrix M (inputs, outputs), or,
/// of a convolution, the matrix of its kernels (patch, maps).
template <class S>
struct LinkWeights {
  int parameter = 0;  ///< its number in the network
  const LinearMap<S>* map = nullptr;
  std::optional<Convolution> convolution = std::nullopt;

  Index inputs() const { return convolution ? convolution->inputs() : map->inputs(); }
  Index outputs() const { return convolution ? convolution->outputs() : map->outputs(); }
};

/// Reads of a link's matrix M through the map that holds its weights, both ways, with the derivatives and correlations of
/// LinearMap. x (n, inputs), y (n, outputs); everything is added, reads unless told otherwise. One per thread: it has the patches' memory.
template <class S>
class LinkReader {
 public:
  explicit LinkReader(const LinkWeights<S>& weights) : weights_(weights) {}

  /// y += x M and its derivatives at the drive x₀: y += D v, x += Dᵀ u.
  void forward(ConstMatrixRef<S> x, MatrixRef<S> y, ReadContext& read, Store store = Store::add);
  void forward_jvp(ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> y, ReadContext& read);
  void forward_vjp(ConstMatrixRef<S> x0, ConstMatrixRef<S> u, MatrixRef<S> x, ReadContext& read);
  /// x += y Mᵀ and its derivatives at the drive y₀: x += D v, y += Dᵀ u.
  void transposed(ConstMatrixRef<S> y, MatrixRef<S> x, ReadContext& read, Store store = Store::add);
  void transposed_jvp(ConstMatrixRef<S> y0, ConstMatrixRef<S> v, MatrixRef<S> x, ReadContext& read);
  void transposed_vjp(ConstMatrixRef<S> y0, ConstMatrixRef<S> u, MatrixRef<S> y, ReadContext& read);
  /// The sink gets scale · ⟨u, ∂read/∂weights⟩ of a forward read at x₀ (u on the outputs), of a transposed read at y₀ (u on the
  /// inputs).
  void correlate_forward(ConstMatrixRef<S> x0, ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, ReadContext& read);
  void correlate_transposed(ConstMatrixRef<S> y0, ConstMatrixRef<S> u, S scale, GradientSink<S>& sink,
                            ReadContext& read);

 private:
  const Convolution& shape() const { return *weights_.convolution; }
  Columns all() const { return weights_.map->all_columns(); }
  MatrixRef<S> patches(ConstMatrixRef<S> x, Matrix<S>& memory);
  MatrixRef<S> rows_of(ConstMatrixRef<S> y, Matrix<S>& memory);
  MatrixRef<S> point_patches(ConstMatrixRef<S> x0);
  MatrixRef<S> point_rows(ConstMatrixRef<S> y0);
  MatrixRef<S> space(Index n, Index cols, Matrix<S>& memory);

  LinkWeights<S> weights_;
  Matrix<S> patch_, maps_, patch_point_, maps_point_;
};

}  // namespace nudge
