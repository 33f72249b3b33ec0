// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/crossbar/crossbar.hpp"

namespace nudge {

/// The weights at which alternating up and down pulses leave the devices of an array: bursts of falling length (256, 128, …, 1
/// pulses, `cycles` each), then the mean of the noise-free weights over 128 more cycles of single pulses, which stands for
/// the reference array that holds them (idea: Kim et al., arXiv:1907.10228). The array stays there, and the pulses count as
/// programming. cycles = 0: nothing is sent, and 0 returned.
template <class S>
Matrix<S> find_symmetry_point(Crossbar<S>& array, int cycles);

/// Whether alternating pulses leave a nominal device (no spreads, no noise) at a point of its window: the ratio of its up to its
/// down step must change along it.
bool has_symmetry_point(const DeviceSpec& spec);

}  // namespace nudge
