// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "training/compare/compare.hpp"
#include "training/compare/protocol.hpp"

namespace nudge {

/// Every entrant at its choice() of a tuning that has ended: all points of it, in the order entrants × combinations × seeds; empty
/// where the grid is one place.
std::vector<ComparedEntrant> chosen_entrants(const CompareProtocol& protocol, const Sweep& tuning);

/// Counts, means and differences of the test runs there are, for each of the entrants.
void summarise(const CompareProtocol& protocol, const Sweep& test, std::vector<ComparedEntrant>& entrants);

}  // namespace nudge
