// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/column_charges.hpp"

#include <fmt/format.h>

#include "sim/base/errors.hpp"

namespace nudge {

ColumnCharges::ColumnCharges(const NodalEquations& equations, const NodeCoordinates& at,
                             const ReducedMatrices& matrices, const std::vector<std::string>& output_names)
    : equations_(&equations), at_(&at), matrices_(&matrices), output_names_(&output_names), lu_(matrices.pattern) {}

void ColumnCharges::refuse_singular() const {
  const int column = lu_.singular_column();
  std::string name = "a node";
  if (column >= at_->inner()) {
    name = "output " + (*output_names_)[static_cast<std::size_t>(column - at_->inner())];
  } else if (column >= 0) {
    name = "node " + equations_->netlist().nodes[static_cast<std::size_t>(at_->node_of(column))];
  }
  throw UserError(
      fmt::format("netlist.node_capacitance: {} has no capacitance of its own and follows at once, in no step of time "
                  "(give it one, or take relaxation.solver = direct)",
                  name));
}

void ColumnCharges::rates(double* x) {
  if (!factored_ && !lu_.factor(matrices_->farads)) refuse_singular();
  factored_ = true;
  lu_.solve(x);
}

}  // namespace nudge
