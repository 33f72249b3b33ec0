// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/resistive/resistive_network.hpp"

namespace nudge {

/// Kirchhoff's law: the net current I (B, N), A, into every node at the voltages v (B, N) with sources v_0 (B, n_0), without
/// that of the diodes (resistive_network.hpp has the equation). 0 at every node that no diode holds is the steady state.
Matrix<double> resistive_currents(const ResistiveNetwork& network, ConstMatrixRef<double> sources,
                                  ConstMatrixRef<double> v, const ResistiveNudge& nudge = {});

/// Power of every sample (B, 1), W. resistors = inputs + amplifiers + bias in the steady state without a nudge; ideal diodes
/// take none.
struct ResistivePower {
  Matrix<double> resistors;   ///< dissipated: Σ g d², rail resistors included
  Matrix<double> inputs;      ///< of the sources: Σ A_0 v_0 × the current they deliver
  Matrix<double> amplifiers;  ///< Σ_{1 ≤ l < L} v_l (A_l − 1/A_l) × the current drawn from the terminal
  Matrix<double> bias;        ///< of the rails or current sources
};

ResistivePower resistive_power(const ResistiveNetwork& network, ConstMatrixRef<double> sources,
                               ConstMatrixRef<double> v);

}  // namespace nudge
