// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "training/benchmark/entry.hpp"

namespace nudge {

/// JSON of an entry; numbers that are not known are null. entry_from() takes it back.
nlohmann::json json_of(const BenchmarkEntry& entry);
/// Entry of a JSON object. UserError that starts with `where`: no entry, or a list of another length than the seeds.
BenchmarkEntry entry_from(const nlohmann::json& json, const std::string& where);

/// Entries that ship with the program: results/benchmark/*.json.
std::vector<BenchmarkEntry> shipped_zoo();
/// Entries of all .json files of a folder, in the order of their names. UserError: no folder, or a file that is no
/// entry.
std::vector<BenchmarkEntry> zoo_in(const std::filesystem::path& folder);

/// Adds entries to a zoo. An entry of the same name, settings and digest takes the place of the one before.
void join_zoo(std::vector<BenchmarkEntry>& zoo, const std::vector<BenchmarkEntry>& more);

}  // namespace nudge
