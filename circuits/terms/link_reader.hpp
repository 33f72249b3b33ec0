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

/// Reads of a link's matrix M through the map that holds its weights, with the derivatives and correlations of LinearMap: x of its
/// inputs, or y of its outputs, drives it. Reads are added unless told otherwise. One per thread: it has the patches' memory.
template <class S>
class LinkReader {
 public:
  explicit LinkReader(const LinkWeights<S>& weights) : weights_(weights) {
    if (weights.convolution) patches_.emplace(*weights.convolution);
  }

  /// out += drive M (forward) or drive Mᵀ (transposed).
  void read(ReadDirection way, ConstMatrixRef<S> drive, MatrixRef<S> out, ReadContext& context,
            Store store = Store::add);
  /// out += D v or Dᵀ v of that read at the drive x₀.
  void derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> out,
                  ReadContext& context);
  /// The sink gets scale · ⟨u, ∂read/∂weights⟩ of a read at x₀, u at its outputs.
  void correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, S scale, GradientSink<S>& sink,
                 ReadContext& context);

 private:
  /// What drives or senses one side of M at every position.
  struct Side {
    Matrix<S> driven, point;
  };

  const Convolution& shape() const { return *weights_.convolution; }
  Columns all() const { return weights_.map->all_columns(); }
  MatrixRef<S> space(Index n, ReadDirection driving, Matrix<S>& memory);
  MatrixRef<S> spread(ReadDirection driving, ConstMatrixRef<S> x, Matrix<S>& memory);
  MatrixRef<S> point(ReadDirection way, ConstMatrixRef<S> x0);
  Side& side(ReadDirection driving) { return driving == ReadDirection::forward ? inputs_ : outputs_; }
  template <class Read>
  void at_positions(ReadDirection way, ConstMatrixRef<S> drive, MatrixRef<S> out, Store store, Read read);

  LinkWeights<S> weights_;
  std::optional<Patches<S>> patches_;  ///< of a convolution
  Side inputs_, outputs_;
};

}  // namespace nudge
