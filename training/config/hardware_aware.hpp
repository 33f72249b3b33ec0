// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "sim/config/section.hpp"

namespace nudge {

/// Section [hardware_aware]: numbers that learn to be written into devices. This is hardware-aware training (Joshi et al., Nat.
/// Commun. 11 (2020) 2473; Rasch et al., Nat. Commun. 14 (2023) 5282).
struct HardwareAwareOptions {
  double weight_noise = {};  ///< σ of a weight over the largest of its matrix; 0: none
  std::string devices;       ///< a preset, or a file of keys of [device] and [crossbar]; empty: none
  double age_s = {};         ///< time for which the devices have been left alone
};
const Section<HardwareAwareOptions>& hardware_aware_section();

/// Arrays that hardware_aware.devices describes. None if the key is empty or the weights of the config are on devices themselves. UserError
/// for a value that is neither a preset nor a readable file, or describes no devices.
std::optional<CrossbarSpec> hardware_aware_devices(const Config& config);

}  // namespace nudge
