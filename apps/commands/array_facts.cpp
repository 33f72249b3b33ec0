// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/crossbar_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/streams.hpp"
#include "circuits/crossbar/mapping.hpp"
#include "circuits/energy.hpp"
#include "circuits/wires/solvers.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

Matrix<double> first_tile(const Matrix<double>& conductance_S, const TileSpec& tiles) {
  const Index rows = tiles.rows > 0 ? std::min(tiles.rows, conductance_S.rows()) : conductance_S.rows();
  const Index cols = tiles.columns > 0 ? std::min(tiles.columns, conductance_S.cols()) : conductance_S.cols();
  return conductance_S.topLeftCorner(rows, cols);
}

/// Measures sneak currents where lines float, or a selector lets them.
void measure_sneak(const Matrix<double>& conductance_S, const CrossbarSpec& spec, ArrayFacts& f) {
  const SelectorSpec& selector = spec.device.selector;
  const bool gated = selector.kind == SelectorKind::transistor;
  if (gated || (!selector.any() && spec.programming.lines == VerifyLines::grounded)) return;
  const Matrix<double> tile = first_tile(conductance_S, spec.tiles);
  const bool joined = (tile.rowwise().sum().array() > 0).all() && (tile.colwise().sum().array() > 0).all();
  if (!joined || tile(0, tile.cols() - 1) == 0) {
    return say("note: {}: a cell or line without conductance has no sneak current to compare\n", f.name);
  }
  f.sneak = sneak_share(tile, {spec.device.curve, selector}, spec.wires, spec.circuit.read_voltage_V);
}

/// What programming took, from the readings of an array; nothing where it sent no pulses.
std::optional<WriteFacts> write_facts(const Crossbar<double>& array, const CrossbarSpec& spec) {
  const std::vector<MapReading> readings = array.readings();
  const auto of = [&readings](const char* name) {
    const auto at = std::find_if(readings.begin(), readings.end(), [&](const MapReading& r) { return r.name == name; });
    return at == readings.end() ? 0.0 : at->value;
  };
  WriteFacts w;
  w.pulses = of("programming_pulses");
  w.reads = of("programming_reads");
  if (w.pulses + w.reads == 0) return std::nullopt;
  w.verified = of("verified");
  w.failures = of("write_failures");
  w.error_mean = of("write_error_mean");
  w.error_rms = of("write_error_rms");
  w.pulses_J = of("programming_energy");
  w.pulses_s = of("programming_time");
  w.reads_J = of("programming_reads_energy");
  w.reads_s = w.reads * spec.programming.read_time * spec.circuit.time_constant_s;
  return w;
}

void print_writes(const ArrayFacts& f) {
  if (!f.writes) return;
  const WriteFacts& w = *f.writes;
  answer("programming, {}: {:.4g} pulses{} a device; error {:.4g} % rms, {:.4g} % mean, of the window{}\n", f.name,
         w.pulses / f.devices, w.reads > 0 ? fmt::format(" and {:.4g} reads", w.reads / f.devices) : "",
         100 * w.error_rms, 100 * w.error_mean,
         w.verified > 0 ? fmt::format("; {:.0f} of {:.0f} devices failed", w.failures, w.verified) : "");
  const auto cost = [](double joules, double seconds) {
    return format_quantity(joules, Unit::joule, 4) + " and " + format_quantity(seconds, Unit::second, 4);
  };
  const std::string pulses = w.pulses_s > 0 ? "pulses " + cost(w.pulses_J, w.pulses_s)
                                            : "pulses unknown (device.pulse_voltage_up, pulse_width_up, ...)";
  answer("writing the whole array, one device after the other: {}{}\n", pulses,
         w.reads > 0 ? "; verify reads " + cost(w.reads_J, w.reads_s) : "");
}

nlohmann::json writes_json(const WriteFacts& w) {
  const auto known = [&](double value) { return w.pulses_s > 0 ? nlohmann::json(value) : nlohmann::json(nullptr); };
  return {{"pulses", w.pulses},      {"pulses_J", known(w.pulses_J)}, {"pulses_s", known(w.pulses_s)},
          {"verify_reads", w.reads}, {"verify_J", w.reads_J},         {"verify_s", w.reads_s},
          {"verified", w.verified},  {"failures", w.failures},        {"error_mean", w.error_mean},
          {"error_rms", w.error_rms}};
}

/// The circuit with the bandwidth that amplifiers have behind a line of this load, where none is set.
CircuitSpec driven(CircuitSpec circuit, double load) {
  if (circuit.amplifier_bandwidth_Hz == 0) circuit.amplifier_bandwidth_Hz = closed_loop_bandwidth_Hz(circuit, load);
  return circuit;
}

double heaviest(const std::vector<ArrayFacts>& all) {
  double load = 0;
  for (const ArrayFacts& f : all) load = std::max(load, f.load);
  return load;
}

/// Formats a share; a dash for an array whose weights are all 0, which has none.
std::string percent_text(double share) { return std::isfinite(share) ? fmt::format("{:.3f}%", 100 * share) : "-"; }

/// Compares the currents of the first tile of the positive devices, with all rows at the read voltage. Newton's method
/// finds them on all nodes: with straight devices, and with a read's approximation of the curve (the straight network,
/// driven harder).
void compare_curve(const Matrix<double>& conductance_S, const CrossbarSpec& spec, ArrayFacts& f) {
  const CurrentCurve& curve = spec.device.curve;
  if (curve.linear()) return;
  const Matrix<double> tile = first_tile(conductance_S, spec.tiles);
  const double volts = spec.circuit.read_voltage_V;
  const auto exact = NonlinearSolver(tile, curve, spec.wires).solve(Matrix<double>::Constant(1, tile.rows(), volts));
  if (exact.status != Status::converged) throw NumericalFailure(f.name + ": the curved devices have not been solved");
  const Matrix<double> straight = effective_conductance(tile, spec.wires, {}, spec.threads).colwise().sum() * volts;
  if (straight.norm() == 0 || exact.currents_A.norm() == 0) return;  // no current to be off of
  f.curve = (exact.currents_A - straight).norm() / straight.norm();
  f.curve_missed = (exact.currents_A - straight * (curve.current(volts) / volts)).norm() / exact.currents_A.norm();
}

/// Converter of measured INL by its key.
struct MeasuredConverter {
  const char* key;
  const ConverterSpec* spec;
};

std::vector<MeasuredConverter> measured_converters(const PeripherySpec& ports) {
  std::vector<MeasuredConverter> all = {{"crossbar.forward_dac_inl", &ports.forward.dac},
                                        {"crossbar.forward_adc_inl", &ports.forward.adc},
                                        {"crossbar.transposed_dac_inl", &ports.transposed.dac},
                                        {"crossbar.transposed_adc_inl", &ports.transposed.adc}};
  std::erase_if(all, [](const MeasuredConverter& one) { return one.spec->table == nullptr; });
  return all;
}

}  // namespace

ArrayFacts array_facts(const std::string& name, const Crossbar<double>& array, const Matrix<double>& nominal,
                       const CrossbarSpec& spec) {
  ArrayFacts f{name, nominal.rows(), nominal.cols()};
  f.w_max = array.w_max();
  f.siemens_per_weight = array.siemens_per_weight();
  f.weight_error = (array.weights() - nominal).norm() / nominal.norm();
  // A white input x gives a product of variance |x|² |W|_F²/(N M) and noise of variance d σ² |x|²/k² per output, d the
  // devices of a weight, its reference included.
  const double rms_weight = array.weights().norm() / std::sqrt(static_cast<double>(nominal.size()));
  const bool alone = spec.mapping.kind == MappingKind::offset || spec.mapping.kind == MappingKind::single;
  const double devices = alone ? 1 : 2;
  const double uniform =
      spec.device.selector.any() ? 0 : devices * spec.device.uniform_read_S2() / std::pow(f.siemens_per_weight, 2);
  const double of_state = array.view().variance.size() > 0 ? array.view().variance.mean() : 0;
  f.read_noise = std::sqrt(uniform + of_state) / rms_weight;
  const CellScale scale(spec.device, spec.circuit.read_voltage_V);
  f.ir_drop = worst_ir_drop(scale.cells<double>(array.plus().conductance()), spec.wires, spec.tiles);
  f.devices = static_cast<double>(array.plus().conductance().size() + array.minus().conductance().size());
  f.power_W = unit_drive_power_W(array.view(), f.siemens_per_weight, spec.circuit);
  f.load = array.traits().line_load;
  compare_curve(array.plus().conductance(), spec, f);
  measure_sneak(array.plus().conductance(), spec, f);
  f.writes = write_facts(array, spec);
  f.mean_conductance_S = (array.plus().conductance().sum() + array.minus().conductance().sum()) / f.devices;
  return f;
}

void print_facts(const std::vector<ArrayFacts>& all, const CircuitSpec& circuit, const CircuitFacts& facts) {
  answer("{:<8} {:>16} {:>10} {:>12} {:>13} {:>12} {:>9} {:>11} {:>11}\n", "array", "devices", "w_max", "scale",
         "weight error", "device noise", "IR drop", "mean G", "power");
  for (const ArrayFacts& f : all) {
    answer("{:<8} {:>16} {:>10.4f} {:>12} {:>13} {:>12} {:>9.3f} {:>11} {:>11}\n", f.name,
           fmt::format("{}x{}: {:.0f}", f.rows, f.columns, f.devices), f.w_max,
           format_quantity(f.siemens_per_weight, Unit::siemens, 4), percent_text(f.weight_error),
           percent_text(f.read_noise), f.ir_drop, format_quantity(f.mean_conductance_S, Unit::siemens, 4),
           format_quantity(f.power_W, Unit::watt, 4));
  }
  answer(
      "weight error: |W_device - W|/|W| after programming and wires; device noise: of reads, without drivers and\n"
      "amplifiers, rms over the rms product of a white input, per sqrt(tau); IR drop: L of the worst tile, up to L/(1 "
      "+ L) of the signal is lost;\n"
      "power: heat of a read through wires and selectors, for independent drives of rms 1\n");
  const std::string phase =
      facts.phase_s ? fmt::format(": a free phase takes {}", format_quantity(*facts.phase_s, Unit::second, 4)) : "";
  answer("circuit: {} stands for 1, tau = {}{}; thermal noise of a node of {}: {} rms\n",
         format_quantity(circuit.read_voltage_V, Unit::volt, 4),
         format_quantity(circuit.time_constant_s, Unit::second, 4), phase,
         format_quantity(circuit.node_capacitance_F, Unit::farad, 4),
         format_quantity(facts.node_noise_V, Unit::volt, 3));
  const double load = heaviest(all);
  if (const double lag = amplifier_lag(driven(circuit, load)); lag > 0) {
    answer("amplifiers: a lag of {:.3g} tau", lag);
    if (circuit.amplifier_bandwidth_Hz > 0) {
      answer("; the heaviest line asks for a gain-bandwidth product of {}\n",
             format_quantity((1 + load) * circuit.amplifier_bandwidth_Hz, Unit::hertz, 3));
    } else {
      answer(": {} of gain-bandwidth leave the heaviest line, of a noise gain of {:.3g}, a bandwidth of {}\n",
             format_quantity(circuit.gain_bandwidth_Hz, Unit::hertz, 3), 1 + load,
             format_quantity(closed_loop_bandwidth_Hz(circuit, load), Unit::hertz, 3));
    }
  }
  for (const ArrayFacts& f : all) {
    if (f.curve == 0) continue;
    answer(
        "curved devices, {}: currents at the read voltage {:.3g} % off straight ones; reads behind wires miss {:.2g} "
        "%\n",
        f.name, 100 * f.curve, 100 * f.curve_missed);
  }
  for (const ArrayFacts& f : all) {
    if (!f.sneak) continue;
    answer("one cell alone, {}: with all other lines floating its read carries {:.3g} % more than itself\n", f.name,
           100 * *f.sneak);
  }
  for (const ArrayFacts& f : all) print_writes(f);
  for (const ArrayFacts& f : all) {
    if (f.ir_drop > 0.5)
      say("warning: {}: resistance of wires, drivers and amplifiers makes this array nearly useless; cut it into "
          "tiles\n",
          f.name);
  }
}

void print_converters(const PeripherySpec& periphery) {
  for (const auto& [key, spec] : measured_converters(periphery)) {
    const ConverterErrors e = spec->table->errors();
    std::string odd;
    if (e.missing > 0) odd = fmt::format("; {} of {} codes are missing", e.missing, 2 * spec->table->top() + 1);
    if (e.backward > 0) odd = fmt::format("; {} steps go backward", e.backward);
    answer("{} = {}: INL {:.3g} to {:.3g} LSB, DNL {:.3g} to {:.3g} LSB{}\n", key, spec->inl, e.inl_low, e.inl_high,
           e.dnl_low, e.dnl_high, odd);
  }
}

nlohmann::json converters_json(const PeripherySpec& periphery) {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& [key, spec] : measured_converters(periphery)) {
    const ConverterErrors e = spec->table->errors();
    all.push_back({{"key", key},
                   {"file", spec->inl},
                   {"bits", spec->bits},
                   {"inl_LSB", {e.inl_low, e.inl_high}},
                   {"dnl_LSB", {e.dnl_low, e.dnl_high}},
                   {"missing_codes", e.missing},
                   {"backward_steps", e.backward}});
  }
  return all;
}

nlohmann::json facts_json(const std::vector<ArrayFacts>& all, const CircuitSpec& circuit, const CircuitFacts& facts) {
  nlohmann::json arrays = nlohmann::json::array();
  for (const ArrayFacts& f : all) {
    arrays.push_back({{"name", f.name},
                      {"rows", f.rows},
                      {"columns", f.columns},
                      {"devices", f.devices},
                      {"w_max", f.w_max},
                      {"siemens_per_weight", f.siemens_per_weight},
                      {"weight_error", f.weight_error},
                      {"read_noise", f.read_noise},
                      {"ir_drop", f.ir_drop},
                      {"mean_conductance_S", f.mean_conductance_S},
                      {"power_W", f.power_W},
                      {"largest_load", f.load},
                      {"curve", f.curve},
                      {"curve_missed", f.curve_missed}});
    if (f.sneak) arrays.back()["sneak"] = *f.sneak;
    if (f.writes) arrays.back()["writes"] = writes_json(*f.writes);
  }
  nlohmann::json out = {{"arrays", arrays},
                        {"circuit",
                         {{"read_voltage_V", circuit.read_voltage_V},
                          {"time_constant_s", circuit.time_constant_s},
                          {"node_noise_V", facts.node_noise_V},
                          {"amplifier_lag", amplifier_lag(driven(circuit, heaviest(all)))}}}};
  if (facts.phase_s) out["circuit"]["free_phase_s"] = *facts.phase_s;
  return out;
}

}  // namespace nudge
