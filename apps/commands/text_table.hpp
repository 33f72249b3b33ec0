// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nudge {

/// Rows of cells as aligned text, the first row a heading; the first `left` columns are aligned left, the others right.
std::string text_table(const std::vector<std::vector<std::string>>& rows, std::size_t left);

/// Shows what a command is doing on stderr: one line that is kept current on a terminal, nothing in a pipe.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text);   ///< on a terminal only
  void print(const std::string& text);  ///< a line that stays, in a pipe too
  bool terminal() const { return terminal_; }

 private:
  bool terminal_;
};

}  // namespace nudge
