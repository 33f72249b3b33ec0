// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nudge {

/// The text that ships with the project, training/default_text.txt: prose and code of the project itself, frozen so that
/// documented numbers stay reproducible. Compiled into the program.
std::string_view default_text();

}  // namespace nudge
