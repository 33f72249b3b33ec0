// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "netlist/netlist.hpp"

namespace nudge {

/// Throws UserError "file:line:column: what".
[[noreturn]] void refuse(const Place& place, const std::string& what);

/// Word of a card: in lower case, as it was written, or "=". An expression in {} or '' is one word without these marks.
struct Word {
  std::string text;  ///< word in lower case
  std::string raw;   ///< word as written
  Place place;
  bool expression = false;  ///< true if it stood in {} or ''
};

/// A card of a netlist: an element or a command with its words, continuation lines joined.
using Card = std::vector<Word>;

/// Function that gives the text of an included file: its name as written, and the file that includes it. Its exceptions are passed on.
using ReadInclude = std::function<std::string(const std::string& name, const std::string& from, std::string& path)>;

struct CardList {
  std::string title;
  std::vector<Card> cards;
  std::vector<std::string>
      left_aside;  ///< names of cards without a circuit: ".control", files of .lib that are not there
};

/// Cards of a netlist in ngspice's dialect. The first line is the title. Lines that begin with * are comments, as is the rest of a line after
/// ; or // or "$ ". + continues a card. Blanks, commas and parentheses separate words; in .param, .func, .if and B sources only blanks and = do.
/// A parenthesis after a hyphen belongs to a name: `Net-(R5-Pad1)`. The reader leaves out `.control … .endc` and stops at `.end`.
/// It replaces
/// - `.include FILE` (`.inc`) by the file's text;
/// - `.lib FILE SECTION` by the lines from `.lib SECTION` to `.endl`;
/// - `.lib FILE` by the whole file, or by nothing where there is no such file.
///
/// UserError with the place of a broken rule, and for files that include each other.
CardList read_cards(const std::string& name, const std::string& text, const ReadInclude& include);

/// Words `first` to before `end` of a card as one, blanks between them and expressions in parentheses.
Word joined_words(const Card& card, std::size_t first, std::size_t end);

/// Text without blanks at its ends.
std::string trimmed_blanks(const std::string& text);

/// Assignment of a value to a name: "name = word".
struct Assignment {
  Word name;
  Word value;
};

/// Assignments "a = 1 b = {2*a}" from word number `first` on. UserError where a name or a value is missing.
std::vector<Assignment> assignments(const Card& card, std::size_t first);

/// Assignments from word number `first` on of a .param card or a B source: a value is all up to the next "name =", "a = 1 + 2 b = 3".
std::vector<Assignment> open_assignments(const Card& card, std::size_t first = 1);

/// True if two cards have the same words.
bool same_words(const Card& a, const Card& b);

/// True if the word at `at` of a card is followed by "=".
inline bool assigns(const Card& card, std::size_t at) { return at + 1 < card.size() && card[at + 1].text == "="; }

}  // namespace nudge
