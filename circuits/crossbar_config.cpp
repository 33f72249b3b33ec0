// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar_config.hpp"

#include "devices/device_config.hpp"

namespace nudge {

ParamTable crossbar_param_rows() {
  using namespace param;
  return {
      real(
          "crossbar.headroom", "2", at_least(1),
          "Largest weight the window can hold, over the largest weight at the start: room to learn, paid for in noise.",
          "chosen: weights may double"),
      real("crossbar.w_max", "0", at_least(0),
           "Largest weight the window can hold, the same for every matrix; 0: from the weights and crossbar.headroom."),
      choice("crossbar.scale", "keep", {"keep", "renew"},
             "Whether the scale between weights and conductances stays, or is chosen anew at every programming.")};
}

CrossbarSpec crossbar_spec(const Config& config) {
  CrossbarSpec spec;
  spec.device = device_spec(config);
  spec.headroom = config.real("crossbar.headroom");
  spec.w_max = config.real("crossbar.w_max");
  spec.scale = config.text("crossbar.scale") == "renew" ? ScalePolicy::renew : ScalePolicy::keep;
  return spec;
}

}  // namespace nudge
