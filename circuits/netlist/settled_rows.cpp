// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/settled_rows.hpp"

#include <algorithm>

namespace nudge {

SettledRows::SettledRows(const OperatingPointSolver& solver, const NodeCoordinates& at, std::size_t rows)
    : solver_(solver), at_(&at), rows_(rows), unknowns_(rows) {
  for (std::size_t k = 0; k < rows; ++k) {
    rows_[k].state.resize(static_cast<std::size_t>(at.columns()));
    unknowns_[k].resize(static_cast<std::size_t>(solver.equations().unknowns()));
    requests_.push_back({&rows_[k].values, &rows_[k].actions, &unknowns_[k]});
  }
}

void SettledRows::solve() {
  const auto nodes = static_cast<std::ptrdiff_t>(solver_.equations().nodes());
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    at_->voltages(rows_[k].state.data(), rows_[k].values, unknowns_[k].data());
    std::fill(unknowns_[k].begin() + nodes, unknowns_[k].end(), 0.0);
  }
  solver_.solve(requests_);
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    rows_[k].found = requests_[k].found;
    if (rows_[k].found.status == Status::converged) at_->state(unknowns_[k], rows_[k].state.data());
  }
}

}  // namespace nudge
