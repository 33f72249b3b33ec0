// SPDX-License-Identifier: Apache-2.0
// The numbers of a device, one row each, by concern.
#include <string>
#include <vector>

#include "devices/device_spec.hpp"
#include "sim/config/reading.hpp"

namespace nudge {
namespace {

using Rows = std::vector<DeviceParameter>;
using Spec = DeviceSpec;

constexpr double none = std::numeric_limits<double>::infinity();
const std::string ours = "chosen: 0 switches the effect off";
const std::string spread = "form of IBM aihwkit's pulsed devices; default chosen: 0 switches the effect off";

/// Member of a spec at the end of a path of members.
template <auto first, auto... path>
auto& place(Spec& spec) {
  return ((spec.*first).*....*path);
}

/// Row of the parameter at a path of members, with values from 0 on, or above 0 when `positive`.
template <auto... path>
DeviceParameter row(std::string name, std::string unit, std::string doc, std::string source, bool positive = false) {
  Spec standard;
  return {std::move(name),   std::move(unit), 0, none, positive, false, place<path...>(standard), std::move(doc),
          std::move(source), place<path...>};
}

/// Row of a parameter that acts only where the condition holds.
DeviceParameter acting(const Condition& condition, DeviceParameter r) {
  r.when.push_back(condition);
  return r;
}

/// Row of a parameter that acts only where another number is above 0.
DeviceParameter beside(const std::string& other, DeviceParameter r) {
  return acting(above_zero("device." + other), std::move(r));
}

DeviceParameter between(DeviceParameter r, double minimum, double maximum, bool open = false) {
  r.minimum = minimum;
  r.maximum = maximum;
  r.open_minimum = r.open_maximum = open;
  return r;
}

Rows window_rows() {
  return {
      row<&Spec::g_min_S>(
          "g_min", "S", "lower end of the conductance window",
          "g_max over an on/off ratio of 100, suggested for the PCM fit of Joshi et al., Nat. Commun. 11:2473 (2020), "
          "doi:10.1038/s41467-020-16108-9"),
      row<&Spec::g_max_S>("g_max", "S", "upper end of the conductance window",
                          "1M-device PCM chip: Nandakumar et al., ICECS 2019 (IEEE 8964852)", true),
      between(row<&Spec::pulses>("pulses", "1",
                                 "number of mean pulses from bound to bound; at most what a float resolves within the "
                                 "window. Tables of memristor_table give it where it is not set",
                                 "order of ECRAM and ReRAM: 1000 (Tang et al., IEDM 2018, IEEE 8614551)"),
              2, 1e9),
      between(row<&Spec::reference>("reference", "1",
                                    "position in the window where a pulse has its mean size: w = 0 in the papers",
                                    "middle of the window"),
              0, 1, true),
      row<&Spec::reference_pulse>(
          "reference_pulse", "1",
          "size of a pulse at device.reference, in mean sizes; a fit sets it, so that device.pulses counts mean pulses "
          "over the whole window",
          "the pulse there is the mean one", true)};
}

Rows spread_rows() {
  return {
      between(row<&Spec::asymmetry>(
                  "asymmetry", "1",
                  "a > 0: down pulses are 1 - a times the up pulses; a < 0: up pulses are 1 + a times the down pulses",
                  spread),
              -1, 1, true),
      row<&Spec::step_spread>("step_spread", "1", "device-to-device standard deviation of the pulse size, relative",
                              spread),
      row<&Spec::step_log_spread>(
          "step_log_spread", "1",
          "device-to-device standard deviation of the pulse size as aihwkit's log-normal form: exp(sigma x - "
          "sigma^2/2)",
          spread),
      row<&Spec::asymmetry_spread>(
          "asymmetry_spread", "1",
          "device-to-device standard deviation of the asymmetry, added to up and subtracted from down pulses, "
          "relative to the pulse",
          spread),
      row<&Spec::upper_bound_spread>(
          "upper_bound_spread", "1",
          "device-to-device standard deviation of the upper bound, relative to g_max - g_reference", spread),
      row<&Spec::lower_bound_spread>(
          "lower_bound_spread", "1",
          "device-to-device standard deviation of the lower bound, relative to g_reference - g_min; bounds stay >= 0",
          spread)};
}

Rows noise_rows() {
  return {
      between(row<&Spec::levels>("levels", "1",
                                 "number of conductances, equally far apart from g_min to g_max, that programming and "
                                 "write-verify aim at; 0: any conductance",
                                 "chosen: cells are programmed to any conductance"),
              0, 1e6),
      between(
          row<&Spec::programming_error>("programming_error", "1",
                                        "standard deviation of a programmed conductance, relative to g_max - g_min; "
                                        "drawn once per programming",
                                        ours),
          0, 1),
      row<&Spec::programming, &ProgrammingErrorSpec::saturating_S>(
          "programming_saturating", "S",
          "A of a programming error of standard deviation A (1 - exp(-g/B)), added to programming_fit", ours),
      beside("programming_saturating",
             row<&Spec::programming, &ProgrammingErrorSpec::saturating_scale_S>(
                 "programming_scale", "S", "B of that programming error", "chosen: of no effect while A is 0", true)),
      row<&Spec::programming, &ProgrammingErrorSpec::write_noise>(
          "write_noise", "1",
          "standard deviation of the read conductance around the stored one, in mean pulses, drawn at each write",
          spread),
      row<&Spec::read_noise>(
          "read_noise", "1",
          "standard deviation of the fresh noise of a conductance in one read per sqrt(tau), relative to g_max - g_min",
          ours),
      row<&Spec::read_saturating_S>(
          "read_saturating", "S",
          "A of a fresh noise of a conductance of standard deviation A (1 - exp(-g/B)) per sqrt(tau), beside "
          "read_noise",
          ours),
      beside("read_saturating",
             row<&Spec::read_scale_S>("read_scale", "S", "B of that noise", "chosen: of no effect while A is 0", true)),
      row<&Spec::update_noise>("update_noise", "1",
                               "cycle-to-cycle standard deviation of one pulse, relative to that pulse", spread),
      row<&Spec::update_noise_floor>(
          "update_noise_floor", "1",
          "cycle-to-cycle standard deviation of one pulse at any conductance, relative to the pulse at the "
          "reference; squares add",
          spread),
      row<&Spec::curve, &CurrentCurve::sinh_V>(
          "iv_sinh", "V", "V0 of the current I = G (V0 sinh(V/V0) + c V^3) of a read at V; 0: V0 sinh(V/V0) is V",
          ours),
      row<&Spec::curve, &CurrentCurve::cubic_per_V2>("iv_cubic", "1/V^2", "c of that current", ours),
      row<&Spec::endurance>("endurance", "1",
                            "mean number of pulses that a device lasts, lognormal over devices; 0: not known", ours),
      beside("endurance", row<&Spec::endurance_spread>(
                              "endurance_spread", "1",
                              "device-to-device standard deviation of the natural logarithm of that number", ours)),
      row<&Spec::pulse_up, &WritePulse::voltage_V>(
          "pulse_voltage_up", "V",
          "voltage of up pulses, for the energy of updates; 0: that of the model, else unknown and not counted", ours),
      beside("pulse_voltage_up",
             row<&Spec::pulse_up, &WritePulse::width_s>(
                 "pulse_width_up", "s",
                 "width of up pulses, for the energy of updates; 0: that of the model, else unknown and not counted",
                 ours)),
      row<&Spec::pulse_down, &WritePulse::voltage_V>(
          "pulse_voltage_down", "V",
          "voltage of down pulses, for the energy of updates; 0: that of the model, else unknown and not counted",
          ours),
      beside("pulse_voltage_down",
             row<&Spec::pulse_down, &WritePulse::width_s>(
                 "pulse_width_down", "s",
                 "width of down pulses, for the energy of updates; 0: that of the model, else unknown and not counted",
                 ours))};
}

Rows selector_rows() {
  const std::string idle = "chosen: of no effect without device.selector";
  return {acting(chosen("device.selector", {"transistor", "threshold"}),
                 row<&Spec::selector, &SelectorSpec::on_ohm>(
                     "selector_resistance", "Ohm",
                     "series resistance of a transistor or threshold selector in conduction", idle, true)),
          acting(chosen("device.selector", {"exponential", "threshold"}),
                 row<&Spec::selector, &SelectorSpec::voltage_V>(
                     "selector_voltage", "V",
                     "V0 of an exponential selector, I = I0 sinh(V/V0), or the cell voltage above which a threshold "
                     "selector conducts",
                     idle, true)),
          acting(chosen("device.selector", {"exponential"}),
                 row<&Spec::selector, &SelectorSpec::current_A>("selector_current", "A",
                                                                "I0 of an exponential selector", idle, true))};
}

Rows retention_rows() {
  const Condition drifts =
      any_changed({"device.drift_exponent", "device.drift_spread", "device.drift_fit", "device.drift_spread_fit"});
  const Condition decays = any_changed({"device.decay_slope", "device.decay_spread", "device.decay_spread_slope"});
  const std::string late = "chosen: of no effect while the exponent (slope) is 0";
  return {
      between(
          row<&Spec::retention, &RetentionSpec::drift_exponent>(
              "drift_exponent", "1", "nu of g(t) = g (t/t0)^-nu, t counted from the last write of the device", ours),
          0, 10),
      row<&Spec::retention, &RetentionSpec::drift_spread>(
          "drift_spread", "1", "standard deviation of nu, drawn at each write (absolute)", ours),
      acting(drifts, row<&Spec::retention, &RetentionSpec::drift_start_s>(
                         "drift_start", "s", "t0: the programmed conductance is the one at this time", late, true)),
      between(row<&Spec::retention, &RetentionSpec::decay_slope_S>(
                  "decay_slope", "S", "m of g(t) = g + m ln(t/t1) + x (s + s' ln(t/t1)), x drawn at each write", ours),
              -none, none, true),
      row<&Spec::retention, &RetentionSpec::decay_spread_S>("decay_spread", "S", "s of that decay", ours),
      row<&Spec::retention, &RetentionSpec::decay_spread_slope_S>("decay_spread_slope", "S", "s' of that decay", ours),
      acting(decays,
             row<&Spec::retention, &RetentionSpec::decay_start_s>("decay_start", "s", "t1 of that decay", late, true)),
      row<&Spec::retention, &RetentionSpec::leak_time_s>("leak_time", "s", "T of dg/dt = -(g - g_rest)/T; 0: no leak",
                                                         ours),
      beside("leak_time", row<&Spec::retention, &RetentionSpec::leak_spread>(
                              "leak_spread", "1", "device-to-device standard deviation of T, relative", spread)),
      between(beside("leak_time", row<&Spec::retention, &RetentionSpec::leak_rest>(
                                      "leak_rest", "1", "position of g_rest in the window",
                                      "middle of the window: a weight of 0 does not leak")),
              0, 1),
      row<&Spec::retention, &RetentionSpec::read_disturb_time_s>(
          "read_disturb_time", "s",
          "T of dg = -(g - g_r) dt/T while circuit.read_voltage is across the device, in all phases of a training; "
          "0: no read disturb",
          ours),
      between(beside("read_disturb_time", row<&Spec::retention, &RetentionSpec::read_disturb_target>(
                                              "read_disturb_target", "1", "position of g_r in the window",
                                              "filaments grow under reads and saturate: Shim et al., IRPS 2020, "
                                              "doi:10.1109/IRPS45951.2020.9129252")),
              0, 1)};
}

Rows relaxation_rows() {
  const Condition relaxes = any_changed({"device.relaxation_level"});
  const std::string idle = "chosen: of no effect while the tables of relaxation are empty";
  return {
      acting(relaxes, row<&Spec::relaxation, &RelaxationSpec::memory_decades>(
                          "relaxation_memory", "1",
                          "decades of time after which 1/e of a cell's relaxation remains; 0: it stays", idle)),
      acting(any_changed({"device.relaxation_volatility"}),
             row<&Spec::relaxation, &RelaxationSpec::volatility_memory_decades>(
                 "relaxation_volatility_memory", "1",
                 "decades of time after which 1/e of ln of a cell's own scale of steps remains; 0: it stays",
                 "chosen: of no effect while device.relaxation_volatility is empty")),
      between(acting(relaxes,
                     row<&Spec::relaxation, &RelaxationSpec::jump_share>(
                         "relaxation_jumps", "1", "share of the variance of relaxation that comes in jumps", idle)),
              0, 1),
      acting(relaxes,
             row<&Spec::relaxation, &RelaxationSpec::activation_eV>(
                 "relaxation_activation", "eV",
                 "activation energy in eV: at circuit.temperature relaxation is exp(E/k (1/T0 - 1/T)) times as fast; "
                 "0: no effect of temperature",
                 idle)),
      acting(relaxes,
             beside("relaxation_activation",
                    row<&Spec::relaxation, &RelaxationSpec::reference_K>(
                        "relaxation_reference", "K", "T0 of that factor: the temperature of the times in the tables",
                        "default of circuit.temperature", true)))};
}

Rows telegraph_rows() {
  const std::string idle = "chosen: of no effect while telegraph_share or telegraph_amplitude is 0";
  return {
      between(beside("telegraph_amplitude",
                     row<&Spec::telegraph, &TelegraphSpec::share>(
                         "telegraph_share", "1", "share of devices with random telegraph noise", ours)),
              0, 1),
      beside("telegraph_share", row<&Spec::telegraph, &TelegraphSpec::amplitude>(
                                    "telegraph_amplitude", "1",
                                    "distance of the two values of such a device, relative to its conductance", ours)),
      beside("telegraph_share",
             row<&Spec::telegraph, &TelegraphSpec::amplitude_spread>(
                 "telegraph_spread", "1", "device-to-device standard deviation of the amplitude, relative", ours)),
      beside("telegraph_share", row<&Spec::telegraph, &TelegraphSpec::time_high_s>(
                                    "telegraph_time_high", "s", "mean time in the higher value", idle, true)),
      beside("telegraph_share", row<&Spec::telegraph, &TelegraphSpec::time_low_s>(
                                    "telegraph_time_low", "s", "mean time in the lower value", idle, true)),
      beside("telegraph_share",
             row<&Spec::telegraph, &TelegraphSpec::time_spread>(
                 "telegraph_time_spread", "1",
                 "device-to-device standard deviation of the natural logarithm of both times", ours))};
}

Rows flicker_rows() {
  const Condition flickers = any_changed({"device.flicker_noise", "device.flicker_fit", "device.noise_flicker"});
  const std::string idle = "chosen: of no effect while flicker_noise is 0 and flicker_fit empty";
  return {
      row<&Spec::flicker, &FlickerSpec::noise>(
          "flicker_noise", "1", "q of 1/f noise: one-sided spectrum g^2 Q^2/f with Q = min(q (g/g_max)^-p, limit)",
          ours),
      acting(flickers, row<&Spec::flicker, &FlickerSpec::power>("flicker_power", "1", "p of that noise", idle)),
      acting(flickers, row<&Spec::flicker, &FlickerSpec::limit>("flicker_limit", "1", "largest Q", idle, true)),
      between(acting(flickers,
                     row<&Spec::flicker, &FlickerSpec::exponent>(
                         "flicker_exponent", "1",
                         "alpha of 1/f^alpha noise: the spectrum is g^2 Q^2/f (f/1 Hz)^(1 - alpha)", "1: 1/f noise")),
              0.01, 1.99),
      acting(flickers,
             row<&Spec::flicker, &FlickerSpec::fastest_s>(
                 "flicker_fastest", "s", "shortest time constant: 1/f up to 1/(2 pi) of its inverse", idle, true)),
      acting(flickers, row<&Spec::flicker, &FlickerSpec::slowest_s>(
                           "flicker_slowest", "s",
                           "longest time constant, at most 1e20 times the shortest; one process per decade and device",
                           idle, true))};
}

Rows fault_rows() {
  return {between(row<&Spec::faults, &FaultSpec::low>("stuck_low", "1", "share of devices stuck at their lower bound",
                                                      ours),
                  0, 1),
          between(row<&Spec::faults, &FaultSpec::high>("stuck_high", "1", "share of devices stuck at their upper bound",
                                                       ours),
                  0, 1),
          between(row<&Spec::faults, &FaultSpec::random>("stuck_random", "1",
                                                         "share of devices stuck anywhere between their bounds", ours),
                  0, 1)};
}

}  // namespace

const std::vector<DeviceParameter>& device_parameters() {
  static const Rows rows = [] {
    Rows all;
    for (const Rows& part : {window_rows(), spread_rows(), noise_rows(), selector_rows(), retention_rows(),
                             relaxation_rows(), telegraph_rows(), flicker_rows(), fault_rows()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return rows;
}

const std::vector<DeviceList>& device_lists() {
  const std::string off = "chosen: empty, not used";
  const std::string form =
      "[a, b, lowest, highest]: clip(a ln r + b, lowest, highest), r = g/g_max; or with "
      "knee, q0, q1, ... appended: q0 + q1 r + ... from r = knee on";
  const std::string table = ", a number for each level and time, level by level";
  static const std::vector<DeviceList> rows = {
      {"joint_covariance", "1",
       "joint device-to-device spread of all parameters, instead of the single spreads: their covariance, row by "
       "row. Parameters: ln g_max, logit(g_min/g_max), ln of the up and of the down pulse at the reference. For "
       "linear_step also logit, for power_step ln, of gamma_up and gamma_down",
       off, place<&Spec::joint_covariance>},
      {"relaxation_level", "S", "written conductances, ascending, of the tables of relaxation", off,
       place<&Spec::relaxation, &RelaxationSpec::level_S>},
      {"relaxation_time", "s", "times since the last write, ascending, of these tables", off,
       place<&Spec::relaxation, &RelaxationSpec::time_s>},
      {"relaxation_spread", "S", "standard deviation of the change since the last write" + table, off,
       place<&Spec::relaxation, &RelaxationSpec::spread_S>},
      {"relaxation_mean", "S", "mean change since the last write" + table, off,
       place<&Spec::relaxation, &RelaxationSpec::mean_S>},
      {"relaxation_jump", "S",
       "size of the jumps that make the tails heavy, per level: excess kurtosis about 3 (jump/spread)^2; empty: none",
       off, place<&Spec::relaxation, &RelaxationSpec::jump_S>},
      {"relaxation_volatility", "1",
       "standard deviation of ln of a cell's own scale of steps, which makes the tails heavy" + table, off,
       place<&Spec::relaxation, &RelaxationSpec::volatility>},
      {"relaxation_skew", "1",
       "k in [-1, 1]: steps of relaxation upwards are 1 + k times as long, those downwards 1 - k times; their mean is "
       "taken off" +
           table,
       off, place<&Spec::relaxation, &RelaxationSpec::skew>},
      {"programming_fit", "S",
       "c0, c1, ...: standard deviation of a programmed conductance, sum of c_k (g/g_max)^k, beside programming_error",
       off, place<&Spec::programming, &ProgrammingErrorSpec::fit_S>},
      {"drift_fit", "1", "mean of nu over the state, instead of drift_exponent. " + form, off,
       place<&Spec::retention, &RetentionSpec::drift_fit, &StateFit::numbers>},
      {"drift_spread_fit", "1", "spread of nu over the state, instead of drift_spread; the same form", off,
       place<&Spec::retention, &RetentionSpec::drift_spread_fit, &StateFit::numbers>},
      {"flicker_fit", "1", "Q of 1/f noise over the state, instead of flicker_noise; the same form", off,
       place<&Spec::flicker, &FlickerSpec::fit, &StateFit::numbers>},
      {"noise_level", "S",
       "conductances, ascending, at which noise was measured (nudge devices fit FILE --noise): the other noise_ lists "
       "have a number for each",
       off, place<&Spec::noise, &NoiseTable::level_S>},
      {"noise_white", "S",
       "standard deviation of the fresh noise of a conductance in one read per sqrt(tau) there; squares add to those "
       "of read_noise and read_saturating",
       off, place<&Spec::noise, &NoiseTable::white_S>},
      {"noise_flicker", "1",
       "Q of 1/f^alpha noise there, spectrum g^2 Q^2/f (f/1 Hz)^(1 - alpha), instead of flicker_noise and "
       "flicker_fit",
       off, place<&Spec::noise, &NoiseTable::flicker>},
      {"noise_exponent", "1", "alpha of that noise there, in [0.01, 1.99]; empty: flicker_exponent", off,
       place<&Spec::noise, &NoiseTable::exponent>},
      {"noise_trap", "1",
       "distance of the two values of telegraph noise there, relative to the conductance, instead of "
       "telegraph_amplitude; for a share telegraph_share of the devices",
       off, place<&Spec::noise, &NoiseTable::trap>},
      {"noise_trap_high", "s", "mean time in the higher value there", off,
       place<&Spec::noise, &NoiseTable::trap_high_s>},
      {"noise_trap_low", "s", "mean time in the lower value there", off, place<&Spec::noise, &NoiseTable::trap_low_s>}};
  return rows;
}

}  // namespace nudge
