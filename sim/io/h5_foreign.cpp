// SPDX-License-Identifier: Apache-2.0
#include "sim/io/h5_foreign.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"

namespace nudge {
namespace {

/// HDF5's callback at a link into another file: writes the name of that file to `out`, a std::string, and stops.
herr_t stop_at_other_file(const char* /*file*/, const char* /*group*/, const char* other, const char* /*object*/,
                          unsigned* /*access*/, hid_t /*properties*/, void* out) {
  *static_cast<std::string*>(out) = other;
  return -1;
}

constexpr std::size_t kLongestName = 256;

std::string external_file(hid_t properties) {
  std::array<char, kLongestName> name{};
  off_t offset = 0;
  hsize_t size = 0;
  H5Pget_external(properties, 0, name.size() - 1, name.data(), &offset, &size);
  return printable_line(name.data());
}

std::string missing_filter(hid_t properties) {
  const int count = H5Pget_nfilters(properties);
  for (int i = 0; i < count; ++i) {
    std::array<char, kLongestName> name{};
    unsigned flags = 0;
    unsigned config = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values, nullptr,
                                               name.size() - 1, name.data(), &config);
    if (filter >= 0 && H5Zfilter_avail(filter) <= 0) return fmt::format("{} {}", filter, printable_line(name.data()));
  }
  return "";
}

}  // namespace

H5Handle links_within_file(std::string& other) {
  H5Handle out = h5_made(H5Pcreate(H5P_LINK_ACCESS), H5Pclose, "the guard of its links");
  h5_need(H5Pset_elink_cb(out.id(), stop_at_other_file, &other) >= 0, "the guard of its links");
  return out;
}

std::string unreadable_values(hid_t dataset) {
  const H5Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  if (!properties.ok()) return "the file is damaged here" + h5_error();
  if (H5Pget_external_count(properties.id()) != 0) {
    return fmt::format("its values are in another file (\"{}\"), which is not read: copy them into this one",
                       external_file(properties.id()));
  }
  if (H5Pget_layout(properties.id()) == H5D_VIRTUAL) {
    return "a virtual dataset, whose values are in other files, which are not read: copy them into this one";
  }
  const std::string filter = missing_filter(properties.id());
  if (filter.empty()) return "";
  return fmt::format("stored with the filter {}, which is not loaded: store it without (h5repack -f GZIP=4)", filter);
}

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
    throw UserError(fmt::format("{}: is damaged: reading it does not end (tried for {} s)", path.string(), seconds));
  }
  throw UserError(fmt::format("{}: is damaged: the HDF5 library crashes when it reads it{}", path.string(),
                              WIFSIGNALED(status) ? fmt::format(" ({})", ::strsignal(WTERMSIG(status))) : ""));
}

}  // namespace nudge
