// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nudge {

/// Digits that ship with the project, training/digits.csv: 1797 pictures of 8 x 8 pixels 0 to 16 as CSV, label first.
/// Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak (1998), UCI repository, doi 10.24432/C50P49
/// (its test split), CC BY 4.0. Compiled into the program.
std::string_view default_digits();

/// Text that ships with the project, training/default_text.txt: prose and code of the project itself, frozen so that
/// documented numbers stay reproducible. Compiled into the program.
std::string_view default_text();

}  // namespace nudge
