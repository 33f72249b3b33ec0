// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "netlist/card_reader.hpp"
#include "netlist/netlist_file.hpp"

namespace nudge {

/// A .subckt: its head "name pins parameters" and the cards of its body.
struct Definition {
  Card head;
  std::vector<Word> pins;
  std::size_t defaults = 0;  ///< number of the first word of its parameters in the head
  std::vector<Card> body;
  std::string around;      ///< key of the .subckt that it stands in; empty: in none
  bool has_inner = false;  ///< true if another .subckt stands in it
  bool twice = false;      ///< true if another .subckt of this name has other cards
  Place second;            ///< place of that one
};

/// Cards of a netlist, with the cards of each .subckt apart. A .subckt within another is known to its cards alone, and goes before one
/// of the same name outside, as in ngspice. Its key is its name behind the name of the .subckt around it.
class Definitions {
 public:
  /// UserError for a .subckt without .ends, without a name, or within an .if.
  explicit Definitions(std::vector<Card> cards);

  const std::vector<Card>& top() const { return top_; }
  /// Definition that the word `name` of an instance names. UserError if there is none, and for one that is given twice.
  const Definition& named(const Word& name) const;

  /// Counts the elements that the cards stand for once every instance is taken apart. It counts before anything is made, because .subckt that
  /// use each other grow with the power of their depth. All branches of an .if count. UserError with the place of the instance that exceeds
  /// the limit, the count and advice; also for instances that are more than 32 deep, or within themselves. Instances of an unknown .subckt
  /// count as one element.
  void check_size(const NetlistLimit& limit) const;

 private:
  class Counter;
  struct Open {
    std::string key;
    std::string first = {};  ///< key of the .subckt of this name that came before
    int conditions = 0;
  };
  void add(Card card, std::vector<Open>& open);
  void close(const Card& card, std::vector<Open>& open);
  void resolve(std::vector<Card>& cards, const std::string& key) const;

  std::vector<Card> top_;
  std::map<std::string, Definition> all_;
};

/// Number of the word NAME in an instance "Xname nodes NAME [params:] [name=value …]"; 0: it has none.
std::size_t instance_name(const Card& card);

/// Throws the UserError of one element too many at a place.
[[noreturn]] void refuse_netlist_size(const Place& place, const std::string& what, double count,
                                      const NetlistLimit& limit);

}  // namespace nudge
