// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/resistive/resistive_network.hpp"

namespace nudge::test {

/// Returns (∂I/∂v) p (B, N) for directions p (B, N). I is linear in v and includes neither diodes nor nudge. Not
/// symmetric when a gain is not 1: then c_l times the rows of layer l is.
Matrix<double> resistive_jvp(const ResistiveNetwork& network, ConstMatrixRef<double> p);

/// Returns the energy E of every sample without the nudge (B, 1), W.
Matrix<double> resistive_energy(const ResistiveNetwork& network, ConstMatrixRef<double> sources,
                                ConstMatrixRef<double> v);

}  // namespace nudge::test
