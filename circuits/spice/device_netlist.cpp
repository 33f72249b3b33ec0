// SPDX-License-Identifier: Apache-2.0
#include "circuits/spice/exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "circuits/programming/write_devices.hpp"
#include "devices/device_array.hpp"
#include "devices/memristor/memristor.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

constexpr Index kCells = 256;     // of the table of a pulse: h²/8 of its curvature, 2e-6 for a curve that bends once
constexpr Index kNearBound = 32;  // points of the last two pulses before the bound ahead, where a pulse is cut
constexpr double kEdge = 1.0 / 2000;  // of a pulse: its rise and fall
constexpr double kState_F = 1e-6;     // capacitance of the state node: a convenient size

bool is_memristor(const DeviceSpec& spec) { return spec.model == "vteam" || spec.model == "yakopcic"; }

double netlist_conductance(const DeviceSpec& spec, double x) {
  if (spec.model != "vteam") return spec.g_min_S + x * spec.window_S();
  return 1 / (1 / spec.g_min_S + x * (1 / spec.g_max_S - 1 / spec.g_min_S));
}

/// State V(x) of a conductance; netlist_conductance() goes back.
double netlist_state(const DeviceSpec& spec, double g) {
  if (spec.model != "vteam") return (g - spec.g_min_S) / spec.window_S();
  return (1 / g - 1 / spec.g_min_S) / (1 / spec.g_max_S - 1 / spec.g_min_S);
}

/// Changes of x by one pulse from each of these places.
std::vector<double> pulse_changes(const DeviceSpec& spec, Direction direction, const std::vector<double>& places) {
  const auto n = static_cast<Index>(places.size());
  DeviceArray<double> array(nominal_device(spec), 1, n, {});
  for (Index k = 0; k < n; ++k) array.cells().g(0, k) = netlist_conductance(spec, places[static_cast<std::size_t>(k)]);
  array.state_restored();
  array.pulse(Matrix<double>::Constant(1, n, direction == Direction::up ? 1.0 : -1.0), 0);
  std::vector<double> changes;
  for (Index k = 0; k < n; ++k) {
    const double x = places[static_cast<std::size_t>(k)];
    changes.push_back(std::abs(netlist_state(spec, array.conductance()(0, k)) - x));
  }
  return changes;
}

/// Table of the pulse as text, "pwl(v(h), ...)": equally spaced places, and more where the bound ahead cuts a pulse.
std::string pulse_table(const DeviceSpec& spec, Direction direction) {
  std::vector<double> places;
  for (Index k = 0; k <= kCells; ++k) places.push_back(static_cast<double>(k) / kCells);
  const double bound = direction == Direction::up ? 1 : 0, sign = direction == Direction::up ? -1 : 1;
  const double last = 2 * pulse_changes(spec, direction, {bound + sign / kCells}).front();
  for (Index k = 1; k < kNearBound; ++k) {
    places.push_back(bound + sign * last * static_cast<double>(k) / kNearBound);
  }
  std::erase_if(places, [](double x) { return x < 0 || x > 1; });
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end(), [](double a, double b) { return b - a < 1e-12; }),
               places.end());
  const std::vector<double> changes = pulse_changes(spec, direction, places);
  std::string text = "pwl(v(h)";
  for (std::size_t k = 0; k < places.size(); ++k) {
    text += fmt::format(",{}{:.15g},{:.15g}", k % 6 == 0 ? "\n+ " : "", places[k], changes[k]);
  }
  return text + ")";
}

/// Text of i/g of the spec's curve of the voltage.
std::string curve_text(const CurrentCurve& curve) {
  if (curve.linear()) return "v(p,n)";
  const std::string odd =
      curve.sinh_V > 0 ? fmt::format("{0:.17g}*sinh(v(p,n)/{0:.17g})", curve.sinh_V) : std::string("v(p,n)");
  return fmt::format("({}+{:.17g}*v(p,n)*v(p,n)*v(p,n))", odd, curve.cubic_per_V2);
}

std::string step_lines(const DeviceSpec& spec) {
  const PulseShape shape = pulse_shape(spec);
  const auto gate = [](const char* sign, double volts) {  // 0 below .4 of the amplitude, 1 above .6: half of every edge
    return fmt::format("min(max(({}v(p,n)-{:.17g})/{:.17g},0),1)", sign, 0.4 * volts, 0.2 * volts);
  };
  std::string text;
  text += fmt::format("bmem p n i=({:.17g}+{:.17g}*v(x))*{}\n", spec.g_min_S, spec.window_S(), curve_text(spec.curve));
  text += fmt::format("bup up 0 v={}\nbdown down 0 v={}\n", gate("", shape.up_V), gate("-", shape.down_V));
  const std::string rate =
      fmt::format("v(up)*{:.17g}*{}\n+ -v(down)*{:.17g}*{}", kState_F / shape.up_s, pulse_table(spec, Direction::up),
                  kState_F / shape.down_s, pulse_table(spec, Direction::down));
  const DeviceModel& model = device_model(spec.model);
  text += model.netlist != nullptr ? model.netlist(spec, rate, kState_F) : fmt::format("bx 0 x i={}\n", rate);
  text += "* where a pulse began: follows x between pulses, rests during one\n";
  text += fmt::format("ch h 0 {:.17g} ic={{x0}}\nbh 0 h i=(1-max(v(up),v(down)))*(v(x)-v(h))\n",
                      std::min(shape.up_s, shape.down_s) / 100);
  return text;
}

/// Lines with dx/dt and i of the memristor at u = x kept in [0, 1]; device.asymmetry makes its pulses act longer or shorter.
std::string memristor_lines(const DeviceSpec& spec) {
  const DeviceArray<double> mean(nominal_device(spec), 1, 1, {});
  const double step = spec.reference_pulse_S();
  const double up = mean.cells().step_up(0, 0) / step, down = mean.cells().step_down(0, 0) / step;
  const std::string u = "min(max(v(x),0),1)", v = "v(p,n)";
  std::string rate, current;
  if (spec.model == "vteam") {
    const Vteam m = vteam_of(spec);
    const auto speed = [&](double k, double threshold, double alpha, const std::string& window) {
      return fmt::format("{:.17g}*pow(max({}/{:.17g}-1,0),{:.17g})*{}", k, v, threshold, alpha, window);
    };
    const auto window = [&](const std::string& ahead) {
      return m.window == 0 ? fmt::format("({}>0?1:0)", ahead) : fmt::format("pow({},{:.17g})", ahead, m.window);
    };
    rate = fmt::format("({0}>{1:.17g}?{2}:({0}<{3:.17g}?-{4}:0))", v, m.threshold_up_V,
                       speed(up * m.k_up_Hz, m.threshold_up_V, m.alpha_up, window("(1-" + u + ")")), m.threshold_down_V,
                       speed(down * m.k_down_Hz, m.threshold_down_V, m.alpha_down, window(u)));
    current = fmt::format("{}/({:.17g}+{}*{:.17g})", v, m.r_off_ohm, u, m.r_on_ohm - m.r_off_ohm);
  } else {
    const Yakopcic m = yakopcic_of(spec);
    const std::string rises = fmt::format("({0}<{1:.17g}?1:exp(-{2:.17g}*({0}-{1:.17g}))*(1+({1:.17g}-{0})/{3:.17g}))",
                                          u, m.x_up, m.alpha_up, 1 - m.x_up);
    const std::string falls =
        fmt::format("({0}>{1:.17g}?1:exp({2:.17g}*({0}-{1:.17g}))*{0}/{1:.17g})", u, 1 - m.x_down, m.alpha_down);
    rate = fmt::format(
        "({0}>{1:.17g}?{2:.17g}*(exp({0})-{3:.17g})*{4}:({0}<-{5:.17g}?-{6:.17g}*(exp(-{0})-{7:.17g})*{8}:0))", v,
        m.threshold_up_V, up * m.A_up, std::exp(m.threshold_up_V), rises, m.threshold_down_V, down * m.A_down,
        std::exp(m.threshold_down_V), falls);
    current = fmt::format("({0}<0?{1:.17g}:{2:.17g})*{3}*sinh({4:.17g}*{0})", v, m.a2_A, m.a1_A, u, m.b);
  }
  return fmt::format("bmem p n i={}\nbx 0 x i={:.17g}*{}\n", current, kState_F, rate);
}

}  // namespace

std::vector<PulseBlock> read_pulse_blocks(const std::string& text) {
  std::vector<PulseBlock> blocks;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    std::istringstream words(part);
    long long count = 0;
    std::string direction, rest;
    if (!(words >> count >> direction) || (words >> rest) || count < 1 || count > 1000000 ||
        (direction != "up" && direction != "down")) {
      throw UserError(
          fmt::format("pulses \"{}\": \"{}\" is not a block, as in \"100 up, 50 down\" (1 to 1000000)", text, part));
    }
    blocks.push_back({direction == "up" ? Direction::up : Direction::down, static_cast<Index>(count)});
  }
  if (blocks.empty()) throw UserError("pulses \"\": give a block, as in \"100 up, 50 down\"");
  return blocks;
}

PulseShape pulse_shape(const DeviceSpec& spec) {
  if (is_memristor(spec)) {
    const double width = spec.shape_value("pulse_width");
    return {spec.shape_value("pulse_up"), width, -spec.shape_value("pulse_down"), width};
  }
  PulseShape shape;
  const auto take = [](const WritePulse& pulse, double& volts, double& seconds) {
    if (pulse.voltage_V > 0) volts = pulse.voltage_V;
    if (pulse.width_s > 0) seconds = pulse.width_s;
  };
  take(spec.pulse_up, shape.up_V, shape.up_s);
  take(spec.pulse_down, shape.down_V, shape.down_s);
  return shape;
}

std::string device_subcircuit(const DeviceSpec& spec, const std::string& name) {
  if (spec.model == "ideal") {
    throw UserError("device.model = ideal has no bounds and no pulses to simulate in a netlist. Use another model");
  }
  if (const DeviceModel& model = device_model(spec.model); !model.states.empty() && model.netlist == nullptr) {
    throw UserError(fmt::format(
        "device.model = {} has its own states ({}, ...) and no netlist for them. Export an array with fixed "
        "conductances: nudge crossbar --spice",
        spec.model, model.states.front().name));
  }
  return fmt::format(
      "* {}, the mean device, written by nudge; V(x): its state\n.subckt {} p n x x0=0\n{}cx x 0 {:.17g} "
      "ic={{x0}}\n.ends\n",
      spec.model, name, is_memristor(spec) ? memristor_lines(spec) : step_lines(spec), kState_F);
}

std::string pulse_waveform(const PulseShape& shape, const std::vector<PulseBlock>& blocks, double start_s,
                           double read_V, double& end_s) {
  const double period = 2 * std::max(shape.up_s, shape.down_s);
  std::string text = "PWL(0 0";
  Index points = 0;
  const auto point = [&](double time, double volts) {
    text += fmt::format("{}{:.15g} {:.15g}", ++points % 8 == 0 ? "\n+ " : " ", time, volts);
  };
  double at = start_s;
  for (const PulseBlock& block : blocks) {
    const bool up = block.direction == Direction::up;
    const double width = up ? shape.up_s : shape.down_s, volts = up ? shape.up_V : -shape.down_V, edge = kEdge * width;
    for (Index k = 0; k < block.count; ++k, at += period) {  // a width between the middles of its edges
      point(at, 0);
      point(at + edge, volts);
      point(at + width, volts);
      point(at + width + edge, 0);
    }
  }
  end_s = at;
  if (read_V != 0) {
    point(at, 0);
    point(at + period / 4, read_V);
  }
  return text + ")";
}

std::string pulse_netlist(const DeviceSpec& spec, const std::vector<PulseBlock>& blocks) {
  const PulseShape shape = pulse_shape(spec);
  const double period = 2 * std::max(shape.up_s, shape.down_s), start = period / 2;
  double end = 0;
  std::string text = fmt::format("pulses of {} V, {} s up and {} V, {} s down, written by nudge\n", shape.up_V,
                                 shape.up_s, shape.down_V, shape.down_s);
  text += device_subcircuit(spec, "device");
  text += fmt::format("vin in 0 {}\nx1 in 0 state device\n", pulse_waveform(shape, blocks, start, 0, end));
  text += fmt::format(
      ".options reltol=1e-6 abstol=1e-15 vntol=1e-9 method=gear\n.control\nset numdgt=12\ntran {:.17g} {:.17g} 0 "
      "{:.17g} uic\n",
      period / 20, end, std::min(shape.up_s, shape.down_s) / 10);
  double at = start;
  const std::string g = spec.model == "vteam" ? fmt::format("1/({:.17g}+x_now*{:.17g})", 1 / spec.g_min_S,
                                                            1 / spec.g_max_S - 1 / spec.g_min_S)
                                              : fmt::format("{:.17g}+x_now*{:.17g}", spec.g_min_S, spec.window_S());
  for (std::size_t k = 0; k <= blocks.size(); ++k) {
    // Just before the next pulse.
    text +=
        fmt::format("meas tran x_now find v(state) at={:.17g}\nlet g{} = {}\nprint g{}\n", at - period / 100, k, g, k);
    if (k < blocks.size()) at += period * static_cast<double>(blocks[k].count);
  }
  return text + "quit 0\n.endc\n.end\n";
}

}  // namespace nudge
