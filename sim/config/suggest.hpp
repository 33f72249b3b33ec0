// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nudge {

/// Number of insertions, deletions, substitutions and swaps of neighbours that turn a into b (optimal string alignment
/// distance: Damerau, Commun. ACM 7:171, 1964), ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to a misspelt name (the first of equals); empty when none is within a third of its length.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

/// "did you mean X?"; "did you mean one of X_a, X_b?" for the beginning of a family's names; or "known: a, b, c".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace nudge
