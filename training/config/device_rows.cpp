// SPDX-License-Identifier: Apache-2.0
#include "training/config/rows.hpp"

namespace nudge {

ParamTable device_rows() {
  using namespace param;
  return {
      choice("device.model", "digital",
             {"digital", "ideal", "constant_step", "linear_step", "soft_bounds", "exponential_step"},
             "What holds the weights: exact numbers (digital), or a crossbar of these devices."),
      choice("device.update", "continuous", {"continuous", "pulsed"},
             "Whether an update is a real number of pulses (the mean of many) or a whole one, rounded at random."),
      quantity("device.g_min", "0.25 uS", Unit::siemens, at_least(0), "Lower end of the conductance window.",
               "on/off ratio of 100, suggested for the fit of Joshi et al., Nat. Commun. 11:2473, 2020"),
      quantity("device.g_max", "25 uS", Unit::siemens, above(0), "Upper end of the conductance window.",
               "phase-change devices, Nandakumar et al., ICECS 2019"),
      real("device.pulses", "1000", between(2, 1e9), "Pulses of mean size from one bound to the other.",
           "electrochemical RAM, Tang et al., IEDM 2018"),
      real("device.reference", "0.5", strictly_between(0, 1), "Place in the window where a pulse has its mean size."),
      real("device.asymmetry", "0", strictly_between(-1, 1),
           "a > 0: down pulses are 1 - a times the up pulses; a < 0: up pulses are 1 + a times the down pulses."),
      real("device.step_spread", "0", at_least(0), "Device-to-device standard deviation of the pulse size, relative."),
      real("device.asymmetry_spread", "0", at_least(0),
           "Device-to-device standard deviation of what is added to up and taken from down pulses, relative."),
      real("device.upper_bound_spread", "0", at_least(0),
           "Device-to-device standard deviation of the upper bound, over g_max - g_reference."),
      real("device.lower_bound_spread", "0", at_least(0),
           "Device-to-device standard deviation of the lower bound, over g_reference - g_min."),
      real("device.programming_error", "0", at_least(0),
           "Standard deviation of a programmed conductance, over g_max - g_min; fixed until the next programming."),
      real("device.read_noise", "0", at_least(0),
           "Standard deviation of the fresh noise of a conductance in a read, over g_max - g_min, per sqrt(tau)."),
      real("device.update_noise", "0", at_least(0), "Cycle-to-cycle standard deviation of one pulse, over that pulse."),
  };
}

}  // namespace nudge
