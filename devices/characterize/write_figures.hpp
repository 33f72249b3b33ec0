// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "devices/device_spec.hpp"
#include "sim/io/h5_document.hpp"

namespace nudge {

/// Exponential curve of a branch of a record, x(P) = (1 − exp(−P/A))/(1 − exp(−P_max/A)), x being the share of its way.
struct BranchCurve {
  double pulses = 0;  ///< A; negative: pulses grow along the branch; infinite: a straight line
  double rms = 0;     ///< rms distance from the measured branch, of its way
};

/// Figures of merit of the mean device (no spreads, no noise of pulses) and of its reads.
struct WriteFigures {
  double pulses = 0;     ///< P_max: pulses of either branch of the record, up from the lower bound and down again
  double start_S = 0;    ///< conductance at its start, G_min
  double top_S = 0;      ///< conductance after the pulses up, G_max
  double end_S = 0;      ///< conductance after the pulses down
  BranchCurve up, down;  ///< A of G_LTP = B (1 − exp(−P/A)) + G_min, and of G_LTD = G_max − B (1 − exp(−P/A))
  double symmetry_S = 0;   ///< conductance where pulses up and down are equal; 0: there is none
  bool symmetric = false;  ///< they are equal at every conductance
  double read_states = 0;  ///< states whose reads of one τ are 6 standard deviations apart; 0: reads have no noise
  double levels = 0;       ///< DeviceSpec::levels; 0: any
  double endurance = 0;    ///< pulses that a device lasts; 0: not known
  /// States of a cell: those that reads keep apart, no more than its levels; 0: no limit.
  double states() const {
    if (levels == 0 || read_states == 0) return levels + read_states;
    return levels < read_states ? levels : read_states;
  }
  double dynamic_range() const { return start_S > 0 ? top_S / start_S : 0; }
};

/// Measures the figures by single pulses and reads of a device. pulses: P_max, 0 takes DeviceSpec::pulses; slow_share: rms of
/// slow noise within a record, relative to the conductance. Curves: Chen, Peng and Yu, IEEE TCAD 37:3067 (2018), equations of
/// section III; symmetry point: Kim et al., arXiv:1907.10228; states: 1 + ∫ dg/(6 σ(g)) over the window.
WriteFigures write_figures(const DeviceSpec& spec, double pulses, double slow_share);

/// Figures as lines of a summary.
std::string figures_text(const WriteFigures& f, const DeviceSpec& spec);
nlohmann::ordered_json figures_json(const WriteFigures& f);
/// Writes them as attributes of a group `figures`; NaN: none.
void write_figures(H5Document& file, const WriteFigures& f);

}  // namespace nudge
