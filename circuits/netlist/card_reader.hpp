// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "circuits/netlist/netlist.hpp"

namespace nudge {

/// UserError "file:line:column: what".
[[noreturn]] void refuse(const Place& place, const std::string& what);

/// A word of a card: in lower case, as it was written, or "=". An expression in {} or '' is one word without these marks.
struct Word {
  std::string text;  ///< in lower case
  std::string raw;   ///< as written
  Place place;
  bool expression = false;  ///< stood in {} or ''
};

/// A card of a netlist: an element or a command with its words, continuation lines joined.
using Card = std::vector<Word>;

/// Text of an included file: its name as written, and the file that includes it. What it throws is passed on.
using ReadInclude = std::function<std::string(const std::string& name, const std::string& from, std::string& path)>;

struct CardList {
  std::string title;
  std::vector<Card> cards;
};

/// The cards of a netlist in ngspice's dialect. The first line is the title; lines that begin with * are comments, as is what follows
/// ; or // or "$ "; + continues a card; blanks, commas and parentheses separate words, but in .param, whose words blanks and =
/// separate; .include FILE (.inc) is replaced by what the file has; .control … .endc is left out; .end ends. UserError with the place of a
/// broken rule, and for files that include each other.
CardList read_cards(const std::string& name, const std::string& text, const ReadInclude& include);

}  // namespace nudge
