// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "netlist/element_cards.hpp"

namespace nudge {

/// Card of an element that is being read, and the words and settings that all kinds of elements share.
struct ElementCard {
  ElementCard(const Card& of, const CardContext& with);

  [[noreturn]] void fail(std::size_t word, const std::string& what) const;
  /// Reads the nodes in words 1 to count.
  void nodes(std::size_t count, const char* form);
  double number(const Word& word) const { return context.scope.number(word); }

  using Take = std::function<bool(const Assignment&)>;
  static bool take_none(const Assignment& /*setting*/) { return false; }
  /// Reads "name=value" from word `from` on. m and off are settings of all elements. `take` gets the rest, and returns false for a name
  /// that it does not know. Start values (off, ic=) change no operating point: .nodeset chooses between several.
  void settings(std::size_t from, const char* form, const Take& take);
  /// Reads one of them.
  void setting(const Assignment& one, const char* form, const Take& take);
  /// Reads the word at `at` as a value, or the one that "name=" gives; and the settings of the rest.
  double value_at(std::size_t at, const char* name, const char* form, const Take& take = take_none);

  /// Count of elements in parallel: m of the element and of the instances around it.
  double parallel() const { return multiplier * context.instances; }
  /// Adds the element, and its parasitic parts before it.
  void add();

  const Card& card;
  const CardContext& context;
  Element element;
  double multiplier = 1;  ///< m of the card
  /// Parasitic parts that LTspice has in a card, Rser Lser Rpar Cpar: the first two in series, the others across all of it.
  struct Parasitics {
    double series_Ohm = 0, series_H = 0, parallel_Ohm = 0, parallel_F = 0;
  };
  Parasitics parasitics = {};
};

/// Read the cards of diodes, transistors and bipolar transistors.
void read_diode(ElementCard& card);
void read_mosfet(ElementCard& card);
void read_bipolar(ElementCard& card);
/// Reads a junction field-effect transistor, J.
void read_jfet(ElementCard& card);
/// Reads a resistor, capacitor or inductor, with its model and its parasitic parts.
void read_passive(ElementCard& card);
/// Takes a setting of LTspice's parts that adds an element, Rser Rpar Lser Cpar; false: another setting.
bool take_parasitic(ElementCard& card, const Assignment& one);
/// Reads a B source.
void read_behavioural(ElementCard& card);
/// Reads an E or G with VALUE, vol, cur, TABLE or POLY, or an F or H with POLY. False: the card has none of these.
bool read_nonlinear_source(ElementCard& card);
/// Reads a switch, S or W.
void read_switch(ElementCard& card);
/// Reads a memristor, Y.
void read_memristor(ElementCard& card);

}  // namespace nudge
