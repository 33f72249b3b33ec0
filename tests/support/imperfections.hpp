// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nudge {

/// Differentiability of the noise-free circuit through an imperfection.
enum class Differentiable {
  smooth,             ///< differentiable everywhere: the reference `circuit` has its derivative
  almost_everywhere,  ///< differentiable except at the corners of a clip
  no,                 ///< not differentiable: rounding, whose derivative is zero; the reference leaves it out
};

/// Static imperfection of a circuit with a typical value, as settings of a config with crossbars.
struct Imperfection {
  std::string name;  ///< name in the table of docs/reference/gradient_checks.md
  std::vector<std::string> settings;
  Differentiable derivative = Differentiable::smooth;
};

/// List of every static imperfection that a read can have. Tests loop over it: central differences of the noise-free
/// circuit must agree with the exact gradient wherever there is one, and that table must name each.
inline const std::vector<Imperfection>& circuit_imperfections() {
  static const std::vector<Imperfection> all = {
      {"programming error", {"device.programming_error=1 %"}},
      {"stuck devices", {"device.stuck_low=0.2 %", "device.stuck_high=0.2 %"}},
      {"mapping reference_column", {"crossbar.mapping=reference_column", "device.programming_error=1 %"}},
      {"mapping offset", {"crossbar.mapping=offset", "device.programming_error=1 %"}},
      {"wire resistance", {"crossbar.row_resistance=1 Ohm", "crossbar.column_resistance=1 Ohm"}},
      {"wire resistance, reference column",
       {"crossbar.row_resistance=2 Ohm", "crossbar.column_resistance=2 Ohm", "crossbar.mapping=reference_column"}},
      {"wire resistance, offset mapping, tiles",
       {"crossbar.row_resistance=2 Ohm", "crossbar.column_resistance=2 Ohm", "crossbar.mapping=offset",
        "crossbar.line_ends=both", "crossbar.tile_rows=5", "crossbar.tile_columns=6"}},
      {"one array per token, wire resistance",
       {"circuit.tokens=replicated", "device.programming_error=2 %", "crossbar.row_resistance=2 Ohm",
        "crossbar.column_resistance=2 Ohm"}},
      {"transposed reads from the opposite ends",
       {"crossbar.row_resistance=2 Ohm", "crossbar.column_resistance=2 Ohm", "crossbar.transposed_path=opposite_ends"}},
      {"curved I-V, sinh", {"device.iv_sinh=0.25 V"}},
      {"curved I-V, cubic", {"device.iv_cubic=2"}},
      {"curved I-V, offset mapping", {"device.iv_sinh=1 V", "crossbar.mapping=offset"}},
      {"curved I-V, reference column", {"device.iv_sinh=0.25 V", "crossbar.mapping=reference_column"}},
      {"amplifier gain error", {"crossbar.forward_gain_error=0.05", "crossbar.transposed_gain_error=-0.05"}},
      {"amplifier gain spread", {"crossbar.forward_gain_spread=0.02", "crossbar.transposed_gain_spread=0.02"}},
      {"amplifier offset", {"crossbar.forward_offset=0.1 mV", "crossbar.transposed_offset=0.1 mV"}},
      {"amplifier finite gain", {"crossbar.forward_open_loop_gain=2000", "crossbar.transposed_open_loop_gain=2000"}},
      {"amplifier saturation, tanh", {"crossbar.forward_saturation=3", "crossbar.transposed_saturation=3"}},
      {"amplifier saturation, clip",
       {"crossbar.forward_saturation=2", "crossbar.forward_saturation_shape=clip", "crossbar.transposed_saturation=2",
        "crossbar.transposed_saturation_shape=clip"},
       Differentiable::almost_everywhere},
      {"converter range",
       {"crossbar.forward_dac_range=1.5", "crossbar.forward_adc_range=2", "crossbar.transposed_dac_range=1.5",
        "crossbar.transposed_adc_range=2"},
       Differentiable::almost_everywhere},
      {"converter rounding",
       {"crossbar.forward_dac_bits=8", "crossbar.forward_adc_bits=8", "crossbar.transposed_dac_bits=8",
        "crossbar.transposed_adc_bits=8"},
       Differentiable::no},
      {"one array per token", {"circuit.tokens=replicated", "device.programming_error=2 %"}},
      {"one array per token, curved I-V",
       {"circuit.tokens=replicated", "device.programming_error=1 %", "device.iv_sinh=0.25 V",
        "crossbar.forward_gain_spread=0.02"}},
      {"leaking holds", {"circuit.tokens=multiplexed", "circuit.hold_time=0.3 us", "device.iv_sinh=0.25 V"}},
      {"all of them",
       {"device.programming_error=1 %", "device.iv_sinh=0.25 V", "crossbar.row_resistance=1 Ohm",
        "crossbar.column_resistance=1 Ohm", "crossbar.transposed_path=opposite_ends",
        "crossbar.forward_gain_error=0.05", "crossbar.transposed_gain_spread=0.02", "crossbar.forward_offset=0.1 mV",
        "crossbar.forward_open_loop_gain=2000", "crossbar.forward_saturation=3", "crossbar.transposed_saturation=3"}},
  };
  return all;
}

}  // namespace nudge
