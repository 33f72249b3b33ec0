// SPDX-License-Identifier: Apache-2.0
// Locks and hidden files beside an output: what stands in their place, links, permissions.

#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string_view>

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "sim/base/errors.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/new_file.hpp"
#include "sim/io/output_lock.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

void write_text(const fs::path& path, std::string_view text, Overwrite overwrite = Overwrite::replace,
                Links links = Links::followed) {
  write_atomically(path, std::as_bytes(std::span(text)), overwrite, links);
}

unsigned mode_of(const fs::path& path) {
  struct stat facts {};
  REQUIRE(::lstat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777U;
}

/// The hidden name of a file that is being written, as of a run that was killed.
fs::path killed_writer(const fs::path& target, const std::string& text, std::size_t written) {
  const pid_t child = ::fork();
  if (child == 0) {
    NewFile file(target, target, 0666);
    // write() in full leaves no mark; a part of it leaves the mark and what lies behind
    if (written == text.size()) file.write(std::as_bytes(std::span(text)));
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  for (const auto& entry : fs::directory_iterator(target.parent_path())) {
    if (entry.path().filename().string().find(".partial-") != std::string::npos) return entry.path();
  }
  return {};
}

}  // namespace

TEST_CASE("what stands in the place of a lock and is none of ours stays as it is", "[output]") {
  const test::TemporaryDirectory dir;
  put(dir / "victim", "precious");
  const fs::path lock = dir / ".a.h5.lock";
  const auto refused = [&] {
    CHECK_THROWS_WITH(OutputLock(dir / "a.h5"),
                      Contains("a.h5: cannot be locked") && Contains(".a.h5.lock is not a lock"));
    CHECK(output_writer(dir / "a.h5") == std::nullopt);
  };
  SECTION("a link") {
    fs::create_symlink(dir / "victim", lock);
    refused();
    CHECK(fs::is_symlink(lock));
    CHECK(contents(dir / "victim") == "precious");
  }
  SECTION("a link to nothing") {
    fs::create_symlink(dir / "nothing", lock);
    refused();
    CHECK_FALSE(fs::exists(dir / "nothing"));
  }
  SECTION("a second name of another file") {
    fs::create_hard_link(dir / "victim", lock);
    refused();
    CHECK(contents(dir / "victim") == "precious");
  }
  SECTION("a file of the user") {
    put(lock, "my notes\n");
    refused();
    CHECK(contents(lock) == "my notes\n");
  }
  SECTION("an empty file") {
    put(lock, "");
    refused();
    CHECK(fs::exists(lock));
  }
  SECTION("a pipe without a reader, which would keep open(2) waiting") {
    REQUIRE(::mkfifo(lock.c_str(), 0600) == 0);
    ::alarm(20);  // ends the test if it waits
    refused();
    ::alarm(0);
    CHECK(fs::is_fifo(lock));
  }
  SECTION("a folder") {
    fs::create_directory(lock);
    refused();
  }
}

TEST_CASE("a lock of a killed run is taken over, one that is held is named, and links to one output share it",
          "[output]") {
  const test::TemporaryDirectory dir;
  put(dir / ".a.h5.lock", "nudge lock: process 1 on host gone, since 2020\n");
  {
    const OutputLock lock(dir / "a.h5");
    CHECK_THAT(contents(dir / ".a.h5.lock"), Contains("nudge lock: process " + std::to_string(::getpid())));
    fs::create_symlink("a.h5", dir / "link.h5");
    CHECK_THROWS_WITH(OutputLock(dir / "link.h5"), Contains("is being written by process"));
    CHECK(output_writer(dir / "link.h5").value_or("").starts_with("process " + std::to_string(::getpid())));
    fs::remove(dir / ".a.h5.lock");
    put(dir / ".a.h5.lock", "somebody else's");
  }
  CHECK(contents(dir / ".a.h5.lock") == "somebody else's");  // not the file that was locked
}

TEST_CASE("control characters of a lock's holder do not reach a terminal", "[output]") {
  const test::TemporaryDirectory dir;
  const fs::path lock = dir / ".a.h5.lock";
  put(lock, "nudge lock: \x1b]0;title\x07 since\n");
  const int held = ::open(lock.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(::flock(held, LOCK_EX) == 0);
  CHECK_THROWS_WITH(OutputLock(dir / "a.h5"), Contains("\\u001b]0;title\\u0007 since"));
  ::close(held);
}

TEST_CASE("no lock or output is inherited by programs that are started", "[output]") {
  const test::TemporaryDirectory dir;
  const OutputLock lock(dir / "a.h5");
  const NewFile file(dir / "b.h5", dir / "b.h5", 0666);
  CHECK((::fcntl(file.file().id(), F_GETFD) & FD_CLOEXEC) != 0);
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (fs::read_symlink(entry.path(), error).parent_path() != dir.path()) continue;
    CHECK((::fcntl(std::stoi(entry.path().filename().string()), F_GETFD) & FD_CLOEXEC) != 0);
  }
}

TEST_CASE("hidden files have names that nobody can place a link at, and only ours are cleared away", "[output]") {
  const test::TemporaryDirectory dir;
  put(dir / "victim", "precious");
  // the names of former versions, one for each process that may come
  const fs::path predictable = dir / (".a.h5.partial-" + std::to_string(::getpid()));
  fs::create_symlink(dir / "victim", predictable);
  put(dir / ".a.h5.partial-1", "my notes");  // process 1 lives, 999999999 does not
  put(dir / ".a.h5.partial-999999999", "my notes");
  put(dir / ".a.h5.partial-0123456789abcdef", "my notes");  // named as ours, and none
  fs::create_symlink(dir / "victim", dir / ".a.h5.partial-00000000000000ff");
  REQUIRE(::mkfifo((dir / ".a.h5.partial-00000000000000fe").c_str(), 0600) == 0);
  write_text(dir / "a.h5", "new");
  CHECK(contents(dir / "a.h5") == "new");
  CHECK(contents(dir / "victim") == "precious");
  CHECK(fs::is_symlink(predictable));
  for (const char* name : {"1", "999999999", "0123456789abcdef"}) {
    CHECK(contents(dir / (std::string(".a.h5.partial-") + name)) == "my notes");
  }
  CHECK(fs::is_symlink(dir / ".a.h5.partial-00000000000000ff"));
  CHECK(test::files_in(dir) == 8);
}

TEST_CASE("an empty hidden file is a leftover unless its writer holds it", "[output]") {
  const test::TemporaryDirectory dir;
  const fs::path killed = dir / ".a.h5.partial-00000000000000aa", alive = dir / ".a.h5.partial-00000000000000ab";
  put(killed, "");  // between its making and its mark
  put(alive, "");
  const int held = ::open(alive.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(held >= 0);
  REQUIRE(::flock(held, LOCK_EX | LOCK_NB) == 0);
  write_text(dir / "a.h5", "new");
  CHECK_FALSE(fs::exists(killed));
  CHECK(fs::exists(alive));
  ::close(held);
  CHECK(contents(dir / "a.h5") == "new");
}

TEST_CASE("what killed writers left is known by its contents", "[output]") {
  const test::TemporaryDirectory dir;
  const std::string sealed = "much text " + std::string(100, 'x') + "nudgeFNV12345678";
  for (const std::size_t written :
       {std::size_t{0}, sealed.size()}) {  // killed at the start, and before it had its name
    const fs::path left = killed_writer(dir / "a.h5", sealed, written);
    REQUIRE_FALSE(left.empty());
    SECTION("in use: " + std::to_string(written)) {
      const int writer = ::open(left.c_str(), O_RDONLY | O_CLOEXEC);
      REQUIRE(::flock(writer, LOCK_EX) == 0);
      remove_leftovers(dir / "a.h5");
      CHECK(fs::exists(left));
      ::close(writer);
    }
    SECTION("a second name of it: " + std::to_string(written)) {
      fs::create_hard_link(left, dir / "kept");
      remove_leftovers(dir / "a.h5");
      CHECK(fs::exists(left));
      fs::remove(dir / "kept");
    }
    remove_leftovers(dir / "b.h5");
    CHECK(fs::exists(left));
    if (::geteuid() == 0) {  // of another user: only beside an output of his
      REQUIRE(::chown(left.c_str(), 12345, 54321) == 0);
      remove_leftovers(dir / "a.h5");
      CHECK(fs::exists(left));
      put(dir / "a.h5", "his");
      REQUIRE(::chown((dir / "a.h5").c_str(), 12345, 54321) == 0);
    }
    remove_leftovers(dir / "a.h5");
    fs::remove(dir / "a.h5");
    CHECK(test::files_in(dir) == 0);
  }
}

TEST_CASE("files shorter and longer than the mark are written as they are", "[output]") {
  const test::TemporaryDirectory dir;
  for (const std::size_t size : {0, 1, 54, 55, 56, 57, 5000}) {
    write_text(dir / "a.txt", std::string(size, 'a'));
    CHECK(contents(dir / "a.txt") == std::string(size, 'a'));
  }
  CHECK(test::files_in(dir) == 1);
}

TEST_CASE("links of an output are followed to the file that they name, but not those of strangers in /tmp",
          "[output]") {
  const test::TemporaryDirectory dir;
  fs::create_directory(dir / "scratch");
  fs::create_symlink("scratch/a.h5", dir / "a.h5");
  write_text(dir / "a.h5", "new", Overwrite::must_not_exist);  // a link to nothing yet
  CHECK(contents(dir / "scratch/a.h5") == "new");
  CHECK(fs::is_symlink(dir / "a.h5"));
  CHECK_THROWS_WITH(write_text(dir / "a.h5", "x", Overwrite::must_not_exist), Contains("exists already"));
  CHECK_THROWS_WITH(check_output_path(dir / "a.h5", Overwrite::replace, Links::refused), Contains("not followed here"));
  fs::create_symlink("ring", dir / "ring");
  CHECK_THROWS_WITH(check_output_path(dir / "ring", Overwrite::replace), Contains("leads nowhere"));
  if (::geteuid() != 0) {
    WARN("SKIPPED: making a stranger's link needs root");
    return;
  }
  fs::create_directory(dir / "everybody");
  REQUIRE(::chmod((dir / "everybody").c_str(), 01777) == 0);
  fs::create_symlink(dir / "victim", dir / "everybody/a.h5");
  CHECK_NOTHROW(check_output_path(dir / "everybody/a.h5", Overwrite::replace));  // of the user himself
  REQUIRE(::lchown((dir / "everybody/a.h5").c_str(), 65534, 65534) == 0);
  CHECK_THROWS_WITH(check_output_path(dir / "everybody/a.h5", Overwrite::replace), Contains("another user"));
  REQUIRE(::chown((dir / "everybody").c_str(), 65534, 65534) == 0);  // the owner of the folder may do so
  CHECK_NOTHROW(check_output_path(dir / "everybody/a.h5", Overwrite::replace));
}

TEST_CASE("a file that replaces another has its permissions and its owner", "[output]") {
  const test::TemporaryDirectory dir;
  for (const unsigned mode : {0600U, 0640U, 0666U, 0604U, 0755U}) {
    put(dir / "a.h5", "old");
    REQUIRE(::chmod((dir / "a.h5").c_str(), mode) == 0);
    write_text(dir / "a.h5", "new");
    CHECK(mode_of(dir / "a.h5") == mode);
    fs::remove(dir / "a.h5");
  }
  const mode_t before = ::umask(027);
  write_text(dir / "new.h5", "new");
  ::umask(before);
  CHECK(mode_of(dir / "new.h5") == 0640);
  if (::geteuid() != 0) return;
  REQUIRE(::chown((dir / "new.h5").c_str(), 12345, 54321) == 0);
  write_text(dir / "new.h5", "newer");
  struct stat facts {};
  REQUIRE(::stat((dir / "new.h5").c_str(), &facts) == 0);
  CHECK(facts.st_uid == 12345);
  CHECK(facts.st_gid == 54321);
  CHECK(mode_of(dir / "new.h5") == 0640);
}

TEST_CASE("an access list is kept, and none comes from the folder", "[output]") {
  struct Entry {
    std::uint16_t tag, permissions;
    std::uint32_t id;
  };
  struct List {  // linux/posix_acl_xattr.h: owner rw, user 12345 r, group nothing, mask r, others nothing
    std::uint32_t version = 2;
    Entry entries[5] = {{1, 6, ~0U}, {2, 4, 12345}, {4, 0, ~0U}, {16, 4, ~0U}, {32, 0, ~0U}};
  };
  const List list;
  const test::TemporaryDirectory dir;
  put(dir / "a.h5", "old");
  if (::setxattr((dir / "a.h5").c_str(), "system.posix_acl_access", &list, sizeof list, 0) != 0) {
    WARN("SKIPPED: the file system has no access lists");
    return;
  }
  write_text(dir / "a.h5", "new");
  std::array<char, sizeof list + 1> found{};
  CHECK(::getxattr((dir / "a.h5").c_str(), "system.posix_acl_access", found.data(), found.size()) == sizeof list);
  CHECK(mode_of(dir / "a.h5") == 0640);  // where the mask stands for the group
  put(dir / "b.h5", "old");
  REQUIRE(::chmod((dir / "b.h5").c_str(), 0660) == 0);
  REQUIRE(::setxattr(dir.path().c_str(), "system.posix_acl_default", &list, sizeof list, 0) == 0);
  write_text(dir / "b.h5", "new");
  CHECK(::getxattr((dir / "b.h5").c_str(), "system.posix_acl_access", found.data(), found.size()) == -1);
  CHECK(mode_of(dir / "b.h5") == 0660);
}

TEST_CASE("where the group cannot be kept, it gets no more than everybody has", "[output]") {
  if (::geteuid() != 0) {
    WARN("SKIPPED: giving up rights needs root");
    return;
  }
  const test::TemporaryDirectory dir;
  REQUIRE(::chmod(dir.path().c_str(), 0777) == 0);
  put(dir / "a.h5", "old");
  REQUIRE(::chown((dir / "a.h5").c_str(), 65534, 54321) == 0);
  REQUIRE(::chmod((dir / "a.h5").c_str(), 0664) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
    write_text(dir / "a.h5", "new");
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  CHECK(mode_of(dir / "a.h5") == 0644);
}

TEST_CASE("a read-only output is refused before any work, by root too", "[output]") {
  const test::TemporaryDirectory dir;
  put(dir / "a.h5", "final");
  REQUIRE(::chmod((dir / "a.h5").c_str(), 0444) == 0);
  CHECK_THROWS_WITH(check_output_path(dir / "a.h5", Overwrite::replace), Contains("is read-only (mode 0444)"));
  CHECK_THROWS_WITH(write_text(dir / "a.h5", "new"), Contains("chmod u+w"));
  CHECK(contents(dir / "a.h5") == "final");
  CHECK(test::files_in(dir) == 1);
}
