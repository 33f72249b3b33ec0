// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "circuits/equilibrium_block.hpp"
#include "circuits/terms/two_array_memory.hpp"
#include "training/gradient.hpp"
#include "training/mixer_term.hpp"

namespace nudge {

/// Sizes of the character model: vocabulary V, tokens T, channels C, memories M (0: none), heads H (H divides C), which
/// mixer is its non-conservative force, and whether the channels are also coupled directly (W_c).
struct ModelShape {
  Index vocabulary = 65;
  Index tokens = 32;
  Index channels = 64;
  Index memories = 256;
  Index heads = 4;
  MixerChoice mixer = {};
  bool coupling = false;
  int memory_arrays = 1;  ///< 2: the memory returns through an array of its own, Wr (M, C), nominally W_mᵀ
  CorrectionScope correction = CorrectionScope::attention;  ///< with two arrays
};

/// A named part of a parameter, the unit of gradient tables: W_q is columns [0, C) of the input array.
struct ParameterGroup {
  std::string name;
  int parameter;
  Columns columns;
};

/// Numbers of the parameters in gradients, optimisers and files. From force on stand the weights that the non-conservative
/// force has beside its columns of the input array (W_o of the fused attention, all weights of another mixer); the read-out
/// is the last one.
struct ParameterId {
  static constexpr int tok = 0, pos = 1, input = 2, force = 3;
};

/// A parameter as a whole: its name in files, its shape, and whether devices may hold it.
struct Parameter {
  std::string name;
  ParameterShape shape;
  bool on_devices = false;
};

/// All parameters by number: tok (V, C), pos (T, C), Winput (C, 3C + M: W_q | W_k | W_v | W_m), Wo (C, C), Wh (C, V); with
/// another mixer Winput (C, M) and the mixer's own instead of Wo, which like the embeddings are always digital. A memory on
/// two arrays adds Wr (M, C) before the read-out; a coupling its columns W_c (C, C) to Winput, before W_m.
std::vector<Parameter> parameters_of(const ModelShape& shape);

/// The equilibrium character model: x_in[t] = tok[idx_t] + pos[t] → block → logits = z* W_h. Owns its weights as linear
/// maps.
template <class S>
class LanguageModel {
 public:
  using Map = std::unique_ptr<LinearMap<S>>;

  /// maps as parameters_of(shape) lists them.
  LanguageModel(const ModelShape& shape, BlockLeak leak, std::vector<Map> maps);

  const ModelShape& shape() const { return shape_; }
  EquilibriumBlock<S>& block() { return block_; }
  const EquilibriumBlock<S>& block() const { return block_; }
  LinearMap<S>& map(int parameter) { return *maps_[static_cast<std::size_t>(parameter)]; }
  const LinearMap<S>& map(int parameter) const { return *maps_[static_cast<std::size_t>(parameter)]; }

  /// How many parameters there are, and the last of them.
  int parameters() const { return static_cast<int>(maps_.size()); }
  int readout() const { return parameters() - 1; }
  /// Number of Wr, or -1 for a memory on one array.
  int memory_return() const { return shape_.memory_arrays == 2 ? readout() - 1 : -1; }

  /// Gradient groups in the order of tables: tok, pos, Wm, Wc, then Wq, Wk, Wv, Wo or the mixer's weights by name, Wr where
  /// the memory has two arrays, and Wh.
  std::vector<ParameterGroup> groups() const;
  std::vector<ParameterShape> parameter_shapes() const;
  std::vector<std::string> parameter_names() const;

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
/// memory_scale, W_c = coupling_matrix() of a pattern ~ N(0, coupling_scale²/C) with its two gains, tok and pos ~
/// N(0, embedding_scale²), W_h ~ N(0, 1/C); the weights of another mixer as its MixerSpec says, deviations times
/// initial_scale. One matrix per parameter, a pure function of the seed.
struct InitialScales {
  double attention = 0.6;
  double output = 0.6;
  double memory = 0.4;
  double embedding = 0.5;
  double coupling = 0;
  double symmetric = 1, antisymmetric = 1;  ///< gains of the coupling's two parts
};
template <class S>
std::vector<Matrix<S>> initial_weights(const ModelShape& shape, const InitialScales& scales, std::uint64_t seed);

}  // namespace nudge
