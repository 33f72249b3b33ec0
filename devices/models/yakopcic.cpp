// SPDX-License-Identifier: Apache-2.0
// Yakopcic memristor (eta = 1): thresholds, exponential speed, and a state that moves freely until it nears a bound:
//     i = a1 x sinh(b v) for v >= 0, a2 x sinh(b v) for v < 0
//     dx/dt = g(v) f(x)
//     g(v) = A_up (exp(v) - exp(v_up)) for v > v_up; -A_down (exp(-v) - exp(v_down)) for v < -v_down; else 0
//     f(x) = 1 for x < x_up, exp(-alpha_up (x - x_up)) (1 + (x_up - x)/(1 - x_up)) above,             v > 0
//     f(x) = 1 for x > 1 - x_down, exp(alpha_down (x + x_down - 1)) x/(1 - x_down) below,             v < 0
// v in volts. At small read voltages i = a b x v: the conductance is linear in x, so g_lower belongs to x = 0.
#include "devices/memristor/memristor.hpp"
#include "devices/memristor/pulsed_memristor.hpp"

namespace nudge {

double Yakopcic::rate(double x, double volts) const {
  if (volts > threshold_up_V) {
    const double speed = A_up * (std::exp(volts) - std::exp(threshold_up_V));
    return x < x_up ? speed : speed * std::exp(-alpha_up * (x - x_up)) * (1 + (x_up - x) / (1 - x_up));
  }
  if (volts < -threshold_down_V) {
    const double speed = -A_down * (std::exp(-volts) - std::exp(threshold_down_V));
    return x > 1 - x_down ? speed : speed * std::exp(alpha_down * (x + x_down - 1)) * x / (1 - x_down);
  }
  return 0;
}

double Yakopcic::current(double x, double volts) const { return (volts < 0 ? a2_A : a1_A) * x * std::sinh(b * volts); }

Yakopcic yakopcic_of(const DeviceSpec& spec) {
  Yakopcic m;
  m.a1_A = m.a2_A = spec.g_max_S / spec.shape_value("b");
  m.b = spec.shape_value("b");
  m.threshold_up_V = spec.shape_value("threshold_up");
  m.threshold_down_V = spec.shape_value("threshold_down");
  m.A_up = spec.shape_value("A_up");
  m.A_down = spec.shape_value("A_down");
  m.x_up = spec.shape_value("x_up");
  m.x_down = spec.shape_value("x_down");
  m.alpha_up = spec.shape_value("alpha_up");
  m.alpha_down = spec.shape_value("alpha_down");
  return m;
}

DeviceModel yakopcic_model() {
  const std::string source =
      "Yakopcic, Taha, Subramanyam, Pino and Rogers, IEEE Electron Device Lett. 32:1436 (2011); the same numbers in "
      "the test netlists of Sandia Xyce";
  const std::string ours = "chosen for pulses of the order of 1 % of the window";
  DeviceModel model;
  model.name = "yakopcic";
  model.summary =
      "Yakopcic memristor: voltage thresholds, exponential speed, slows near its bounds; pulses of given volts";
  model.equation = "dx/dt = +/-A (e^|v| - e^v_th) f(x) beyond the threshold; i = a x sinh(b v), g = g_max x at small v";
  model.source = source;
  model.limits =
      "rectangular pulses; all devices see the same voltage. Reads at b v << 1. a1 = a2 = g_max/b: the published "
      "device (0.17, b = 0.05) has g_max = 8.5 mS. device.pulses is the step that the controller assumes. The pulse "
      "itself follows from voltage and width";
  model.not_modelled = "nonlinear current at the read voltage, temperature, stochastic switching";
  model.shape = {{"b", "1", 0, 100, true, false, 0.05, "curvature of the current, 1/V", source},
                 {"threshold_up", "V", 0, 100, false, false, 0.16, "voltage above which x rises", source},
                 {"threshold_down", "V", 0, 100, false, false, 0.15, "x falls below minus this voltage", source},
                 {"A_up", "1", 0, 1e18, true, false, 4000, "speed scale of rising, 1/s", source},
                 {"A_down", "1", 0, 1e18, true, false, 4000, "speed scale of falling, 1/s", source},
                 {"x_up", "1", 0, 1, true, true, 0.3, "state above which rising slows", source},
                 {"x_down", "1", 0, 1, true, true, 0.5, "falling slows below 1 minus this state", source},
                 {"alpha_up", "1", 0, 100, false, false, 1, "rate of that slowing, rising", source},
                 {"alpha_down", "1", 0, 100, false, false, 5, "rate of that slowing, falling", source},
                 {"pulse_up", "V", 0, 100, true, false, 0.5, "amplitude of an up pulse", source},
                 {"pulse_down", "V", -100, 0, false, true, -0.5, "amplitude of a down pulse", source},
                 {"pulse_width", "s", 0, 1e6, true, false, 2e-6, "width of both pulses", ours}};
  model.memristor = [](const DeviceSpec& spec) -> std::shared_ptr<const Memristor> {
    return std::make_shared<Yakopcic>(yakopcic_of(spec));
  };
  model.scale = StateScale::conductance;
  model.make = make_pulsed_memristor;
  // V I = a x V sinh(b V) = G V² sinh(b V)/(b V): an ohmic device at a voltage that much higher.
  model.pulses = [](const DeviceSpec& spec) {
    const auto heating = [b = spec.shape_value("b")](double volts) {
      return volts * std::sqrt(std::sinh(b * volts) / (b * volts));
    };
    const double width = spec.shape_value("pulse_width");
    return std::pair(WritePulse{heating(spec.shape_value("pulse_up")), width},
                     WritePulse{heating(-spec.shape_value("pulse_down")), width});
  };
  return model;
}

}  // namespace nudge
