// SPDX-License-Identifier: Apache-2.0
#include "training/config/rows.hpp"

namespace nudge {

ParamTable device_rows() {
  using namespace param;
  return {
      choice("device.model", "digital", {"digital", "ideal", "soft_bounds", "linear_step"},
             "What holds the weights: exact numbers, or a crossbar of these devices."),
      quantity("device.g_min", "1 uS", Unit::siemens, at_least(0), "Smallest conductance."),
      quantity("device.g_max", "25 uS", Unit::siemens, above(0), "Largest conductance.",
               "phase-change devices: Nandakumar et al., ICECS 2019; Joshi et al., Nat. Commun. 11:2473, 2020"),
      integer("device.pulses", "1000", between(1, 1000000000),
              "Pulses from g_min to g_max at the full step.",
              "1000: Li/WO3 electrochemical RAM, Tang et al., IEDM 2018"),
      real("device.asymmetry", "0", between(-1, 1),
           "Relative difference between the steps up and down: (up - down)/(up + down)."),
      real("device.programming_error", "0", at_least(0),
           "Standard deviation of a written conductance, over g_max - g_min; fixed until the next write."),
      real("device.read_noise", "0", at_least(0),
           "Standard deviation of a read, over the rms of the product, per sqrt(tau) of read time; fresh at every read."),
      real("device.update_noise", "0", at_least(0),
           "Standard deviation of an update, over the size of one pulse (cycle to cycle)."),
  };
}

}  // namespace nudge
