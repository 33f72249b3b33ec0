// SPDX-License-Identifier: Apache-2.0
// What one product of an array takes: a forward read of many inputs, metered.
#include <cmath>

#include "apps/commands/crossbar_parts.hpp"
#include "circuits/energy.hpp"
#include "training/config/assembly.hpp"
#include "training/config/chip_options.hpp"

namespace nudge {
namespace {

/// Inputs of a product. Multiples of the golden ratio, modulo 1, are even in [0, 1) and need no seed.
Matrix<double> even_inputs(Index products, Index lines, bool bits) {
  const double ratio = 0.5 * (std::sqrt(5.0) - 1);
  Matrix<double> out(products, lines);
  for (Index i = 0; i < out.size(); ++i) {
    const double u = std::fmod((static_cast<double>(i) + 0.5) * ratio, 1.0);
    out.data()[i] = bits ? (u < 0.25 ? -1 : u < 0.5 ? 1 : 0) : 2 * u - 1;
  }
  return out;
}

}  // namespace

ProductRead product_read(const Config& config) {
  const double pulses = chip_section().read(config).input_pulses;
  return {read_slot_s(config) / circuit_spec(config).time_constant_s, pulses > 1};
}

CardCounts product_counts(const std::string& name, const Crossbar<double>& array, const ProductRead& read,
                          const CircuitSpec& circuit) {
  constexpr Index products = 256;
  const Index rows = array.weights().rows(), columns = array.weights().cols();
  ReadMeter meter;
  ReadContext context;
  context.meter = &meter;
  context.kind = ReadClass::free;
  context.policy = ReadPolicy::all_ideal();
  context.relaxation = {read.time_constants, read.time_constants};
  Matrix<double> out(products, columns);
  array.forward(even_inputs(products, rows, read.bits), out, {0, columns}, Store::assign, context);
  const ReadTotals all = meter.total();
  const auto each = [](double total) { return total / static_cast<double>(products); };
  CardCounts counts;
  counts.product = true;
  counts.devices = static_cast<double>(array.plus().conductance().size() + array.minus().conductance().size());
  counts.arrays[name] = {rows, columns};
  counts.inference.array_J = each(all.array_J);
  const auto forward = [&](const PerPort<std::uint64_t>& count) {
    return PortCounts{each(static_cast<double>(count.forward)), 0};
  };
  counts.inference.dac_conversions = forward(all.dac_conversions);
  counts.inference.adc_conversions = forward(all.adc_conversions);
  counts.inference.partial_sums = forward(all.partial_sums);
  counts.inference.amplifier_s = each(all.amplifier_s);
  counts.inference.driven_V2 = each(all.cell_V2);
  counts.inference.cells = each(all.cells);
  counts.inference_s = seconds(read.time_constants, circuit);
  return counts;
}

}  // namespace nudge
