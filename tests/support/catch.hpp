// SPDX-License-Identifier: Apache-2.0
// Catch2 of version 2 (Debian 12) or 3 (Debian 13) under one set of names: those of version 2.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#include <string>

using Catch::Approx;

namespace Catch {

/// Matches a string that holds another one: in version 3, Contains is for ranges.
inline auto Contains(const std::string& part) { return Matchers::ContainsSubstring(part); }
using Matchers::Equals;
using Matchers::StartsWith;

}  // namespace Catch
#else
#include <catch2/catch.hpp>
#endif
