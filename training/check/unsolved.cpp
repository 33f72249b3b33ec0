// SPDX-License-Identifier: Apache-2.0
#include "training/check/unsolved.hpp"

#include "circuits/circuit_dynamics.hpp"
#include "sim/direct.hpp"
#include "sim/failure.hpp"
#include "training/check/stability.hpp"

namespace nudge {

std::string why_unsolved(const Network<double>& network, const Batch& batch,
                         const std::vector<SequenceReport>& reports) {
  for (std::size_t b = 0; b < reports.size(); ++b) {
    if (reports[b].free.status != Status::diverged) continue;
    CircuitDynamics<double> dynamics(network.circuit(), network.rows(), 1);
    const auto* tells = dynamic_cast<const TellsFailure*>(dynamics.direct());
    if (tells == nullptr) return "";
    bind_ideally(network, batch, static_cast<Index>(b), dynamics);
    Matrix<double> z = Matrix<double>::Zero(network.rows(), network.cols());
    static_cast<void>(dynamics.direct()->solve(z, {}));
    return tells->failure();
  }
  return "";
}

}  // namespace nudge
