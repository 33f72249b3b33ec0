// SPDX-License-Identifier: Apache-2.0
#include "netlist/settled_rows.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

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
    // At rest the netlist's own start counts (.nodeset): the solver takes it where all is 0.
    const bool rests = std::all_of(rows_[k].state.begin(), rows_[k].state.end(), [](double z) { return z == 0; });
    const bool own = rests && !solver_.equations().netlist().starts.empty();
    std::fill(unknowns_[k].begin() + (own ? 0 : nodes), unknowns_[k].end(), 0.0);
  }
  solver_.solve(requests_);
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    rows_[k].found = requests_[k].found;
    if (rows_[k].found.status == Status::converged) at_->state(unknowns_[k], rows_[k].state.data());
  }
}

namespace {

// Of a step: small beside what a nudge of 1e-3 moves.
constexpr double kRelativeError = 1e-7;
constexpr double kAbsoluteError_V = 1e-10;

}  // namespace

LateReads::LateReads(const NodalEquations& equations, const NodeCoordinates& at, const ReducedMatrices& matrices,
                     double delay_s, double clock_s, std::size_t rows)
    : at_(&at),
      transient_(equations, at, matrices, kRelativeError, kAbsoluteError_V),
      delay_s_(delay_s),
      clock_s_(clock_s),
      ends_(rows, std::vector<double>(static_cast<std::size_t>(equations.nodes()), 0.0)) {
  NUDGE_EXPECT(delay_s > 0 && clock_s >= delay_s);
}

Status LateReads::read(std::size_t row, const std::vector<double>& values, const std::vector<OutputAction>& actions,
                       double* z) {
  std::vector<double>& end = ends_[row];
  const bool free = actions.empty();
  transient_.values() = values;
  transient_.act(actions);
  if (free) std::fill(end.begin(), end.end(), 0.0);
  std::vector<double> last = end;
  const Transient::Keep keep = [&](double, const double* v) { last.assign(v, v + last.size()); };
  if (!transient_.start(end) || transient_.run(0, delay_s_, keep) != TransientEnd::reached) return Status::stalled;
  const std::vector<double> found(transient_.state(), transient_.state() + at_->columns());
  if (free && clock_s_ > delay_s_ && transient_.run(delay_s_, clock_s_, keep) != TransientEnd::reached)
    return Status::stalled;
  if (free) end = last;
  std::copy(found.begin(), found.end(), z);
  return Status::converged;
}

}  // namespace nudge
