// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// Sizes of a layered equilibrium transformer.
struct LetnetSizes {
  Index batch = 0;       ///< B
  Index tokens = 0;      ///< T
  Index channels = 0;    ///< C
  Index heads = 0;       ///< H
  Index hidden = 0;      ///< M, width of the feed-forward nodes
  Index vocabulary = 0;  ///< V
  Index layers = 0;      ///< L
  Index loops = 0;       ///< K
  Index nodes = 0;       ///< n = 2·L·K

  Index width() const { return nodes * channels; }  ///< columns of a sample's state
};

/// Weights, or a gradient, by parameter name: one matrix per layer for Wq, Wk, Wv, Wo (C, C), W1 (C, M), W2 (M, C); a
/// single one for tok (V, C), pos (T, C), Wh (C, V).
using LetnetParameters = std::map<std::string, std::vector<Matrix<double>>>;

/// Converts a dataset [B, n, T, C] to one state per sample: (T, n·C), node j = 0, 1, … in columns j·C … (j+1)·C − 1.
/// Needs values.size() = B·n·T·C.
std::vector<Matrix<double>> samples_from_nodes(std::span<const double> values, const LetnetSizes& sizes);

/// Converts one (T, n·C) per sample back to the order [B, n, T, C].
std::vector<double> nodes_from_samples(const std::vector<Matrix<double>>& samples, const LetnetSizes& sizes);

/// Converts a dataset [count, rows, cols] to matrices. Needs values.size() = count·rows·cols.
std::vector<Matrix<double>> unstack(std::span<const double> values, Index count, Index rows, Index cols);

/// Activation φ of the feed-forward nodes: relu2 = max(h, 0)²; gelu = ½ h (1 + erf(h/√2)).
enum class LetnetActivation { relu2, gelu };

/// Inputs of a reference case of kind "letnet" (the cases' LETNET.md, section 1), checked and ready to use. Samples are
/// independent; everything of one sample has an entry of its own in a vector of B.
struct LetnetProblem {
  /// Reads and checks everything that the kind may read: the attributes, params/ and inputs/. UserError naming the file,
  /// the dataset or attribute, and the broken rule. float32 is widened; references and informational attributes are not
  /// looked at.
  explicit LetnetProblem(const H5Reader& file);

  /// Layer whose weights node j = 0, 1, … uses: ⌊j/2⌋ mod L. Even j are attention, odd j feed-forward nodes.
  Index layer_of(Index node) const { return node / 2 % sizes.layers; }

  /// Token numbers or targets of one sample (T).
  std::span<const int> sample(const std::vector<int>& tokens, Index b) const;

  LetnetSizes sizes;
  bool rope = false;     ///< rotary positions; otherwise params/pos is there
  bool float32 = false;  ///< a dataset of params/ or inputs/ holds seven digits only
  LetnetActivation activation = LetnetActivation::relu2;
  int free_steps = 0, nudged_steps = 0;            ///< T1, T2
  double step = 0;                                 ///< eps
  double kappa = 0;                                ///< feedback, in [0, 1)
  double beta = 0, beta_frozen = 0, beta_aep = 0;  ///< nudges β per token
  LetnetParameters weights;                        ///< tok, Wq, …, Wh, and pos unless rope
  std::vector<int> idx, targets;                   ///< (B, T) row by row, in [0, V)
  std::vector<Matrix<double>> z0, v, u;            ///< per sample (T, n·C), node by node
};

/// Parameter of the network as params/ holds it.
struct LetnetParameterShape {
  std::string name;        ///< "Wq"
  std::string dimensions;  ///< "(L, C, C)"
  H5Shape shape;           ///< sizes of these dimensions
  bool per_layer;          ///< true if the first dimension is the layer
};

/// Parameters of a network of these sizes, in the order tok, pos, Wq, Wk, Wv, Wo, W1, W2, Wh; pos only with learned
/// positions.
std::vector<LetnetParameterShape> letnet_parameters(const LetnetSizes& sizes, bool rope);

}  // namespace nudge
