// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace nudge {

/// "unknown command trian (did you mean train?)" when a word stands where a subcommand must and names none; else "".
std::string unknown_command(const CLI::App& app, const std::vector<std::string>& words);

/// "unknown option --sett (did you mean --set?)" for the first option that the chosen subcommand does not have; else "".
std::string unknown_option_hint(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace nudge
