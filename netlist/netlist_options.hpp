// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "netlist/element_cards.hpp"

namespace nudge {

/// True for commands that change no circuit, as .tran and .print.
bool is_left_out(const std::string& command);
/// True for commands that ngspice does not choose by .if (ngspice manual, "Conditional syntax"), or that concern the whole netlist.
bool is_never_chosen(const std::string& command);
/// True for ".options" and its other names.
bool is_options(const std::string& command);

/// Cards and options that change nothing of the circuit, by name, each once.
class LeftAside {
 public:
  void add(const std::string& name);
  /// Sentence that names them all; empty: there are none.
  std::string text() const;

 private:
  std::vector<std::string> names_;
};

/// Reads .options and .temp of the top cards: options of the elements, and gmin and rshunt of the netlist. The others go to `aside`. UserError
/// for options that would change the circuit and are not simulated, and for a temperature that is given twice.
ElementOptions read_options(const std::vector<Card>& cards, ParameterScope& scope, Netlist& netlist, LeftAside& aside);

}  // namespace nudge
