// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "circuits/resistive/resistive_network.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// Inputs of a reference case of kind "drn" (the cases' NETWORKS.md, section 2), checked and ready to use.
struct DrnProblem {
  /// Reads and checks everything that the kind may read: the attributes, params/ and inputs/. UserError naming the file,
  /// the dataset or attribute, and the broken rule (section 3). float32 is widened; references and informational attributes
  /// are not looked at.
  explicit DrnProblem(const H5Reader& file);

  Index batch() const { return x.rows(); }

  bool float32 = false;                     ///< a dataset of params/ or inputs/ holds seven digits only
  std::optional<ResistiveNetwork> network;  ///< always there
  double beta = 0;
  int nudged_sweeps = 0;         ///< sweeps2
  Matrix<double> x;              ///< (B, n_in)
  Matrix<double> target;         ///< y (B, n_L)
  Matrix<double> v_init, z0, v;  ///< (B, N)
};

/// Name of the bias dataset of layer l, without the group: "gb1" or "b1".
std::string drn_bias_name(ResistiveBias bias, Index layer);

}  // namespace nudge
