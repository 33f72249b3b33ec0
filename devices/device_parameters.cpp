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

/// Row of a parameter with values from 0 on, or above 0 when `positive`; field: its place in the spec.
DeviceParameter row(std::string name, std::string unit, double& (*field)(Spec&), std::string doc, std::string source,
                    bool positive = false) {
  Spec spec;
  return {std::move(name), std::move(unit),   0,    none, positive, false, field(spec),
          std::move(doc),  std::move(source), field};
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
      row(
          "g_min", "S", [](Spec& s) -> double& { return s.g_min_S; }, "lower end of the conductance window",
          "g_max over an on/off ratio of 100, suggested for the PCM fit of Joshi et al., Nat. Commun. 11:2473 (2020), "
          "doi:10.1038/s41467-020-16108-9"),
      row(
          "g_max", "S", [](Spec& s) -> double& { return s.g_max_S; }, "upper end of the conductance window",
          "1M-device PCM chip: Nandakumar et al., ICECS 2019 (IEEE 8964852)", true),
      between(row(
                  "pulses", "1", [](Spec& s) -> double& { return s.pulses; },
                  "mean-size pulses from bound to bound; at most what a float resolves within the window",
                  "order of ECRAM and ReRAM: 1000 (Tang et al., IEDM 2018, IEEE 8614551)"),
              2, 1e9),
      between(
          row(
              "reference", "1", [](Spec& s) -> double& { return s.reference; },
              "place in the window where a pulse has its mean size: the w = 0 of the papers", "middle of the window"),
          0, 1, true)};
}

Rows spread_rows() {
  return {
      between(row(
                  "asymmetry", "1", [](Spec& s) -> double& { return s.asymmetry; },
                  "a > 0: down pulses are 1 - a times the up pulses; a < 0: up pulses are 1 + a times the down pulses",
                  spread),
              -1, 1, true),
      row(
          "step_spread", "1", [](Spec& s) -> double& { return s.step_spread; },
          "device-to-device standard deviation of the pulse size, relative", spread),
      row(
          "step_log_spread", "1", [](Spec& s) -> double& { return s.step_log_spread; },
          "device-to-device standard deviation of the pulse size as aihwkit's log-normal form: exp(sigma x - "
          "sigma^2/2)",
          spread),
      row(
          "asymmetry_spread", "1", [](Spec& s) -> double& { return s.asymmetry_spread; },
          "device-to-device standard deviation of what is added to up and taken from down pulses, relative to the "
          "pulse",
          spread),
      row(
          "upper_bound_spread", "1", [](Spec& s) -> double& { return s.upper_bound_spread; },
          "device-to-device standard deviation of the upper bound, relative to g_max - g_reference", spread),
      row(
          "lower_bound_spread", "1", [](Spec& s) -> double& { return s.lower_bound_spread; },
          "device-to-device standard deviation of the lower bound, relative to g_reference - g_min; bounds stay >= 0",
          spread)};
}

Rows noise_rows() {
  return {
      row(
          "programming_error", "1", [](Spec& s) -> double& { return s.programming_error; },
          "standard deviation of a programmed conductance, relative to g_max - g_min; drawn once per programming",
          ours),
      row(
          "programming_saturating", "S", [](Spec& s) -> double& { return s.programming.saturating_S; },
          "A of a programming error of standard deviation A (1 - exp(-g/B)), added to programming_fit", ours),
      beside("programming_saturating",
             row(
                 "programming_scale", "S", [](Spec& s) -> double& { return s.programming.saturating_scale_S; },
                 "B of that programming error", "chosen: of no effect while A is 0", true)),
      row(
          "write_noise", "1", [](Spec& s) -> double& { return s.programming.write_noise; },
          "standard deviation of the seen around the stored conductance, in mean pulses, drawn at each write", spread),
      row(
          "read_noise", "1", [](Spec& s) -> double& { return s.read_noise; },
          "standard deviation of the fresh noise of a conductance in one read per sqrt(tau), relative to g_max - g_min",
          ours),
      row(
          "read_saturating", "S", [](Spec& s) -> double& { return s.read_saturating_S; },
          "A of a fresh noise of a conductance of standard deviation A (1 - exp(-g/B)) per sqrt(tau), beside "
          "read_noise",
          ours),
      beside("read_saturating", row(
                                    "read_scale", "S", [](Spec& s) -> double& { return s.read_scale_S; },
                                    "B of that noise", "chosen: of no effect while A is 0", true)),
      row(
          "update_noise", "1", [](Spec& s) -> double& { return s.update_noise; },
          "cycle-to-cycle standard deviation of one pulse, relative to that pulse", spread),
      row(
          "update_noise_floor", "1", [](Spec& s) -> double& { return s.update_noise_floor; },
          "cycle-to-cycle standard deviation of one pulse wherever the device stands, relative to its pulse at the "
          "reference; squares add",
          spread),
      row(
          "iv_sinh", "V", [](Spec& s) -> double& { return s.curve.sinh_V; },
          "V0 of the current I = G (V0 sinh(V/V0) + c V^3) of a read at V; 0: V0 sinh(V/V0) is V", ours),
      row(
          "iv_cubic", "1/V^2", [](Spec& s) -> double& { return s.curve.cubic_per_V2; }, "c of that current", ours),
      row(
          "endurance", "1", [](Spec& s) -> double& { return s.endurance; },
          "mean number of pulses that a device lasts, lognormal over devices; 0: not known", ours),
      beside("endurance", row(
                              "endurance_spread", "1", [](Spec& s) -> double& { return s.endurance_spread; },
                              "device-to-device standard deviation of the natural logarithm of that number", ours)),
      row(
          "pulse_voltage_up", "V", [](Spec& s) -> double& { return s.pulse_up.voltage_V; },
          "magnitude of up pulses, for the energy of updates; 0: the model's own, else unknown, not counted", ours),
      row(
          "pulse_width_up", "s", [](Spec& s) -> double& { return s.pulse_up.width_s; },
          "width of up pulses, for the energy of updates; 0: the model's own, else unknown, not counted", ours),
      row(
          "pulse_voltage_down", "V", [](Spec& s) -> double& { return s.pulse_down.voltage_V; },
          "magnitude of down pulses, for the energy of updates; 0: the model's own, else unknown, not counted", ours),
      row(
          "pulse_width_down", "s", [](Spec& s) -> double& { return s.pulse_down.width_s; },
          "width of down pulses, for the energy of updates; 0: the model's own, else unknown, not counted", ours)};
}

Rows selector_rows() {
  const std::string idle = "chosen: of no effect without device.selector";
  return {
      acting(chosen("device.selector", {"transistor", "threshold"}),
             row(
                 "selector_resistance", "Ohm", [](Spec& s) -> double& { return s.selector.on_ohm; },
                 "resistance in series of a transistor or a threshold selector that conducts", idle, true)),
      acting(
          chosen("device.selector", {"exponential", "threshold"}),
          row(
              "selector_voltage", "V", [](Spec& s) -> double& { return s.selector.voltage_V; },
              "V0 of an exponential selector, I = I0 sinh(V/V0), or the cell's voltage at which a threshold selector "
              "conducts",
              idle, true)),
      acting(chosen("device.selector", {"exponential"}),
             row(
                 "selector_current", "A", [](Spec& s) -> double& { return s.selector.current_A; },
                 "I0 of an exponential selector", idle, true))};
}

Rows retention_rows() {
  const Condition drifts =
      any_changed({"device.drift_exponent", "device.drift_spread", "device.drift_fit", "device.drift_spread_fit"});
  const Condition decays = any_changed({"device.decay_slope", "device.decay_spread", "device.decay_spread_slope"});
  const std::string late = "chosen: of no effect while the exponent (slope) is 0";
  return {
      between(row(
                  "drift_exponent", "1", [](Spec& s) -> double& { return s.retention.drift_exponent; },
                  "nu of g(t) = g (t/t0)^-nu, t counted from the last write of the device", ours),
              0, 10),
      row(
          "drift_spread", "1", [](Spec& s) -> double& { return s.retention.drift_spread; },
          "standard deviation of nu, drawn at each write (absolute)", ours),
      acting(drifts, row(
                         "drift_start", "s", [](Spec& s) -> double& { return s.retention.drift_start_s; },
                         "t0: the programmed conductance is the one at this time", late, true)),
      between(row(
                  "decay_slope", "S", [](Spec& s) -> double& { return s.retention.decay_slope_S; },
                  "m of g(t) = g + m ln(t/t1) + x (s + s' ln(t/t1)), x drawn at each write", ours),
              -none, none, true),
      row(
          "decay_spread", "S", [](Spec& s) -> double& { return s.retention.decay_spread_S; }, "s of that decay", ours),
      row(
          "decay_spread_slope", "S", [](Spec& s) -> double& { return s.retention.decay_spread_slope_S; },
          "s' of that decay", ours),
      acting(decays, row(
                         "decay_start", "s", [](Spec& s) -> double& { return s.retention.decay_start_s; },
                         "t1 of that decay", late, true)),
      row(
          "leak_time", "s", [](Spec& s) -> double& { return s.retention.leak_time_s; },
          "T of dg/dt = -(g - g_rest)/T; 0: no leak", ours),
      beside("leak_time", row(
                              "leak_spread", "1", [](Spec& s) -> double& { return s.retention.leak_spread; },
                              "device-to-device standard deviation of T, relative", spread)),
      between(beside("leak_time",
                     row(
                         "leak_rest", "1", [](Spec& s) -> double& { return s.retention.leak_rest; },
                         "place of g_rest in the window", "middle of the window: a weight of 0 does not leak")),
              0, 1),
      row(
          "read_disturb_time", "s", [](Spec& s) -> double& { return s.retention.read_disturb_time_s; },
          "T of dg = -(g - g_r) dt/T while circuit.read_voltage stands across the device: all phases of a training; 0: "
          "reads change nothing",
          ours),
      between(beside("read_disturb_time",
                     row(
                         "read_disturb_target", "1", [](Spec& s) -> double& { return s.retention.read_disturb_target; },
                         "place of g_r in the window",
                         "filaments grow under reads and saturate: Shim et al., IRPS 2020, "
                         "doi:10.1109/IRPS45951.2020.9129252")),
              0, 1)};
}

Rows relaxation_rows() {
  const Condition relaxes = any_changed({"device.relaxation_level"});
  const std::string idle = "chosen: of no effect while the tables of relaxation are empty";
  return {
      acting(relaxes, row(
                          "relaxation_memory", "1", [](Spec& s) -> double& { return s.relaxation.memory_decades; },
                          "decades of time after which 1/e of a cell's relaxation is left in it; 0: it stays", idle)),
      acting(any_changed({"device.relaxation_volatility"}),
             row(
                 "relaxation_volatility_memory", "1",
                 [](Spec& s) -> double& { return s.relaxation.volatility_memory_decades; },
                 "decades of time after which 1/e of ln of a cell's own scale of steps is left; 0: it stays",
                 "chosen: of no effect while device.relaxation_volatility is empty")),
      between(acting(relaxes, row(
                                  "relaxation_jumps", "1", [](Spec& s) -> double& { return s.relaxation.jump_share; },
                                  "share of the variance of relaxation that comes in jumps", idle)),
              0, 1),
      acting(
          relaxes,
          row(
              "relaxation_activation", "eV", [](Spec& s) -> double& { return s.relaxation.activation_eV; },
              "activation energy in eV: at circuit.temperature time acts on relaxation exp(E/k (1/T0 - 1/T)) times as "
              "fast; 0: "
              "temperature does not matter",
              idle)),
      acting(relaxes,
             beside("relaxation_activation",
                    row(
                        "relaxation_reference", "K", [](Spec& s) -> double& { return s.relaxation.reference_K; },
                        "T0 of that factor: temperature to which the times of the tables belong",
                        "default of circuit.temperature", true)))};
}

Rows telegraph_rows() {
  const std::string idle = "chosen: of no effect while telegraph_share or telegraph_amplitude is 0";
  return {between(beside("telegraph_amplitude",
                         row(
                             "telegraph_share", "1", [](Spec& s) -> double& { return s.telegraph.share; },
                             "share of devices with random telegraph noise", ours)),
                  0, 1),
          beside("telegraph_share",
                 row(
                     "telegraph_amplitude", "1", [](Spec& s) -> double& { return s.telegraph.amplitude; },
                     "distance of the two values of such a device, relative to its conductance", ours)),
          beside("telegraph_share",
                 row(
                     "telegraph_spread", "1", [](Spec& s) -> double& { return s.telegraph.amplitude_spread; },
                     "device-to-device standard deviation of the amplitude, relative", ours)),
          beside("telegraph_share",
                 row(
                     "telegraph_time_high", "s", [](Spec& s) -> double& { return s.telegraph.time_high_s; },
                     "mean time in the higher value", idle, true)),
          beside("telegraph_share",
                 row(
                     "telegraph_time_low", "s", [](Spec& s) -> double& { return s.telegraph.time_low_s; },
                     "mean time in the lower value", idle, true)),
          beside("telegraph_share",
                 row(
                     "telegraph_time_spread", "1", [](Spec& s) -> double& { return s.telegraph.time_spread; },
                     "device-to-device standard deviation of the logarithm of both times", ours))};
}

Rows flicker_rows() {
  const Condition flickers = any_changed({"device.flicker_noise", "device.flicker_fit", "device.noise_flicker"});
  const std::string idle = "chosen: of no effect while flicker_noise is 0 and flicker_fit empty";
  return {
      row(
          "flicker_noise", "1", [](Spec& s) -> double& { return s.flicker.noise; },
          "q of 1/f noise: one-sided spectrum g^2 Q^2/f with Q = min(q (g/g_max)^-p, limit)", ours),
      acting(flickers,
             row(
                 "flicker_power", "1", [](Spec& s) -> double& { return s.flicker.power; }, "p of that noise", idle)),
      acting(flickers,
             row(
                 "flicker_limit", "1", [](Spec& s) -> double& { return s.flicker.limit; }, "largest Q", idle, true)),
      between(acting(flickers,
                     row(
                         "flicker_exponent", "1", [](Spec& s) -> double& { return s.flicker.exponent; },
                         "alpha of 1/f^alpha noise: the spectrum is g^2 Q^2/f (f/1 Hz)^(1 - alpha)", "1: 1/f noise")),
              0.01, 1.99),
      acting(flickers, row(
                           "flicker_fastest", "s", [](Spec& s) -> double& { return s.flicker.fastest_s; },
                           "shortest time constant: 1/f up to 1/(2 pi) of its inverse", idle, true)),
      acting(flickers, row(
                           "flicker_slowest", "s", [](Spec& s) -> double& { return s.flicker.slowest_s; },
                           "longest time constant, at most 1e20 times the shortest; one process per decade and device",
                           idle, true))};
}

Rows fault_rows() {
  return {between(row(
                      "stuck_low", "1", [](Spec& s) -> double& { return s.faults.low; },
                      "share of devices stuck at their lower bound", ours),
                  0, 1),
          between(row(
                      "stuck_high", "1", [](Spec& s) -> double& { return s.faults.high; },
                      "share of devices stuck at their upper bound", ours),
                  0, 1),
          between(row(
                      "stuck_random", "1", [](Spec& s) -> double& { return s.faults.random; },
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
       "how devices differ in all their numbers at once, in place of the spreads: covariance, row by row, of ln g_max, "
       "logit(g_min/g_max), ln of the up and of the down pulse at the reference, and of linear_step (logit) and "
       "power_step (ln) of gamma_up and gamma_down",
       off, [](Spec& s) -> std::vector<double>& { return s.joint_covariance; }},
      {"relaxation_level", "S", "conductances as written, ascending, at which the tables of relaxation stand", off,
       [](Spec& s) -> std::vector<double>& { return s.relaxation.level_S; }},
      {"relaxation_time", "s", "times since the last write, ascending, at which they stand", off,
       [](Spec& s) -> std::vector<double>& { return s.relaxation.time_s; }},
      {"relaxation_spread", "S", "standard deviation of the change since the last write" + table, off,
       [](Spec& s) -> std::vector<double>& { return s.relaxation.spread_S; }},
      {"relaxation_mean", "S", "mean change since the last write" + table, off,
       [](Spec& s) -> std::vector<double>& { return s.relaxation.mean_S; }},
      {"relaxation_jump", "S",
       "size of the jumps that make the tails heavy, per level: excess kurtosis about 3 (jump/spread)^2; empty: none",
       off, [](Spec& s) -> std::vector<double>& { return s.relaxation.jump_S; }},
      {"relaxation_volatility", "1",
       "standard deviation of ln of a cell's own scale of steps, which makes the tails heavy" + table, off,
       [](Spec& s) -> std::vector<double>& { return s.relaxation.volatility; }},
      {"programming_fit", "S",
       "c0, c1, ...: standard deviation of a programmed conductance, sum of c_k (g/g_max)^k, beside programming_error",
       off, [](Spec& s) -> std::vector<double>& { return s.programming.fit_S; }},
      {"drift_fit", "1", "mean of nu over the state, in place of drift_exponent. " + form, off,
       [](Spec& s) -> std::vector<double>& { return s.retention.drift_fit.numbers; }},
      {"drift_spread_fit", "1", "spread of nu over the state, in place of drift_spread; the same form", off,
       [](Spec& s) -> std::vector<double>& { return s.retention.drift_spread_fit.numbers; }},
      {"flicker_fit", "1", "Q of 1/f noise over the state, in place of flicker_noise; the same form", off,
       [](Spec& s) -> std::vector<double>& { return s.flicker.fit.numbers; }},
      {"noise_level", "S",
       "conductances, ascending, at which noise was measured (nudge devices fit FILE --noise): the other noise_ lists "
       "have a "
       "number for each",
       off, [](Spec& s) -> std::vector<double>& { return s.noise.level_S; }},
      {"noise_white", "S",
       "standard deviation of the fresh noise of a conductance in one read per sqrt(tau) there; squares add to those "
       "of "
       "read_noise and read_saturating",
       off, [](Spec& s) -> std::vector<double>& { return s.noise.white_S; }},
      {"noise_flicker", "1",
       "Q of 1/f^alpha noise there, spectrum g^2 Q^2/f (f/1 Hz)^(1 - alpha), in place of flicker_noise and flicker_fit",
       off, [](Spec& s) -> std::vector<double>& { return s.noise.flicker; }},
      {"noise_exponent", "1", "alpha of that noise there, in [0.01, 1.99]; empty: flicker_exponent", off,
       [](Spec& s) -> std::vector<double>& { return s.noise.exponent; }},
      {"noise_trap", "1",
       "distance of the two values of telegraph noise there, relative to the conductance, in place of "
       "telegraph_amplitude, in "
       "a share telegraph_share of the devices",
       off, [](Spec& s) -> std::vector<double>& { return s.noise.trap; }},
      {"noise_trap_high", "s", "mean time in the higher value there", off,
       [](Spec& s) -> std::vector<double>& { return s.noise.trap_high_s; }},
      {"noise_trap_low", "s", "mean time in the lower value there", off,
       [](Spec& s) -> std::vector<double>& { return s.noise.trap_low_s; }}};
  return rows;
}

}  // namespace nudge
