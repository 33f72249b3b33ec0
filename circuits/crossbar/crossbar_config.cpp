// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/crossbar_config.hpp"

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
             "Whether the scale between weights and conductances stays, or is chosen anew at every programming."),
      quantity("crossbar.row_resistance", "0 Ohm", Unit::ohm, at_least(0),
               "Wire resistance between neighbouring devices of a row; 0: ideal.",
               "copper lines: 0.24 (100 nm) to 2.5 ohm (22 nm) per cell of 2F"),
      quantity("crossbar.column_resistance", "0 Ohm", Unit::ohm, at_least(0),
               "Wire resistance between neighbouring devices of a column; 0: ideal."),
      quantity("crossbar.driver_resistance", "0 Ohm", Unit::ohm, at_least(0), "Output resistance of a row driver."),
      quantity("crossbar.sense_resistance", "0 Ohm", Unit::ohm, at_least(0),
               "Input resistance of a column's amplifier."),
      choice("crossbar.line_ends", "one", {"one", "both"},
             "Whether wires are driven and sensed at one end or at both."),
      integer("crossbar.tile_rows", "0", at_least(0),
              "Rows of a tile; larger arrays are cut and partial sums added; 0: not cut."),
      integer("crossbar.tile_columns", "0", at_least(0), "Columns of a tile; 0: not cut."),
      integer("crossbar.dac_bits", "0", between(0, 24), "Resolution of what drives an array; 0: ideal."),
      real("crossbar.dac_range", "0", at_least(0),
           "Full scale of the drive; 0: ranged by the largest value of each drive."),
      integer("crossbar.adc_bits", "0", between(0, 24), "Resolution of the forward read-out; 0: ideal."),
      real("crossbar.adc_range", "0", at_least(0), "Full scale of the forward read-out; 0: ranged by each read."),
      integer("crossbar.adc_transposed_bits", "0", between(0, 24), "Resolution of the transposed read-out; 0: ideal."),
      real("crossbar.adc_transposed_range", "0", at_least(0),
           "Full scale of the transposed read-out; 0: ranged by each read.")};
}

CrossbarSpec crossbar_spec(const Config& config) {
  CrossbarSpec spec;
  spec.device = device_spec(config);
  spec.mapping.headroom = config.real("crossbar.headroom");
  spec.mapping.w_max = config.real("crossbar.w_max");
  spec.mapping.scale = config.text("crossbar.scale") == "renew" ? ScalePolicy::renew : ScalePolicy::keep;
  const LineEnds ends = config.text("crossbar.line_ends") == "both" ? LineEnds::both : LineEnds::one;
  spec.wires = {config.real("crossbar.row_resistance"),
                config.real("crossbar.column_resistance"),
                config.real("crossbar.driver_resistance"),
                config.real("crossbar.sense_resistance"),
                ends,
                ends};
  spec.tiles = {static_cast<Index>(config.integer("crossbar.tile_rows")),
                static_cast<Index>(config.integer("crossbar.tile_columns"))};
  const auto converter = [&config](const std::string& key) {
    return ConverterSpec{static_cast<int>(config.integer(key + "_bits")), config.real(key + "_range")};
  };
  spec.periphery.dac = converter("crossbar.dac");
  spec.periphery.forward.adc = converter("crossbar.adc");
  spec.periphery.transposed.adc = converter("crossbar.adc_transposed");
  return spec;
}

}  // namespace nudge
