// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nudge::test {

/// A small config of settings ("key=value") that the table takes one by one, drawn from its choices, ranges, flags and lists: a
/// function of the seed on every machine. About half name a network and a task that go together, which most drawn at random do not.
std::vector<std::string> drawn_settings(std::uint64_t seed);

/// The settings as one command line.
std::string command_line(const std::vector<std::string>& settings);

}  // namespace nudge::test
