// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/io/h5_reader.hpp"
#include "training/models/hopfield/hopfield_plan.hpp"

namespace nudge {

/// Parameter of the network as params/ holds it, in the order of HopfieldPlan::parameters().
struct HopnetParameter {
  std::string name;
  H5Shape shape;
  bool kernels = false;  ///< true for kernels [C_out, C_in, k, k]; the plan's matrix is (C_in k k, C_out)
};

/// Inputs of a reference case of kind "hopnet" or "convnet" (the cases' NETWORKS.md, section 1), checked and ready to
/// use.
struct HopnetProblem {
  /// Reads and checks everything that the kinds may read: the attributes, params/ and inputs/. UserError naming the file,
  /// the dataset or attribute, and the broken rule. float32 is widened; references and informational attributes are not
  /// looked at.
  explicit HopnetProblem(const H5Reader& file);

  bool cross_entropy() const { return shape.classes > 0; }

  HopfieldShape shape;
  bool float32 = false;                  ///< a dataset of params/ or inputs/ holds seven digits only
  Index batch = 0, units = 0;            ///< B, N
  int free_steps = 0, nudged_steps = 0;  ///< T1, T2
  double step = 0, beta = 0;             ///< eps; β of one sample's cost
  std::vector<HopnetParameter> parameters;
  std::vector<Matrix<double>> weights;  ///< weights as the plan's maps hold them
  Matrix<double> x, start, z0, v, u;    ///< (B, n_0), (B, N)
  Matrix<double> y;                     ///< targets (B, n_L) of squared_error
  std::vector<int> targets;             ///< targets (B) of cross_entropy
};

}  // namespace nudge
