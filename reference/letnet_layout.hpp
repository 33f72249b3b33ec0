// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Sizes of a layered equilibrium transformer.
struct LetnetSizes {
  Index batch = 0;       ///< B
  Index tokens = 0;      ///< T
  Index channels = 0;    ///< C
  Index heads = 0;       ///< H
  Index hidden = 0;      ///< M, of the feed-forward nodes
  Index vocabulary = 0;  ///< V
  Index layers = 0;      ///< L
  Index loops = 0;       ///< K
  Index nodes = 0;       ///< n = 2·L·K

  Index width() const { return nodes * channels; }  ///< columns of a sample's state
};

/// Weights, or a gradient, by parameter name: one matrix per layer for Wq, Wk, Wv, Wo (C, C), W1 (C, M), W2 (M, C); a
/// single one for tok (V, C), pos (T, C), Wh (C, V).
using LetnetParameters = std::map<std::string, std::vector<Matrix<double>>>;

/// A dataset [B, n, T, C] as one state per sample: (T, n·C), node j = 0, 1, … in columns j·C … (j+1)·C − 1. Needs
/// values.size() = B·n·T·C.
std::vector<Matrix<double>> samples_from_nodes(std::span<const double> values, const LetnetSizes& sizes);

/// The same numbers back in the order [B, n, T, C]. Needs one (T, n·C) per sample.
std::vector<double> nodes_from_samples(const std::vector<Matrix<double>>& samples, const LetnetSizes& sizes);

/// A dataset [count, rows, cols] as matrices. Needs values.size() = count·rows·cols.
std::vector<Matrix<double>> unstack(std::span<const double> values, Index count, Index rows, Index cols);

}  // namespace nudge
