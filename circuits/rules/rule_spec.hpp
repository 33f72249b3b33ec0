// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/config/section.hpp"

namespace nudge {

/// Options of the rules of circuits/rules. Each rule names the options that it reads (RuleKind::options). q is the
/// change of a weight by one pulse of the slow array.
struct RuleSpec {
  double threshold = 1;       ///< θ: pulses that must have gathered before a device gets any
  bool read_back = false;     ///< accumulate: read after a write; the missing change stays in the accumulator
  bool random_start = false;  ///< accumulate: χ starts anywhere between −θq and θq instead of at 0
  bool coincidence = false;   ///< the fast array takes pulse trains instead of pulses
  int every = 1;              ///< updates between transfers
  int columns = 1;            ///< columns transferred at a time, in turn
  double rate = 0.02;         ///< λ: share of the fast array's weights that a transfer asks for
  double fast_gain = 1;       ///< an update δ asks the fast array for fast_gain δ/s
  int zero_shift = 8;         ///< cycles per level of the search for the symmetry point A₀; 0: A₀ taken as 0
  double momentum = 0;        ///< share of the sent change that a buffer keeps
  double chopper = 0.01;      ///< probability of a column's sign to flip after its read
  int chopper_period = 100;   ///< reads of a column between flips of its sign
  double share = 0.1;         ///< γ: weight of the fast array in reads
  int arrays = 3;             ///< multi_tile: arrays of a matrix
  int timescale = 4;          ///< multi_tile: how much more rarely each array is written than the next finer one
  double refresh_high = 0.75, refresh_low = 0.25;  ///< one_sided: places in the window that call for a refresh
  int refresh_every = 10;                          ///< one_sided: updates between looks at them

  /// Throws UserError naming the key, its value and the rule.
  void validate() const;
};

/// The keys of update rules, part of crossbar_section().
const Section<RuleSpec>& rule_section();

}  // namespace nudge
