// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace nudge {

/// Bounds on the output and the silence of another program.
struct ProcessBounds {
  std::size_t output = std::size_t{1} << 20;  ///< bytes of its standard output
  std::size_t errors = std::size_t{1} << 20;  ///< bytes of its standard error
  double silence_s = 120;                     ///< seconds without a byte of either
};

/// End of another program: its reason, status and output.
struct ProcessEnd {
  enum class Why { ended, too_much, silent };
  Why why = Why::ended;
  int status = 0;  ///< status of waitpid(), where it ended by itself
  std::string output, errors;
  /// True if it ended by itself, with the exit code 0.
  bool well() const;
};

/// Runs a program, found in PATH, with the file `input` as its standard input, until it ends or exceeds a bound. Then
/// the rest of its process group is killed, and on Linux the program too when this process ends. Writes no file.
/// UserError where no process can be made; a program that is not there ends with the code 127 and the reason in
/// `errors`.
ProcessEnd run_bounded(const std::vector<std::string>& words, const std::filesystem::path& input,
                       const ProcessBounds& bounds);

}  // namespace nudge
