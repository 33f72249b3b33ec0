// SPDX-License-Identifier: Apache-2.0
#include "training/config/cost_options.hpp"

namespace nudge {

const Section<CostOptions>& cost_section() {
  using param::quantity, param::real, param::zero_is;
  static const char* isaac = "ISAAC in 32 nm, Shafiee et al., ISCA 2016, doi:10.1109/ISCA.2016.12, Table I, per part";
  static const Section<CostOptions> section = {
      field(quantity("cost.node", "32 nm", Unit::metre, above(0),
                     "Feature size F of the cost card (nudge info --card): half the pitch of the lines of an array.",
                     "as for the areas of converters below"),
            &CostOptions::node_m),
      field(real("cost.cell_area", "4", above(0),
                 "Area of a device on the cost card, in F^2: 4 for a bare cross point, 48 for 1T1R in NeuroSim.",
                 "lines of a pitch of 2F; 2 x 2 and 4 x 12 F^2 are the defaults of DNN+NeuroSim"),
            &CostOptions::cell_F2),
      field(zero_is("unknown", real("cost.adc_area", "1200", at_least(0),
                                    "Area of an analog-to-digital converter on the cost card, in um^2.",
                                    std::string(isaac) + ": 8 bits at 1.28 GS/s")),
            &CostOptions::adc_um2),
      field(zero_is(
                "unknown",
                real("cost.dac_area", "0.166", at_least(0),
                     "Area of the digital-to-analog converter of a line on the cost card, in um^2; this one has 1 bit.",
                     std::string(isaac) + ": 0.00017 mm^2 for 8 x 128")),
            &CostOptions::dac_um2),
      field(zero_is("unknown", real("cost.amplifier_area", "unknown", at_least(0),
                                    "Area of the amplifier of a sensed line on the cost card, in um^2; unknown: not "
                                    "counted, because no value fits all.")),
            &CostOptions::amplifier_um2),
      field(zero_is("unknown", real("cost.driver_area", "unknown", at_least(0),
                                    "Area of the driver of a line on the cost card, in um^2; unknown: not counted.")),
            &CostOptions::driver_um2),
      field(real("cost.lines_per_adc", "8", at_least(1),
                 "Sensed lines that share a converter on the cost card. This affects the area; the multiplexing "
                 "time is not counted.",
                 "numColMuxed, the default of DNN+NeuroSim"),
            &CostOptions::lines_per_adc)};
  return section;
}

}  // namespace nudge
