// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "devices/current_curve.hpp"
#include "devices/effects.hpp"
#include "devices/state_tables.hpp"
#include "sim/base/matrix.hpp"
#include "sim/config/param_table.hpp"

namespace nudge {

/// Scheme for the voltages of lines that are not selected while a cell is written.
enum class WriteBias {
  isolated,  ///< other cells see nothing
  half,      ///< V/2: the selected row at V/2, its column at −V/2, all others at 0
  third,     ///< V/3: the selected row at V, its column at 0, other rows at V/3, other columns at 2V/3
};

/// The lines along which the devices of an array are written, one cell after another.
struct WriteLines {
  WriteBias bias = WriteBias::isolated;
  Index tile_rows = 0, tile_columns = 0;  ///< lines end with their tile; 0: uncut
};

/// Mode of turning a requested change dg into pulses of mean size s₀ = (g_max − g_min)/pulses, n = |dg|/s₀.
enum class PulseMode {
  continuous,  ///< n stays a real number: the mean of many pulses; deterministic unless update_noise > 0
  pulsed,      ///< n is rounded to ⌊n⌋ or ⌈n⌉ with mean n (stochastic rounding), as a pulse counter can do
};

/// Behaviour of a device that has received as many pulses as it lasts.
enum class EnduranceFailure {
  none,   ///< a worn device is counted and works on
  stuck,  ///< a worn device stays where it is: no pulse, programming or drift moves it any more
};

/// The statistics of one kind of device, from which arrays are sampled: window, pulses and fresh noise here, the other
/// effects by concern. "Of the window" means relative to g_max − g_min. Meaning, ranges and sources of every field:
/// device_parameters() and device_lists(), `nudge devices show NAME`.
struct DeviceSpec {
  std::string model = "soft_bounds";
  double g_min_S = 0.25e-6;
  double g_max_S = 25e-6;
  double pulses = 1000;           ///< mean-size pulses from bound to bound
  double reference = 0.5;         ///< place in the window where a pulse has its mean size (w = 0 of the papers)
  double reference_pulse = 1;     ///< size of a pulse there, in mean sizes
  double asymmetry = 0;           ///< a > 0: down pulses are 1 − a times the up pulses; a < 0: up pulses 1 + a
  double step_spread = 0;         ///< device to device, of the pulse size (relative)
  double step_log_spread = 0;     ///< device to device, of the pulse size, as a factor exp(σ ξ) of median 1
  double asymmetry_spread = 0;    ///< device to device: r added to up and taken from down pulses, of the pulse size
  double upper_bound_spread = 0;  ///< device to device, of g_max − g_reference
  double lower_bound_spread = 0;  ///< device to device, of g_reference − g_min
  std::vector<double> joint_covariance = {};  ///< joint covariance of these numbers (spreads.hpp), row by row
  double levels = 0;  ///< conductances from g_min to g_max that programming aims at, equally far apart; 0: any
  double programming_error = 0;   ///< std of a programmed conductance, of the window; drawn once per programming
  double read_noise = 0;          ///< std of the fresh conductance noise of a read per √τ, of the window
  double read_saturating_S = 0;   ///< A of the state-dependent part of read noise, A (1 − exp(−g/B)); squares add
  double read_scale_S = 1e-6;     ///< B of the state-dependent part of read noise
  double update_noise = 0;        ///< cycle to cycle: std of one pulse, as a share of that pulse
  double update_noise_floor = 0;  ///< cycle to cycle: std of one pulse, the same at every conductance, of the pulse at
                                  ///< the reference; squares add
  double endurance = 0;           ///< mean number of pulses that a device lasts; 0: not known
  double endurance_spread = 0;    ///< device to device, standard deviation of ln(pulses that a device lasts)
  EnduranceFailure endurance_failure = EnduranceFailure::none;
  WritePulse pulse_up = {}, pulse_down = {};  ///< pulses, for the energy of updates
  PulseMode update = PulseMode::continuous;
  std::map<std::string, double> shape = {};  ///< parameters of the model's own; missing ones have their defaults
  std::map<std::string, std::vector<double>> tables = {};  ///< lists of the model's own; missing ones are empty
  ProgrammingErrorSpec programming = {};
  RetentionSpec retention = {};
  RelaxationSpec relaxation = {};
  TelegraphSpec telegraph = {};
  FlickerSpec flicker = {};
  NoiseTable noise = {};
  FaultSpec faults = {};
  CurrentCurve curve = {};     ///< current over voltage at fixed conductance
  SelectorSpec selector = {};  ///< element in series with every device
  WriteLines lines = {};       ///< lines of the array along which the devices are written
  double temperature_K = 300;  ///< temperature of the devices; no key of its own: circuit.temperature

  double window_S() const { return g_max_S - g_min_S; }
  // The law of the fresh noise of a read of a conductance g, per √τ: σ² = σ_uniform² + A² (1 − exp(−g/B))² + σ_white(g)².
  double uniform_read_S2() const { return read_noise * window_S() * read_noise * window_S(); }
  double state_read_S2(double g_S) const {
    const double saturating = read_saturating_S * -std::expm1(-std::max(g_S, 0.0) / read_scale_S);
    const double white = noise.has_white() ? noise.white_at(g_S) : 0;
    return saturating * saturating + white * white;
  }
  bool reads_by_state() const { return read_saturating_S > 0 || noise.has_white(); }
  double read_sigma_S(double g_S) const { return std::sqrt(uniform_read_S2() + state_read_S2(g_S)); }
  double g_reference_S() const { return g_min_S + reference * window_S(); }
  /// Size of a pulse at the reference; of the direction whose pulses are the larger ones there.
  double reference_pulse_S() const { return window_S() / pulses * reference_pulse; }

  /// Throws UserError naming the field, its value, the rule and what to do.
  void validate() const;

  /// Value of one of the model's own parameters; its default when not given.
  double shape_value(const std::string& name) const;

  /// Value of one of the model's own lists; empty when not given.
  std::vector<double> table(const std::string& name) const;
};

/// Parameter of a device: drives checks, listings and docs. Limits are in `unit`; open ends are excluded.
struct DeviceParameter {
  std::string name;
  std::string unit;
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool open_minimum = false;
  bool open_maximum = false;
  double default_value = 0;
  std::string doc;
  std::string source;
  double& (*field)(DeviceSpec&) = nullptr;  ///< null for a model's own parameter (DeviceSpec::shape)
  std::vector<Condition> when = {};         ///< conditions that must all hold for it to act

  double value(const DeviceSpec& spec) const { return field(const_cast<DeviceSpec&>(spec)); }
  bool contains(double value) const;
  std::string range_text() const;  ///< range as text: "> 0", "in [0, 1)"
};

/// List of numbers of a device: coefficients of a fit, or a table. Empty: not used.
struct DeviceList {
  std::string name;
  std::string unit;
  std::string doc;
  std::string source;
  std::vector<double>& (*field)(DeviceSpec&) = nullptr;  ///< null for a model's own list (DeviceSpec::tables)

  const std::vector<double>& value(const DeviceSpec& spec) const { return field(const_cast<DeviceSpec&>(spec)); }
};

/// Parameters and lists that every model has (config keys device.<name>).
const std::vector<DeviceParameter>& device_parameters();
const std::vector<DeviceList>& device_lists();

}  // namespace nudge
