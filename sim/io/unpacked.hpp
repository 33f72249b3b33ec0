// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/base/bounded_read.hpp"

namespace nudge {

/// Bytes of a file, unpacked if they are a .gz (RFC 1952) or a .xz (tukaani.org, The .xz File Format). The first bytes tell
/// which. UserError "WHAT: the .gz is truncated …", and where there are more bytes than `bound`.
std::string unpacked(std::string bytes, const std::string& what, const ReadBound& bound = read_bound());

}  // namespace nudge
