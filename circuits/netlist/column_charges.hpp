// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "circuits/netlist/reduced_matrices.hpp"

namespace nudge {

/// Rates of the columns of a state from the currents that charge them, M dz/dt = i, M of ReducedMatrices. One object per thread.
class ColumnCharges {
 public:
  /// What is referred to must outlive it; output_names in messages.
  ColumnCharges(const NodalEquations& equations, const NodeCoordinates& at, const ReducedMatrices& matrices,
                const std::vector<std::string>& output_names);

  /// x (columns) ← M⁻¹ x. UserError where M is singular, with the column.
  void rates(double* x);

 private:
  [[noreturn]] void refuse_singular() const;
  const NodalEquations* equations_;
  const NodeCoordinates* at_;
  const ReducedMatrices* matrices_;
  const std::vector<std::string>* output_names_;
  SparseLu lu_;
  bool factored_ = false;
};

}  // namespace nudge
