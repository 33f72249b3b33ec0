// SPDX-License-Identifier: Apache-2.0
#include "sim/io/h5_probe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Seconds that reading may take: far more than a disk or a network needs (5 MB/s).
unsigned patience(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return 20 + (error ? 0U : static_cast<unsigned>(size / 5'000'000));
}

[[noreturn]] void read_as_child(unsigned seconds, const std::function<void()>& read) {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);  // what libraries say when they abort
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  for (const int signal : {SIGALRM, SIGSEGV, SIGABRT, SIGBUS}) std::signal(signal, SIG_DFL);
  ::alarm(seconds);
  try {
    read();
  } catch (...) {
    ::_exit(0);  // what is wrong and can be said is said when the file is read in earnest
  }
  ::_exit(0);
}

}  // namespace

void expect_survivable(const std::filesystem::path& path, const std::function<void()>& read) {
  const unsigned seconds = patience(path);
  const pid_t child = ::fork();
  if (child < 0) return;  // no more processes: read it as it is
  if (child == 0) read_as_child(seconds, read);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    throw UserError(
        fmt::format("{}: is damaged: reading it does not come to an end (tried for {} s)", path.string(), seconds));
  }
  throw UserError(fmt::format("{}: is damaged: the HDF5 library crashes when it reads it{}", path.string(),
                              WIFSIGNALED(status) ? fmt::format(" ({})", ::strsignal(WTERMSIG(status))) : ""));
}

}  // namespace nudge
