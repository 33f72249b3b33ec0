// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/crossbar_spec.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {

void MappingSpec::validate() const {
  if (!(headroom >= 1 && std::isfinite(headroom))) {
    throw UserError(
        fmt::format("crossbar.headroom = {:g} (must be a finite number >= 1): the room for weights to grow, "
                    "relative to the largest weight",
                    headroom));
  }
  if (!(w_max >= 0 && std::isfinite(w_max))) {
    throw UserError(
        fmt::format("crossbar.w_max = {:g} (must be a finite number >= 0): the largest weight the window "
                    "can hold, or 0 to choose it from the weights",
                    w_max));
  }
}

void PeripherySpec::validate() const {
  const auto check = [](const PortSpec& port, const std::string& key) {
    port.dac.validate(key + "_dac");
    port.amplifier.validate(key);
    port.adc.validate(key + "_adc");
  };
  check(forward, "crossbar.forward");
  check(transposed, "crossbar.transposed");
}

void CrossbarSpec::validate() const {
  device.validate();
  mapping.validate();
  wires.validate();
  periphery.validate();
  programming.validate(device);
  transfer.validate();
  circuit.validate();
}

}  // namespace nudge
