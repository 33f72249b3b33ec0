// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace nudge {

/// Seconds since 1970 (UTC) of a date with a time, as instruments write them: "2026-01-31 14:05", "2026-01-31T14:05:09.25Z",
/// "2026/01/31 14:05:09", "2026-01-31T14:05:09+01:00" (ISO 8601). Without a zone UTC is taken, which falls out of differences.
/// Nothing for other texts; days before months or after them, "31/01/2026", are not guessed.
std::optional<double> time_stamp_s(const std::string& cell);

/// True of seconds that count from 1970: from 2001 to 2128. No measurement takes so long.
inline bool is_unix_time(double seconds) { return seconds >= 1e9 && seconds <= 5e9; }

}  // namespace nudge
