// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/section.hpp"

namespace nudge {

/// Sizes of the parts of a chip for its cost card (nudge info --card); 0: not known, not counted. They act on nothing else.
struct CostOptions {
  double node_m = {};         ///< F, half the pitch of the lines
  double cell_F2 = {};        ///< area of a device with its selector, in F²
  double adc_um2 = {};        ///< area of one converter
  double dac_um2 = {};        ///< area of one line's converter
  double amplifier_um2 = {};  ///< area of one sensed line's amplifier
  double driver_um2 = {};     ///< area of one driven line's driver
  double lines_per_adc = {};  ///< lines that share one converter
};

const Section<CostOptions>& cost_section();

}  // namespace nudge
