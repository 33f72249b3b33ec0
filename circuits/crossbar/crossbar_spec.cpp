// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/crossbar_spec.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "circuits/rules/rule_kinds.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

void MappingSpec::validate() const {
  if (!(headroom >= 1 && std::isfinite(headroom))) {
    throw UserError(
        fmt::format("crossbar.headroom = {:g} (must be a finite number >= 1): the room for weights to grow, "
                    "relative to the largest weight",
                    headroom));
  }
  if (!(w_max >= 0 && std::isfinite(w_max))) {
    throw UserError(
        fmt::format("crossbar.w_max = {:g} (must be a finite number >= 0): the largest weight the window "
                    "can hold, or 0 to choose it from the weights",
                    w_max));
  }
  if (scale == ScalePolicy::column && w_max > 0) {
    throw UserError(
        fmt::format("crossbar.scale = column with crossbar.w_max = {:g} (must be auto): every column has the largest "
                    "weight of its own",
                    w_max));
  }
}

void PeripherySpec::load() {
  forward.dac.load(Conversion::to_analog, "crossbar.forward_dac");
  forward.adc.load(Conversion::from_analog, "crossbar.forward_adc");
  transposed.dac.load(Conversion::to_analog, "crossbar.transposed_dac");
  transposed.adc.load(Conversion::from_analog, "crossbar.transposed_adc");
}

void PeripherySpec::validate() const {
  const auto converter = [this](const ConverterSpec& spec, const std::string& key) {
    spec.validate(key);
    if (spec.inl.empty() || spec.range > 0 || ranged_once) return;
    throw UserError(fmt::format(
        "{0}_inl = \"{1}\": a converter that every read ranges anew has no curve of its own. Set {0}_range, or "
        "crossbar.ranging = once",
        key, spec.inl));
  };
  const auto check = [&converter](const PortSpec& port, const std::string& key) {
    converter(port.dac, key + "_dac");
    port.amplifier.validate(key);
    converter(port.adc, key + "_adc");
    if (!(port.driver_noise_V >= 0 && std::isfinite(port.driver_noise_V))) {
      throw UserError(fmt::format("{}_driver_noise = {:g} V (must be finite and >= 0)", key, port.driver_noise_V));
    }
  };
  check(forward, "crossbar.forward");
  check(transposed, "crossbar.transposed");
}

void CrossbarSpec::validate() const {
  device.validate();
  mapping.validate();
  wires.validate();
  periphery.validate();
  programming.validate(device);
  rule.validate();
  check_rule(*this);
  circuit.validate();
  if (device.selector.kind == SelectorKind::threshold && circuit.read_voltage_V < device.selector.voltage_V) {
    throw UserError(
        fmt::format("device.selector_voltage = {:g} V (must be <= circuit.read_voltage = {:g} V): a threshold selector "
                    "that a read does not open lets nothing through",
                    device.selector.voltage_V, circuit.read_voltage_V));
  }
  if (mapping.scale == ScalePolicy::column && periphery.directions == Directions::simultaneous) {
    throw UserError(
        "crossbar.scale = column together with crossbar.directions = simultaneous: the factor of a column is digital, "
        "and lines that are driven and sensed at once have no converter between; take sequential");
  }
  if (device.lines.bias != WriteBias::isolated && programming.update == UpdateScheme::coincidence) {
    throw UserError(
        "crossbar.write_bias together with crossbar.update = coincidence: pulse trains drive all rows and columns at "
        "once, no cell is selected alone; leave the bias isolated");
  }
  // Drives are a few times the read voltage at most; sinh of hundreds would overflow.
  constexpr double steepest = 20;
  if (device.curve.sinh_V > 0 && circuit.read_voltage_V > steepest * device.curve.sinh_V) {
    throw UserError(fmt::format(
        "device.iv_sinh = {:g} V (must be 0, straight, or at least 1/{:g} of circuit.read_voltage = {:g} V): "
        "the current would grow by sinh({:g})",
        device.curve.sinh_V, steepest, circuit.read_voltage_V, circuit.read_voltage_V / device.curve.sinh_V));
  }
}

double physical_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<double>(pages) * static_cast<double>(page) : 0;
}

double array_memory_bytes(Index rows, Index cols, MappingKind kind, std::size_t scalar_bytes) {
  const double arrays = kind == MappingKind::differential || moves_one_way(kind) ? 2 : 1;
  // Per device: 5 kept, 1 target and 1 error while programming; per weight: the weight.
  return (7 * arrays + 1) * static_cast<double>(rows) * static_cast<double>(cols) * static_cast<double>(scalar_bytes);
}

void check_array_memory(Index rows, Index cols, MappingKind kind, std::size_t scalar_bytes, double available,
                        Index copies) {
  const double needed = static_cast<double>(copies) * array_memory_bytes(rows, cols, kind, scalar_bytes);
  if (available == 0 || needed <= available) return;
  if (copies > 1) {
    throw UserError(
        fmt::format("{} arrays of {} x {} weights: need {:.3g} GB, this machine has {:.3g} GB; use "
                    "circuit.tokens = multiplexed (one array), a smaller model (model.channels, "
                    "model.memories, model.tokens) or precision = float",
                    copies, rows, cols, 1e-9 * needed, 1e-9 * available));
  }
  throw UserError(
      fmt::format("crossbar of {} x {} weights: needs {:.3g} GB, this machine has {:.3g} GB; use a smaller model "
                  "(model.channels, model.memories), precision = float, or a mapping with one device per weight",
                  rows, cols, 1e-9 * needed, 1e-9 * available));
}

}  // namespace nudge
