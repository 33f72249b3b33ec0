// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>

namespace nudge {

// Whatever stands in the text, a file's control characters never reach a terminal: everything is written printable()
// (sim/base/text.hpp).

/// Writes to standard error. What cannot be written there (a closed stream, a full disk behind a log) is lost and never
/// ends the work that it tells of; so is what nobody reads while the program is asked to stop.
void say_text(const std::string& text);

/// The same over the line that stands on the terminal, at once.
void say_over(const std::string& text);

template <class... T>
void say(fmt::format_string<T...> form, T&&... values) {
  say_text(fmt::format(form, std::forward<T>(values)...));
}

/// Writes results to standard output; what cannot be written is found by finish_answer().
void answer_text(const std::string& text);

template <class... T>
void answer(fmt::format_string<T...> form, T&&... values) {
  answer_text(fmt::format(form, std::forward<T>(values)...));
}

/// Results that a reader in a pipe is to see at once.
void answer_now(const std::string& text);

/// The end of all results: whether every one of them is written. Says so on standard error when not, but for a reader that
/// has gone (a pipe into head).
bool finish_answer();

}  // namespace nudge
