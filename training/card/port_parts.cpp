// SPDX-License-Identifier: Apache-2.0
#include "training/card/port_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/units.hpp"

namespace nudge {
namespace {

std::string each_text(const ConverterPrice& price) {
  return price.each_J > 0 ? format_quantity(price.each_J, Unit::joule, 4) : "unknown";
}

/// Text of the converters of both ports: one text where they are alike or one port has none.
template <class Text>
std::string of_ports(const PerPort<ConverterPrice>& price, const PerPort<double>& amount, const Text& text) {
  if (price.forward.bits == 0) return text(price.transposed, amount.total());
  if (price.transposed.bits == 0 || price.forward == price.transposed) return text(price.forward, amount.total());
  return fmt::format("forward reads: {}; transposed reads: {}", text(price.forward, amount.forward),
                     text(price.transposed, amount.transposed));
}

}  // namespace

std::optional<double> priced_ports(const PortCounts& counts, const PerPort<double>& each_J) {
  if (!counts.all || !(each_J.total() > 0)) return std::nullopt;
  if (!counts.transposed) return *counts.all * std::max(each_J.forward, each_J.transposed);
  return (*counts.all - *counts.transposed) * each_J.forward + *counts.transposed * each_J.transposed;
}

PerPort<double> energies(const PerPort<ConverterPrice>& price) {
  return {price.forward.each_J, price.transposed.each_J};
}

PerPort<double> converting(const PerPort<ConverterPrice>& price, const PerPort<double>& each) {
  return {price.forward.bits > 0 ? each.forward : 0, price.transposed.bits > 0 ? each.transposed : 0};
}

std::string no_ports_note(const PortCounts& counts, const PerPort<double>& each_J) {
  const bool one_price = each_J.forward == each_J.transposed || each_J.forward == 0 || each_J.transposed == 0;
  if (!counts.all || counts.transposed || one_price) return "";
  return "; an earlier version wrote this file, without the port of each conversion: all have the larger price";
}

std::optional<CostPart> adder_part(const ChipPrices& prices, const TileLines& tiles, const ChipOptions& chip,
                                   const CardCounts& counts) {
  const PerPort<double> amount = converting(prices.adc, tiles.adders);
  PerPort<double> each_J = {};
  double all_m2 = 0;
  std::string source;
  for (const auto& [way, name] :
       {std::pair{ReadDirection::forward, "forward"}, std::pair{ReadDirection::transposed, "transposed"}}) {
    if (amount.at(way) == 0) continue;
    const int bits = sum_bits(prices.adc.at(way).bits, tiles.most_terms.at(way));
    each_J.at(way) = adder_energy_J(bits, chip.node_m, chip.supply_V);
    all_m2 += amount.at(way) * adder_area_m2(bits, chip.node_m);
    source += fmt::format("{}{:g} of {} reads: {} an addition of {} bits", source.empty() ? "" : "; ", amount.at(way),
                          name, format_quantity(each_J.at(way), Unit::joule, 4), bits);
  }
  if (source.empty()) return std::nullopt;
  source += "; Horowitz, ISSCC 2014, 45 nm, scaled as F V^2";
  if (chip.supply_V == 0) source += " at its 0.9 V (chip.supply)";
  return CostPart{"adders of partial sums", priced_ports(counts.inference.partial_sums, each_J),
                  priced_ports(counts.step.partial_sums, each_J), all_m2,
                  source + no_ports_note(counts.step.partial_sums, each_J)};
}

std::string dac_source(const ChipPrices& prices, const PerPort<double>& amount, const CircuitSpec& circuit) {
  const bool key = circuit.dac_energy_J.forward > 0;
  const char* from = key ? "circuit.dac_energy" : "chip.dac_unit_capacitance, chip.supply";
  return of_ports(prices.dac, amount, [&](const ConverterPrice& price, double count) {
    return fmt::format("{} a conversion ({}), {} bits; {:g} of them, one for each driven line of a tile",
                       each_text(price), from, price.bits, count);
  });
}

std::string adc_source(const ChipPrices& prices, const PerPort<double>& amount, const ChipOptions& chip,
                       const CircuitSpec& circuit) {
  const bool survey = circuit.adc_energy_J.forward == 0 && chip.described() && chip.adc_step_J == 0;
  const char* from = survey                                                  ? "survey of ADCs, arXiv:2404.06553"
                     : circuit.adc_energy_J.forward > 0 || !chip.described() ? "circuit.adc_energy"
                                                                             : "chip.adc_step_energy";
  const std::string text = of_ports(prices.adc, amount, [&](const ConverterPrice& price, double count) {
    std::string out = fmt::format("{} a conversion ({}), {} bits", each_text(price), from, price.bits);
    if (survey && price.bits < survey_least_bits) {
      out += fmt::format(" at the price of {}, the fewest of the survey", survey_least_bits);
    }
    if (!chip.described()) return out;
    return out + fmt::format("; {:g} of them, one for {:g} sensed lines of a tile (chip.lines_per_adc), at {} ({})",
                             count, price.lines, format_quantity(price.rate_Hz, Unit::hertz, 4),
                             chip.adc_rate_Hz > 0 ? "chip.adc_rate" : "all of them in a read");
  });
  if (!chip.described()) return text;
  return text + (chip.adc_um2 > 0 ? "; area: chip.adc_area" : "; area: the survey");
}

}  // namespace nudge
