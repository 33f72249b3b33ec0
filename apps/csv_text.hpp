// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nudge {

/// A field of a CSV file: in quotes, with inner ones doubled, when it holds a comma, a quote or a line break (RFC 4180).
std::string csv_field(const std::string& text);

}  // namespace nudge
