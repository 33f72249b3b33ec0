// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "sim/base/interrupts.hpp"
#include "sim/io/descriptor.hpp"

namespace nudge {

/// Throws the UserError of a failed system call on an output: "PATH: cannot be written: WHY (advice)".
[[noreturn]] void cannot_write(const std::filesystem::path& shown, int error);

/// A new file beside `target`, under a hidden name that cannot be guessed (".NAME.partial-" and 16 hexadecimal digits): made
/// where nothing was, so never through a link or over another file, locked with flock(2) for as long as it is open, and removed
/// unless it gets its name, also where a signal ends the process. Until all is written it starts with a mark, by which remove_leftovers() knows it after a kill.
/// Errors are cannot_write(shown).
class NewFile {
 public:
  /// `mode`: permissions, less the umask. `shown`: the output as its user named it.
  NewFile(std::filesystem::path target, std::filesystem::path shown, unsigned mode);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  /// Everything that the file is to hold.
  void write(std::span<const std::byte> bytes);

  /// Down to the disk; from now on it is locked as readers lock it: HDF5 opens no file that another process has locked.
  void finish();

  /// Gives it the target's name if nothing has it, not even a link; false: something has.
  bool take_free_name();

  /// Gives it the target's name, whatever had it.
  void replace_target();

  const Descriptor& file() const { return file_; }

  /// The open file, which is locked still.
  Descriptor release() { return std::move(file_); }

 private:
  std::filesystem::path target_, shown_, hidden_;
  std::optional<RemovedOnInterrupt> removed_;
  Descriptor file_;
};

/// Removes what killed processes left of NewFiles for this target. Ours are plain files of such a name with one name only, of
/// this user or of the target's owner, that nobody has locked and that are empty, start with the mark or end with nudge's seal.
void remove_leftovers(const std::filesystem::path& target);

/// The names in the folder of the path survive a power failure as the data do. Some file systems have no such call.
void flush_folder_of(const std::filesystem::path& path);

/// A fresh directory among the temporary files (TMPDIR) that goes away with everything in it. UserError where none can be made.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace nudge
