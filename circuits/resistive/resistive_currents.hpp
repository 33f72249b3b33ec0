// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/resistive/resistive_network.hpp"

namespace nudge {

/// Kirchhoff's law: the net current I (B, N), A, into every node at the voltages v (B, N) with sources v_0 (B, n_0), without
/// that of the diodes (resistive_network.hpp has the equation). 0 at every node that no diode holds is the steady state.
template <class S>
Matrix<S> resistive_currents(const ResistiveNetwork<S>& network, ConstMatrixRef<S> sources, ConstMatrixRef<S> v,
                             const ResistiveNudge<S>& nudge = {});

/// (∂I/∂v) p (B, N) for directions p (B, N). I is linear in v; diodes and nudge are not in it. Not symmetric when a gain is
/// not 1: c_l times the rows of layer l is.
template <class S>
Matrix<S> resistive_jvp(const ResistiveNetwork<S>& network, ConstMatrixRef<S> p);

/// E of every sample without the nudge (B, 1), W.
template <class S>
Matrix<S> resistive_energy(const ResistiveNetwork<S>& network, ConstMatrixRef<S> sources, ConstMatrixRef<S> v);

/// Power of every sample (B, 1), W. resistors = inputs + amplifiers + bias in the steady state without a nudge; ideal diodes
/// take none.
template <class S>
struct ResistivePower {
  Matrix<S> resistors;   ///< dissipated: Σ g d², rail resistors included
  Matrix<S> inputs;      ///< of the sources: Σ A_0 v_0 × the current they deliver
  Matrix<S> amplifiers;  ///< Σ_{1 ≤ l < L} v_l (A_l − 1/A_l) × the current drawn from the terminal
  Matrix<S> bias;        ///< of the rails or current sources
};

template <class S>
ResistivePower<S> resistive_power(const ResistiveNetwork<S>& network, ConstMatrixRef<S> sources, ConstMatrixRef<S> v);

}  // namespace nudge
