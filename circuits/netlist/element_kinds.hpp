// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "circuits/netlist/netlist.hpp"
#include "sim/dynamics.hpp"

namespace nudge {

/// Kinds of elements as a set of bits.
constexpr std::uint32_t kind_bit(ElementKind kind) { return 1U << static_cast<unsigned>(kind); }

/// The kinds of elements whose currents are of a part of the force, but for those that sources of voltage carry. Where controlled sources set
/// voltages or carry currents (`reciprocal` of NodeCoordinates is false) nothing is conservative.
constexpr std::uint32_t kinds_of_part(Part part, bool reciprocal) {
  constexpr std::uint32_t conservative =
      kind_bit(ElementKind::resistor) | kind_bit(ElementKind::diode) | kind_bit(ElementKind::current);
  constexpr std::uint32_t rest = kind_bit(ElementKind::vccs) | kind_bit(ElementKind::mosfet);
  if (part == Part::all) return conservative | rest;
  if (part == Part::conservative) return reciprocal ? conservative : 0;
  return reciprocal ? rest : conservative | rest;
}

}  // namespace nudge
