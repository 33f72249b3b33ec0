// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "devices/fit/long_table.hpp"

namespace nudge {

/// Rows of one sweep of the voltage, in the order of the file. time_s is empty where the file has no times.
struct IvSweep {
  double device = 0, cycle = 0;
  std::vector<double> volts, current_A, time_s;
  std::vector<int> lines;
};

/// Currents that the instrument was limited to, at voltages of either sign; instruments are often limited in the set alone.
struct IvLimits {
  double positive_A = std::numeric_limits<double>::infinity(), negative_A = positive_A;

  double at(double volts) const { return volts < 0 ? negative_A : positive_A; }
  /// True of a current that the instrument held, which is no state of the device.
  bool holds(double volts, double current_A) const {
    return (current_A < 0 ? -current_A : current_A) >= 0.999 * at(volts);
  }
};

/// Sweeps of a file.
struct IvData {
  std::string file;
  std::vector<IvSweep> sweeps;
  IvLimits limits = {};
};

/// Reads a table with the columns voltage and current and, if known, time, device and cycle. rate_Hz: rows per second where
/// there are no times; 0: not known. UserError with file:line as parse_long_table(), for a current against its voltage
/// (unless all are magnitudes), and for times that do not grow.
IvData parse_iv(std::string_view text, const std::string& file, double rate_Hz, TableLook& look);

/// Number with its 95 % interval; NaN ends are open.
struct IvNumber {
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();
  int n = 0;  ///< number of sweeps that it is a mean over
  bool known() const { return value == value; }
};

/// One way of the voltage out from 0 and back, on one side of 0.
struct IvLobe {
  double peak_V = 0;                 ///< largest voltage, with its sign
  double before_S = 0, after_S = 0;  ///< small-signal conductances on the way out and on the way back
  double threshold_V = std::numeric_limits<double>::quiet_NaN();  ///< NaN: nothing switches
  double step_V = 0;                                              ///< step of the voltage there, or at rise_V
  bool before_hidden = false,
       after_hidden = false;  ///< noise hides the conductance, which is then the most that it may be
  bool returns = false;  ///< it conducts near the peak and came back by itself: threshold_V is NaN, and these are known
  double rise_V = std::numeric_limits<double>::quiet_NaN(),
         hold_V = std::numeric_limits<double>::quiet_NaN();  ///< voltages at which it went on and came back
  double hold_step_V = 0;                                    ///< step of the voltage at hold_V
  double on_S =
      std::numeric_limits<double>::quiet_NaN();  ///< conductance between; NaN: the instrument's limit hides it
  bool switches() const { return returns || threshold_V == threshold_V; }
  std::size_t sweep = 0;  ///< place in IvData::sweeps
};

/// Numbers that sweeps show without a model.
struct IvReads {
  std::vector<IvLobe> lobes;
  IvNumber set_V, reset_V;              ///< voltages at which ln(conductance) is halfway between both states
  IvNumber other_set_V, other_reset_V;  ///< the same at the other sign, of fewer lobes; mostly not known
  IvNumber on_S, off_S;                 ///< small-signal conductances of both states
  IvNumber ratio;                       ///< on/off
  double off_below_S =
      0;  ///< the off state is below this, in the noise of the current: off_S and ratio are unknown; 0: it is seen
  double ratio_above() const { return on_S.value / off_below_S; }
  int switched = 0, returned = 0;  ///< lobes in which something switches, and in which the device returns by itself
  std::vector<IvNumber> threshold_V, hold_V;  ///< voltages at which such lobes go on and return: one or two signs
  /// True of a threshold switch: more than half of the lobes return by themselves.
  bool is_volatile() const { return 2 * returned > switched; }
  IvNumber curvature_per_V2;  ///< c = 1/V0² of I = G V0 sinh(V/V0), common to both states
  double sinh_V() const;      ///< V0; 0: no curvature shows
};

/// Conductances are slopes of the current over V sinh(V/V0)/(V/V0). One below three standard errors of a line with an intercept is hidden
/// by noise of the current. A device returns by itself where it jumps up on the way out and down at a smaller voltage on the way back.
/// Both jumps are of five errors of the noise and a tenth; the second ends at the conductance it had. Or a set state is gone at the device's next lobe
/// of that sign without a reset. Of rows at the instrument's limit the device conducts at least as well as they say.
///
/// Looks at sweeps that go out from 0 V and come back. Of each lobe both ways are fitted by I = G V0 sinh(V/V0) where |V| is
/// below half of the voltage at which most changes. It switches where G changes by more than a tenth. The threshold is the first
/// voltage at which the logarithm of the measured over the earlier state's current is half of the later over the earlier one's.
/// Over several lobes numbers are means with Student's interval; of one lobe the threshold has the step of its voltage as its
/// interval. UserError where no lobe has four rows out and back.
IvReads look_at_sweeps(const IvData& data);

}  // namespace nudge
