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

/// New file beside `target`, under a hidden name that cannot be guessed (".NAME.partial-" and 16 hexadecimal digits). It is
/// made where nothing was, so never through a link or over another file, and locked with flock(2) as long as it is open. It
/// is removed unless it gets its name, also where a signal ends the process. Until all is written it starts with a mark, by
/// which remove_leftovers() knows it after a kill. Errors are cannot_write(shown).
class NewFile {
 public:
  /// `mode`: permissions, less the umask. `shown`: the output as its user named it.
  NewFile(std::filesystem::path target, std::filesystem::path shown, unsigned mode);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  /// Writes the whole contents of the file.
  void write(std::span<const std::byte> bytes);

  /// Flushes the file to the disk; from now on it is locked as readers lock it: HDF5 opens no file that another process has locked.
  void finish();

  /// Gives the file the target's name if nothing has it, not even a link; returns false if something has.
  bool take_free_name();

  /// Gives the file the target's name and replaces whatever had it.
  void replace_target();

  const Descriptor& file() const { return file_; }

  /// Hands over the open file, which is still locked.
  Descriptor release() { return std::move(file_); }

 private:
  std::filesystem::path target_, shown_, hidden_;
  std::optional<RemovedOnInterrupt> removed_;
  Descriptor file_;
};

/// Removes files that killed processes left of NewFiles for this target. Such a file is a plain file of such a name with one name
/// only, of this user or of the target's owner. Nobody has locked it, and it is empty, starts with the mark or ends with nudge's seal.
void remove_leftovers(const std::filesystem::path& target);

/// Flushes the folder of the path, so that names in it survive a power failure as the data do. Some file systems have no such call.
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
