// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "devices/device_spec.hpp"

namespace nudge {

/// Scheme by which a given weight is brought into the devices.
enum class ProgrammingScheme {
  open_loop_error,   ///< the target plus device.programming_error: the statistics of a programming, no pulses
  open_loop_pulses,  ///< reset, then the number of pulses that the nominal device needs, sent blindly
  write_verify,      ///< read, pulse towards the target, read again, until within tolerance
};

/// Scheme by which a change of the weights is made in place (in situ).
enum class UpdateScheme {
  pulses,        ///< the summed change, turned into pulses of nominal size
  write_verify,  ///< a digital copy takes the change; devices that it has moved away from are written and verified
  coincidence,   ///< stochastic pulse trains on rows and columns: rank-1 updates inside the array
  none,          ///< no change is made: frozen devices, which are programmed and then left alone
  // By a rule of circuits/rules (rule_kinds()), which has arrays that are pulsed:
  accumulate,
  tiki_taka,
  ttv2,
  c_ttv2,
  agad,
  residual,
  multi_tile,
  one_sided,
};

/// Order in which the pulses of a batch of coincidences reach a device.
enum class PulseOrder {
  batch,   ///< counted over the batch, then all pulses of a device, one direction in two halves around the other
  sample,  ///< sample by sample, as an array would
};

/// State of the lines of other cells while one cell is read for verification.
enum class VerifyLines {
  grounded,  ///< at 0 V: a read sees its cell alone
  floating,  ///< open: currents sneak through the other cells (circuits/wires/tiled_array.hpp)
};

struct ProgrammingSpec {
  ProgrammingScheme scheme = ProgrammingScheme::open_loop_error;
  UpdateScheme update = UpdateScheme::pulses;
  double tolerance = 0.01;  ///< write–verify: largest accepted distance from the target, of the window
  std::int64_t limit = 0;   ///< write–verify, open loop: most pulses of a device per write; 0: twice device.pulses
  double burst = 0.5;       ///< share of the estimated number of pulses that is sent between two reads
  double read_time = 1;     ///< length of a verify read in units of τ: its noise falls as 1/√time
  double step_V = 0;        ///< write–verify: pulse k of one direction in turn has k step_V more volts
  double step_width = 1;    ///< write–verify: factor on the width from pulse to pulse in one direction
  int steps = 20;           ///< limit on k: it stays below this
  VerifyLines lines = VerifyLines::grounded;
  double refresh_s = 0;  ///< interval at which all devices are written anew (calibration.hpp); 0: never
  int calibration = 0;   ///< number of reads by which the gain of an array follows its age (calibration.hpp)
  int train = 31;        ///< coincidence: most slots of a pulse train, 1 to 64
  PulseOrder order = PulseOrder::batch;

  /// True if pulses grow from round to round; then a round sends one.
  bool grows() const { return step_V > 0 || step_width > 1; }
  bool verifies() const {
    return scheme == ProgrammingScheme::write_verify || update == UpdateScheme::write_verify ||
           update == UpdateScheme::one_sided;
  }

  /// Limit on a device's pulses per write.
  double pulse_limit(const DeviceSpec& device) const {
    return limit > 0 ? static_cast<double>(limit) : 2 * device.pulses;
  }

  /// Throws UserError naming the field, its value and the rule.
  void validate(const DeviceSpec& device) const;
};

}  // namespace nudge
