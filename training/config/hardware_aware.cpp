// SPDX-License-Identifier: Apache-2.0
#include "training/config/hardware_aware.hpp"

namespace nudge {

const Section<HardwareAwareOptions>& hardware_aware_section() {
  using param::quantity;
  using param::real;
  using param::text;
  using param::zero_is;
  static const Section<HardwareAwareOptions> section = {
      field(zero_is("off", real("hardware_aware.weight_noise", "off", at_least(0),
                                "Numbers that learn for devices: every step sees its weights with fresh normal noise "
                                "of this share of the largest of their matrix, in all phases, and moves them without.",
                                "Rasch et al., Nat. Commun. 14 (2023) 5282; aihwkit's ADD_NORMAL with "
                                "rel_to_actual_wmax")),
            &HardwareAwareOptions::weight_noise),
      field(text("hardware_aware.devices", "",
                 "The same with what devices make of them: every step sees its weights as they are read from new "
                 "devices into which they were written. A preset of devices, or a file of keys of [device] and "
                 "[crossbar] (`nudge devices fit FILE --out`). Empty: none."),
            &HardwareAwareOptions::devices),
      field(quantity("hardware_aware.age", "0 s", Unit::second, at_least(0),
                     "For how long these devices have been left alone when they are read: drift, decay, relaxation."),
            &HardwareAwareOptions::age_s)};
  return section;
}

}  // namespace nudge
