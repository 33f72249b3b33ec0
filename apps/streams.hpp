// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>

namespace nudge {

// Whatever stands in the text, a file's control characters never reach a terminal: everything is written printable()
// (sim/base/text.hpp).

/// Writes to standard error. Text that cannot be written (a closed stream, a full disk behind a log) is lost and never
/// ends the work that it reports on. Text that nobody reads while the program is asked to stop is lost too.
void say_text(const std::string& text);

/// Writes to standard error at once, over the current line of the terminal, cut to its width. A text that ends with a
/// line feed stays, whole.
void say_over(const std::string& text);

template <class... T>
void say(fmt::format_string<T...> form, T&&... values) {
  say_text(fmt::format(form, std::forward<T>(values)...));
}

/// Writes results to standard output; finish_answer() finds what cannot be written.
void answer_text(const std::string& text);

template <class... T>
void answer(fmt::format_string<T...> form, T&&... values) {
  answer_text(fmt::format(form, std::forward<T>(values)...));
}

/// Writes results that a reader in a pipe should see at once.
void answer_now(const std::string& text);

/// Ends the results and returns true if all of them are written. Otherwise says so on standard error, except for a
/// reader that has gone (a pipe into head).
bool finish_answer();

}  // namespace nudge
