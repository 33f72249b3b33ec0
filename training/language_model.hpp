// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "circuits/equilibrium_block.hpp"
#include "training/gradient.hpp"

namespace nudge {

/// Sizes of the character model: vocabulary V, tokens T, channels C, memories M, heads H (H divides C).
struct ModelShape {
  Index vocabulary = 65;
  Index tokens = 32;
  Index channels = 64;
  Index memories = 256;
  Index heads = 4;
};

/// A named part of a parameter, the unit of gradient tables: W_q is columns [0, C) of the input array.
struct ParameterGroup {
  std::string name;
  int parameter;
  Columns columns;
};

/// Numbers of the parameters in gradients, optimisers and files.
struct ParameterId {
  static constexpr int tok = 0, pos = 1, input = 2, output = 3, readout = 4, count = 5;
};

/// The equilibrium character model: x_in[t] = tok[idx_t] + pos[t] → block → logits = z* W_h. Owns its weights as linear
/// maps: embeddings always digital, the input array [W_q | W_k | W_v | W_m], W_o and W_h digital or crossbars.
template <class S>
class LanguageModel {
 public:
  using Map = std::unique_ptr<LinearMap<S>>;

  /// maps in the order of ParameterId with shapes (V,C), (T,C), (C,3C+M), (C,C), (C,V).
  LanguageModel(const ModelShape& shape, BlockLeak leak, std::vector<Map> maps);

  const ModelShape& shape() const { return shape_; }
  EquilibriumBlock<S>& block() { return block_; }
  const EquilibriumBlock<S>& block() const { return block_; }
  LinearMap<S>& map(int parameter) { return *maps_[static_cast<std::size_t>(parameter)]; }
  const LinearMap<S>& map(int parameter) const { return *maps_[static_cast<std::size_t>(parameter)]; }

  /// Gradient groups in the order of tables: tok, pos, Wm, Wq, Wk, Wv, Wo, Wh.
  std::vector<ParameterGroup> groups() const;
  std::vector<ParameterShape> parameter_shapes() const;
  static std::vector<std::string> parameter_names() { return {"tok", "pos", "Winput", "Wo", "Wh"}; }

  /// x_in (T, C) of T token indices.
  void embed(std::span<const int> indices, MatrixRef<S> x) const;

  /// Adds the gradient of x_in (T, C) to those of tok and pos.
  void accumulate_embedding(std::span<const int> indices, ConstMatrixRef<S> x_gradient, Gradient<S>& gradient) const;

 private:
  ModelShape shape_;
  std::vector<Map> maps_;
  EquilibriumBlock<S> block_;
};

/// Initial weights: W_q, W_k, W_v ~ N(0, attention_scale²/C), W_o ~ N(0, output_scale²/C), W_m normal with spectral norm
/// memory_scale, tok and pos ~ N(0, embedding_scale²), W_h ~ N(0, 1/C). One matrix per ParameterId, a pure function of the seed.
struct InitialScales {
  double attention = 0.6;
  double output = 0.6;
  double memory = 0.4;
  double embedding = 0.5;
};
template <class S>
std::vector<Matrix<S>> initial_weights(const ModelShape& shape, const InitialScales& scales, std::uint64_t seed);

}  // namespace nudge
