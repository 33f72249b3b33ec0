// SPDX-License-Identifier: Apache-2.0
// VTEAM: a memristor with voltage thresholds, here with its state turned so that x = 1 conducts best and positive voltages
// raise x:
//     dx/dt = +k_up   (v/v_th_up - 1)^alpha_up       (1 - x)^p    v >  v_th_up > 0
//             -k_down (v/v_th_down - 1)^alpha_down    x^p         v <  v_th_down < 0
//             0                                                   between;     1/g = 1/g_lower + x (1/g_upper - 1/g_lower)
// The window is the simplest that vanishes at the bound ahead only; p = 0 is none, and then the state moves at constant
// speed to its bound: x(t) = x_0 + k (v/v_th - 1)^alpha t. For p = 1: 1 - x(t) = (1 - x_0) exp(-k (v/v_th - 1)^alpha t).
#include "devices/memristor/memristor.hpp"
#include "devices/memristor/pulsed_memristor.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

double Vteam::rate(double x, double volts) const {
  if (volts > threshold_up_V) {
    return k_up_Hz * std::pow(volts / threshold_up_V - 1, alpha_up) * std::pow(1 - x, window);
  }
  if (volts < threshold_down_V) {
    return -k_down_Hz * std::pow(volts / threshold_down_V - 1, alpha_down) * std::pow(x, window);
  }
  return 0;
}

double Vteam::current(double x, double volts) const { return volts / (r_off_ohm + x * (r_on_ohm - r_off_ohm)); }

Vteam vteam_of(const DeviceSpec& spec) {
  Vteam m;
  m.threshold_up_V = spec.shape_value("threshold_up");
  m.threshold_down_V = spec.shape_value("threshold_down");
  m.k_up_Hz = spec.shape_value("k_up");
  m.k_down_Hz = spec.shape_value("k_down");
  m.alpha_up = spec.shape_value("alpha_up");
  m.alpha_down = spec.shape_value("alpha_down");
  m.window = spec.shape_value("window");
  m.r_on_ohm = 1 / spec.g_max_S;
  m.r_off_ohm = 1 / spec.g_min_S;
  return m;
}

namespace {

void check_vteam(const DeviceSpec& spec) {
  if (spec.g_min_S > 0) return;
  throw UserError("device.g_min = 0 S (must be > 0 for vteam: its resistance is linear in the state)");
}

}  // namespace

DeviceModel vteam_model() {
  const std::string ours = "chosen: an illustration, not a fit; replace by numbers of your device";
  DeviceModel model;
  model.name = "vteam";
  model.summary =
      "VTEAM memristor: voltage thresholds, power-law speed, window function; pulses of given volts and width";
  model.equation =
      "dx/dt = +/- k |v/v_th - 1|^alpha w(x) beyond the threshold, w = (1 - x)^p up, x^p down; 1/g linear in x";
  model.source =
      "Kvatinsky, Ramadan, Friedman and Kolodny, IEEE TCAS-II 62:786 (2015): VTEAM, a general model for "
      "voltage-controlled memristors; window: ours";
  model.limits =
      "rectangular pulses; all devices see the same voltage (no line drop); lower bounds of all devices above 0. "
      "device.pulses is the step that the controller assumes. The pulse itself follows from voltage and width";
  model.not_modelled = "temperature, switching below threshold, stochastic switching, electroforming";
  model.shape = {{"threshold_up", "V", 0, 100, true, false, 0.5, "voltage above which x rises", ours},
                 {"threshold_down", "V", -100, 0, false, true, -0.5, "voltage below which x falls", ours},
                 {"k_up", "1", 0, 1e18, true, false, 1e5, "speed scale of rising, 1/s", ours},
                 {"k_down", "1", 0, 1e18, true, false, 1e5, "speed scale of falling, 1/s", ours},
                 {"alpha_up", "1", 0, 100, false, false, 3, "power of the overdrive, rising", ours},
                 {"alpha_down", "1", 0, 100, false, false, 3, "power of the overdrive, falling", ours},
                 {"window", "1", 0, 10, false, false, 1, "p of the window; 0: none", ours},
                 {"pulse_up", "V", 0, 100, true, false, 1, "amplitude of an up pulse", ours},
                 {"pulse_down", "V", -100, 0, false, true, -1, "amplitude of a down pulse", ours},
                 {"pulse_width", "s", 0, 1e6, true, false, 1e-7, "width of both pulses", ours}};
  model.memristor = [](const DeviceSpec& spec) -> std::shared_ptr<const Memristor> {
    return std::make_shared<Vteam>(vteam_of(spec));
  };
  model.scale = StateScale::resistance;
  model.make = make_pulsed_memristor;
  model.check = check_vteam;
  model.pulses = [](const DeviceSpec& spec) {
    const double width = spec.shape_value("pulse_width");  // an ohmic device: V² G
    return std::pair(WritePulse{spec.shape_value("pulse_up"), width},
                     WritePulse{-spec.shape_value("pulse_down"), width});
  };
  return model;
}

}  // namespace nudge
