// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/section.hpp"
#include "training/models/registry.hpp"

namespace nudge {

/// Options of the section [oscillator].
struct OscillatorOptions {
  std::vector<Index> hidden;
  double input_phase = {}, field = {}, gain = {};
};
const Section<OscillatorOptions>& oscillator_section();

/// Network kind oscillator: phases φ of coupled oscillators in the frame that turns with them, the XY model or
/// Kuramoto's of one frequency (Wang, Wanjura & Marquardt, arXiv:2402.08579, train it by equilibrium propagation),
///     E = −Σ K_ij cos(φ_i − φ_j) − Σ h_i cos(φ_i − θ_i),      dφ/dt = −∂E/∂φ
/// in layers: φ of layer 0 are the clamped phases `input_phase` x of the features, K_l (n_{l−1}, n_l) couples a layer
/// to the one below, and the last layer has a phase per class or value. Since cos(a − b) = cos a cos b + sin a sin b, a
/// coupling is two BilinearLinks on one map, driven by the cosines and by the sines of both ends. A field has the
/// parameters hc = h cos θ and hs = h sin θ, the components in quadrature that a locking signal has. The cost is C = Σ
/// 1 − cos(φ − y), a target of y being a phase of y rad: its nudge is a field of β at that phase.
NetworkKind oscillator_network();

}  // namespace nudge
