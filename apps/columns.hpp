// SPDX-License-Identifier: Apache-2.0
// Text in the columns of a terminal.
#pragma once

#include <cstddef>
#include <string>

namespace nudge {

/// Width of text that is wrapped where no terminal says another.
inline constexpr std::size_t usual_columns = 80;

/// Number of columns of the terminal behind a file descriptor; 0: it is none. A terminal that does not tell its width
/// has usual_columns.
std::size_t terminal_columns(int descriptor);

/// Number of columns that text takes: characters of UTF-8, each as wide as one.
std::size_t text_columns(const std::string& text);

/// Text cut to so many columns, with "…" as its last; 0 columns: as it is.
std::string cut_to(const std::string& text, std::size_t columns);

/// Text with every longer line broken between words into lines of at most so many columns. What follows is indented as
/// the last column of a line that has several (two blanks or more apart) within three fifths of the width, else as the line and two more (a line that begins in the middle: as it). A word that is
/// longer stays whole.
std::string wrapped(const std::string& text, std::size_t columns);

}  // namespace nudge
