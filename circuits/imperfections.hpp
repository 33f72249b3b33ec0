// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nudge {

/// Whether the noise-free circuit can be differentiated through an imperfection.
enum class Differentiable {
  smooth,             ///< everywhere: the reference `circuit` has its derivative
  almost_everywhere,  ///< but at the corners of a clip
  no,                 ///< rounding, whose derivative is zero: the reference leaves it out
};

/// One static imperfection of a circuit with a typical value, as settings of a config with crossbars.
struct Imperfection {
  std::string name;  ///< as the support matrix of docs/crossbars.md has it
  std::vector<std::string> settings;
  Differentiable derivative = Differentiable::smooth;
};

/// Every static imperfection that a read can have. Tests loop over it: central differences of the noise-free circuit must
/// agree with the exact gradient wherever there is one, and the support matrix must name each.
const std::vector<Imperfection>& circuit_imperfections();

}  // namespace nudge
