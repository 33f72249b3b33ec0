// SPDX-License-Identifier: Apache-2.0
// Nodes of a circuit in their bath: a draw is a pure function of the seed and of which read of which example it is.
#include <algorithm>
#include <cmath>

#include "circuits/circuit_dynamics.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {

template <class S>
bool CircuitDynamics<S>::in_bath() const {
  for (const Node& node : circuit_->nodes()) {
    if (node.temperature > 0) return true;
  }
  return false;
}

template <class S>
bool CircuitDynamics<S>::binary(std::size_t node) const {
  return circuit_->nodes()[node].bits != nullptr;
}

template <class S>
void CircuitDynamics<S>::move(MatrixRef<S> z, ConstMatrixRef<S> f, std::size_t node, S step, std::span<const S> added) {
  const Node& at = circuit_->nodes()[node];
  const auto [begin, count] = at.columns;
  auto state = z.middleCols(begin, count);
  const auto push = f.middleCols(begin, count);
  const std::uint32_t pass = (read_.phase << 24U) + read_.read++;
  node_noise_.resize(z.rows(), count);
  if (at.bits != nullptr) {
    const Matrix<S> drive = push / static_cast<S>(at.temperature);
    at.bits->template sample<S>(drive, node_noise_, (read_.step << 32U) | pass,
                                read_.sequence * static_cast<std::uint32_t>(max_rows_));
    state = node_noise_;
    return;
  }
  const std::uint64_t place = (static_cast<std::uint64_t>(read_.sequence) << 32U) | read_.step;
  fill_normal<S>({read_.seed, Purpose::sde, static_cast<std::uint32_t>(node)}, place, pass,
                 std::span<S>(node_noise_.data(), static_cast<std::size_t>(node_noise_.size())));
  const auto epsilon = static_cast<double>(step);
  state += step * push;
  const std::size_t copies = std::max<std::size_t>(1, added.size());
  const Index rows = z.rows() / static_cast<Index>(copies);
  for (std::size_t k = 0; k < copies; ++k) {
    const double load = circuit_->leak(at) + (added.empty() ? 0.0 : static_cast<double>(added[k]));
    const double spread = at.temperature * epsilon * std::max(0.0, 2 - epsilon * load);  // 0: steps that overshoot
    const Index first = static_cast<Index>(k) * rows;
    state.middleRows(first, rows) += static_cast<S>(std::sqrt(spread)) * node_noise_.middleRows(first, rows);
  }
}

#define NUDGE_CIRCUIT_BATH(S)                                  \
  template bool CircuitDynamics<S>::in_bath() const;           \
  template bool CircuitDynamics<S>::binary(std::size_t) const; \
  template void CircuitDynamics<S>::move(MatrixRef<S>, ConstMatrixRef<S>, std::size_t, S, std::span<const S>);
NUDGE_BOTH_PRECISIONS(NUDGE_CIRCUIT_BATH)

}  // namespace nudge
