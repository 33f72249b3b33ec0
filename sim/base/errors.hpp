// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace nudge {

/// Exit codes of the program: 0 ok, 1 our bug, 2 the user's input, 3 numerical failure.
enum class ExitCode : int { ok = 0, bug = 1, user_input = 2, numerical_failure = 3 };

/// The user's input is wrong: config, file, option. The message names where, what, the rule broken, and what to do.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A computation failed for a numerical reason that the caller cannot act on (every run diverged, a reference did not
/// converge). Outcomes that a caller can act on are Status values instead.
class NumericalFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A contract was broken: a bug of ours, never the user's input.
class ContractViolation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] inline void contract_violated(const char* condition, const char* file, int line) {
  throw ContractViolation(std::string(file) + ":" + std::to_string(line) + ": contract violated: " + condition);
}

}  // namespace nudge

/// Contract on a caller of ours, checked in the dev, asan and tsan presets.
#ifdef NUDGE_CONTRACTS
#define NUDGE_EXPECT(condition) \
  ((condition) ? static_cast<void>(0) : ::nudge::contract_violated(#condition, __FILE__, __LINE__))
#else
#define NUDGE_EXPECT(condition) static_cast<void>(0)
#endif
