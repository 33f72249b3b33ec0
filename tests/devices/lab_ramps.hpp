// SPDX-License-Identifier: Apache-2.0
// Ramps of pulses, as files of a lab may hold them.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "devices/fit/pulse_csv.hpp"

namespace nudge::lab {

inline constexpr int pulses = 12;

/// Conductance after pulse n up, from 4 uS, and after pulse n down, from the last of those.
inline double up_uS(int n, double top = 50) { return top - (top - 4) * std::pow(0.9, n); }
inline double down_uS(int n, double top = 50) { return up_uS(pulses, top) * std::pow(0.9, n); }

inline std::string rows(const std::function<std::string(int)>& row, int from = 1) {
  std::string out;
  for (int n = from; n <= pulses; ++n) out += row(n) + "\n";
  return out;
}

/// A table of pulses up and down with the names above it.
inline std::string ramp(const std::string& names, double top) {
  return names + "\n0,," + fmt::format("{:.6f}\n", up_uS(0, top)) +
         rows([&](int n) { return fmt::format("{},up,{:.6f}", n, up_uS(n, top)); }) +
         rows([&](int n) { return fmt::format("{},down,{:.6f}", pulses + n, down_uS(n, top)); });
}

inline std::vector<LabRecord> read(const std::string& text, const std::string& columns = "",
                                   std::string* said = nullptr) {
  TableLook look{columns};
  std::vector<LabRecord> out = parse_lab_csv(text, "a.csv", {}, &look);
  if (said != nullptr) *said = look.understood.at(0).text("");
  return out;
}

inline const std::string names = "pulse,direction,G (uS)";

/// Half of a ramp without names: pulse n of one direction.
inline std::string half(bool up, double top = 50, int from = 0) {
  return rows([&](int n) { return fmt::format("{},{:.6f}", n, up ? up_uS(n, top) : down_uS(n, top)); }, from);
}

}  // namespace nudge::lab
