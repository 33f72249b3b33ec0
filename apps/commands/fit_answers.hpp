// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

#include "devices/fit/long_table.hpp"
#include "devices/fit/pulse_likelihood.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

/// The two ends of an interval; an open end is null.
nlohmann::ordered_json ends_json(const std::optional<double>& low, const std::optional<double>& high);

/// Numbers of a fit with their intervals.
nlohmann::ordered_json numbers_json(const std::vector<FittedNumber>& numbers);

/// What was read in the files of a fit, as JSON and as comments of TOML.
nlohmann::ordered_json understood_json(const TableLook& look);
std::string understood_text(const TableLook& look);

/// What `read` returns; its errors say what was understood before.
template <class Read>
auto read_and_tell(const TableLook& look, Read&& read) {
  try {
    return read();
  } catch (const UserError& error) {
    std::string understood;
    for (const Understood& one : look.understood) understood += one.text("  understood: ");
    if (understood.empty()) throw;
    understood.pop_back();
    throw UserError(fmt::format("{}\n{}", error.what(), understood));
  }
}

}  // namespace nudge
