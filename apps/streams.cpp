// SPDX-License-Identifier: Apache-2.0
#include "apps/streams.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "apps/columns.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/text.hpp"

namespace nudge {
namespace {

int first_error = 0;  ///< errno of the first write to standard output that failed

void note_failure() {
  if (first_error == 0) first_error = errno != 0 ? errno : EIO;
}

/// Waits until a line of up to a page can be written without waiting for a reader; false: not. A reader who does not
/// read (a pager; mpirun while it ends its ranks) holds a run up, but not one that was asked to stop and has something
/// to save.
bool has_room() {
  pollfd error{STDERR_FILENO, POLLOUT, 0};
  while (::poll(&error, 1, 100) == 0) {
    if (detail::asked_to_stop) return false;
  }
  return true;
}

void write_error(const std::string& text) {
  if (!has_room()) return;
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::clearerr(stderr);  // the next line may find room again
}

}  // namespace

void say_text(const std::string& text) { write_error(printable(text)); }

void say_over(const std::string& text) {
  const bool stays = text.ends_with('\n');
  write_error("\r\x1b[K" + (stays ? printable(text) : cut_to(printable(text), terminal_columns(STDERR_FILENO))));
  std::fflush(stderr);
}

void answer_text(const std::string& said) {
  const std::string text = printable(said);
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) note_failure();
}

void answer_now(const std::string& text) {
  answer_text(text);
  errno = 0;
  if (std::fflush(stdout) != 0) note_failure();
}

bool finish_answer() {
  errno = 0;
  if (std::fflush(stdout) != 0) note_failure();
  if (first_error == 0) return true;
  if (first_error != EPIPE) {
    say("nudge: the results cannot be written to standard output: {}\n", std::strerror(first_error));
  }
  return false;
}

}  // namespace nudge
