// SPDX-License-Identifier: Apache-2.0
// Which keys a configuration reads. A key belongs to what reads it: a kind of network, an optimizer, an effect that is switched on. Its row
// carries the conditions, so that no list of readers stands beside the table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace nudge {

/// The key has one of these values.
Condition chosen(std::string key, std::vector<std::string> values);
/// The number is above 0.
Condition above_zero(std::string key);
/// The flag is true.
Condition switched_on(std::string key);
/// One of the keys is not at its default.
Condition any_changed(std::vector<std::string> keys);

/// The row, or all rows of a table, of keys that are read only where the condition holds, beside those that they have.
ParamRow read_with(const Condition& condition, ParamRow row);
ParamTable read_with(const Condition& condition, ParamTable table);

/// Adds rows to a table. A key that is there already is read by what read it and by what reads the new row. Rows of one section stay together.
void add_rows(ParamTable& table, const ParamTable& more);

/// The rows whose keys are not in the other table.
ParamTable rows_beside(const ParamTable& table, const ParamTable& other);

/// Why nothing reads a key: "train.optimizer = adam; sgd would". Empty: it is read. Conditions that are `excused` count as fulfilled.
std::string why_unread(const Config& config, const std::string& key,
                       const std::function<bool(const Condition&)>& excused = nullptr);

inline bool reads(const Config& config, const std::string& key) { return why_unread(config, key).empty(); }

/// "a, b or c", each once.
std::string alternatives_text(const std::vector<std::string>& names);

/// Throws UserError, a line each, for keys that are set and that nothing reads, with the choices that would read them.
/// Conditions that refuse always apply to all; otherwise these keys are not refused:
/// - a key set before the choice that leaves it unread: `--set network.kind=transformer` of a file for another network;
/// - a key under a choice that a sweep or a comparison makes (`varies`);
/// - the keys of a file that sets most of them, such as files of results and `nudge config dump`.
void expect_keys_read(const Config& config, const std::function<bool(const std::string& choice)>& varies);

/// Keys that were set, or that vary, and that conditions with a warning leave unread.
std::vector<std::string> idle_keys(const Config& config, const std::function<bool(const std::string& key)>& varies);

}  // namespace nudge
