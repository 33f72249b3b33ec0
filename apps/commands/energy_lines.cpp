// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/energy_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "sim/base/units.hpp"

namespace nudge {
namespace {

// Round figures that show how large an item would be; none of them is a claim about a circuit.
constexpr double example_J = 1e-12;
constexpr double example_W = 1e-6;
constexpr double example_F = 0.1e-15;

std::string joules(double energy) { return format_quantity(energy, Unit::joule, 3); }

}  // namespace

std::string tokens_text(const TrainSummary& s) {
  if (!s.metric.empty()) return "one sample after the other";
  if (s.token_use == "replicated") return fmt::format("T = {} replicas of each array", s.tokens);
  if (s.token_use == "shared") return fmt::format("{} tokens at once on one array, an idealisation", s.tokens);
  return fmt::format("{} tokens by turns", s.tokens);
}

std::string energy_lines(const StepEnergy& e) {
  std::vector<std::string> counted = {"arrays " + joules(e.items.arrays_J)};
  std::vector<std::string> missing;
  const auto item = [&](const char* name, double energy, double amount, const std::string& otherwise) {
    if (energy > 0) {
      counted.push_back(fmt::format("{} {}", name, joules(energy)));
    } else if (amount > 0) {
      missing.push_back(fmt::format("{} ({})", name, otherwise));
    }
  };
  item("converters", e.items.conversions_J(), e.lines,
       fmt::format("{:.3g} lines driven and sensed: {} at 1 pJ a conversion; circuit.dac_energy, circuit.adc_energy",
                   e.lines, joules(e.lines * example_J)));
  item("amplifiers", e.items.amplifiers_J, e.amplifier_s,
       fmt::format("{} at 1 uW each; circuit.amplifier_power", joules(e.amplifier_s * example_W)));
  item("drivers", e.items.drivers_J, e.cell_V2,
       fmt::format("{} at 0.1 fF a device; circuit.line_capacitance", joules(e.cell_V2 * example_F)));
  if (e.pulses_known) {
    counted.push_back("writes " + joules(e.items.writes_J));
  } else {
    missing.emplace_back("writes (the device's pulses are not known)");
  }
  if (e.items.verify_J > 0) counted.push_back("verify reads " + joules(e.items.verify_J));
  if (e.items.transfers_J > 0) counted.push_back("transfers " + joules(e.items.transfers_J));
  item("digital work", e.items.digital_J, e.operations,
       fmt::format("{:.3g} operations: {} at 1 pJ; circuit.digital_energy", e.operations,
                   joules(e.operations * example_J)));
  std::string lines = fmt::format("energy per step: {}\n", fmt::join(counted, ", "));
  if (!missing.empty()) lines += fmt::format("not counted: {}\n", fmt::join(missing, ", "));
  return lines;
}

}  // namespace nudge
