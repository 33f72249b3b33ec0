// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "circuits/chip/part_laws.hpp"
#include "training/card/cost_card.hpp"
#include "training/config/chip_prices.hpp"

namespace nudge {

/// Energy of operations of both ports at so much for each. Where the file tells no ports apart, all have the larger price: the rule of
/// the versions that wrote such files. Nothing: not counted, or no price.
std::optional<double> priced_ports(const PortCounts& counts, const PerPort<double>& each_J);

/// Energy of a conversion, by port.
PerPort<double> energies(const PerPort<ConverterPrice>& price);

/// Amounts of the ports that convert, of what each has; 0 of an ideal port.
PerPort<double> converting(const PerPort<ConverterPrice>& price, const PerPort<double>& each);

/// Says of a file of an earlier version how its operations are priced, where that matters; else empty.
std::string no_ports_note(const PortCounts& counts, const PerPort<double>& each_J);

/// Adders of the numbers of tiles, behind the converters of each port and as wide as their sums. Nothing: one tile is one sum.
std::optional<CostPart> adder_part(const ChipPrices& prices, const TileLines& tiles, const ChipOptions& chip,
                                   const CardCounts& counts);

/// Source of the price of digital-to-analog converters, of which each port has so many.
std::string dac_source(const ChipPrices& prices, const PerPort<double>& amount, const CircuitSpec& circuit);
/// Source of the prices of analog-to-digital converters.
std::string adc_source(const ChipPrices& prices, const PerPort<double>& amount, const ChipOptions& chip,
                       const CircuitSpec& circuit);

}  // namespace nudge
