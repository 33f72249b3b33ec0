// SPDX-License-Identifier: Apache-2.0
#include "apps/import/bounded_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Pipe whose ends close themselves.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw UserError(fmt::format("another program cannot be started: {}", std::strerror(errno)));
    }
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_end(std::size_t k) {
    if (ends_[k] >= 0) ::close(ends_[k]);
    ends_[k] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// Becomes the program, between fork and exec: uses system calls alone, and resets the signals that this program has
/// changed.
[[noreturn]] void become(char** argv, const char* input, int output, int errors) {
  ::setpgid(0, 0);
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int in = ::open(input, O_RDONLY);
  if (in >= 0) ::dup2(in, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::execvp(argv[0], argv);
  const char* reason = std::strerror(errno);
  static_cast<void>(!::write(STDERR_FILENO, reason, std::strlen(reason)));
  ::_exit(127);
}

/// Takes the bytes that are there; false at the end of the stream. most: largest size of `to`; too_much: set when it is
/// reached.
bool take(int from, std::string& to, std::size_t most, bool& too_much) {
  std::array<char, 1 << 16> piece{};
  const ssize_t got = ::read(from, piece.data(), piece.size());
  if (got <= 0) return got < 0 && errno == EINTR;
  to.append(piece.data(), std::min(static_cast<std::size_t>(got), most - to.size()));
  too_much = too_much || to.size() == most;
  return true;
}

}  // namespace

bool ProcessEnd::well() const { return why == Why::ended && WIFEXITED(status) && WEXITSTATUS(status) == 0; }

ProcessEnd run_bounded(const std::vector<std::string>& words, const std::filesystem::path& input,
                       const ProcessBounds& bounds) {
  Pipe output, errors;
  std::vector<std::string> kept = words;
  std::vector<char*> argv;
  for (std::string& word : kept) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string question = input.string();
  const pid_t child = ::fork();
  if (child < 0) throw UserError(fmt::format("{} cannot be started: {}", words.front(), std::strerror(errno)));
  if (child == 0) become(argv.data(), question.c_str(), output.writer(), errors.writer());
  ::setpgid(child, child);  // whichever of the two comes first
  output.close_end(1);
  errors.close_end(1);

  using Clock = std::chrono::steady_clock;
  ProcessEnd end;
  bool too_much = false, ended = false;
  std::array<pollfd, 2> streams{{{output.reader(), POLLIN, 0}, {errors.reader(), POLLIN, 0}}};
  for (auto heard = Clock::now(); end.why == ProcessEnd::Why::ended;) {
    ended = ended || ::waitpid(child, &end.status, WNOHANG) == child;
    const bool more = ::poll(streams.data(), streams.size(), ended ? 0 : 100) > 0;
    if (!more && ended) break;  // what it has started may keep the streams open
    if (more) {
      heard = Clock::now();
      if (streams[0].revents != 0 && !take(output.reader(), end.output, bounds.output, too_much)) streams[0].fd = -1;
      if (streams[1].revents != 0 && !take(errors.reader(), end.errors, bounds.errors, too_much)) streams[1].fd = -1;
    }
    const double silence = std::chrono::duration<double>(Clock::now() - heard).count();
    if (too_much) end.why = ProcessEnd::Why::too_much;
    if (!ended && silence > bounds.silence_s) end.why = ProcessEnd::Why::silent;
  }
  ::kill(-child, SIGKILL);
  while (!ended && ::waitpid(child, &end.status, 0) < 0 && errno == EINTR) {
  }
  return end;
}

}  // namespace nudge
