// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "devices/fit/long_table.hpp"

namespace nudge {

/// Device in a table of endurance: both conductances after numbers of cycles, ascending. None: it was dead at its first look, `lost`.
struct CycledDevice {
  double name = 0;
  std::vector<double> cycles, on_S, off_S;
  double lost = std::numeric_limits<
      double>::infinity();  ///< cycle from which on its readings overflow to their end; infinity: none
};

/// Cycles between which a device failed; died = infinity: it works at the last look.
struct CycledLife {
  double alive = 0, died = std::numeric_limits<double>::infinity();
  bool failed() const { return died < std::numeric_limits<double>::infinity(); }
};

/// Number with its 95 % interval; NaN ends are open.
struct EnduranceNumber {
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();
  bool known() const { return value == value; }
};

/// Lives of devices and the drift of their window.
struct EnduranceFit {
  std::vector<CycledLife> lives;
  double pulses_per_cycle = 2;  ///< a set and a reset; 1: the table counts pulses
  int failed = 0;
  double longest = 0;                      ///< number of cycles that every device outlived, or the last look
  double first_ratio = 0, last_ratio = 0;  ///< on/off of the devices' medians at their first and last look
  EnduranceNumber on_drift, off_drift;     ///< relative change of both conductances per decade of cycles
  EnduranceNumber mean_cycles;             ///< mean life over devices, as device.endurance in cycles
  EnduranceNumber spread;                  ///< standard deviation of ln(life), device.endurance_spread
};

/// Reads a table with the columns cycle (or pulse), an on and an off reading (r_on and r_off, LRS and HRS, or g_on and g_off)
/// and, for several devices, device. A device has lost its window where its on resistance, or both
/// readings, overflow from some row to its last, the first row too. `look` says so, and names the lines of devices without a row of two
/// readings. Dashes (---) are no readings and tell nothing. UserError with file:line as parse_long_table(), and for an on reading that conducts no
/// better than the off reading in a device's first row.
std::vector<CycledDevice> parse_endurance(std::string_view text, const std::string& file, TableLook& look,
                                          bool& counts_pulses);

/// Fits lives and drifts. A device has failed at the first row from which on its window g_on − g_off stays below half of the
/// first, or its readings overflow. It died between that row and the row before. Lives are lognormal over devices, of mean m and deviation s of their
/// logarithm (the law of device.endurance):
///     −ln L = −Σ ln[Φ(b) − Φ(a)],   a and b: the ends of the interval in which it died, over s
/// with interval and right censoring (Meeker and Escobar, Statistical Methods for Reliability Data, 1998, ch. 7).
/// Intervals come from the profile: t(0.975, n − 1)². Drifts are slopes of ln g over log10(cycle) before failure, their mean
/// over devices with Student's interval; of one device the interval of its line.
EnduranceFit fit_endurance(const std::vector<CycledDevice>& devices, bool counts_pulses);

/// Fit as a table for people, and as TOML; numbers that the table does not determine are left out of the TOML.
std::string endurance_text(const EnduranceFit& fit);
std::string endurance_toml(const EnduranceFit& fit, const std::string& source);

}  // namespace nudge
