// SPDX-License-Identifier: Apache-2.0
#include "netlist/netlist_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace nudge {
namespace {

/// Options of ngspice that change elements or add some, and are not simulated.
const std::set<std::string> kNotSimulated = {"scalm", "cshunt", "rseries", "defad", "defas", "wnflag", "parhier"};

const std::set<std::string> kLeftOut = {
    ".tran",    ".dc",   ".ac",    ".noise", ".tf",      ".sens",    ".pz",           ".disto", ".four", ".print",
    ".plot",    ".save", ".probe", ".meas",  ".measure", ".width",   ".backanno",     ".sp",    ".pss",  ".probe64",
    ".fourier", ".wave", ".fft",   ".net",   ".hb",      ".csparam", ".autoconverge", ".step"};
const std::set<std::string> kNotChosen = {".param", ".func", ".global", ".temp", ".options", ".option", ".opt"};

/// Reads one option that has a value; false: it says nothing of the circuit.
class OptionReader {
 public:
  OptionReader(ParameterScope& scope, Netlist& netlist) : scope_(&scope), netlist_(&netlist) {}

  bool read(const Word& name, const Word& value) {
    const std::string& option = name.text;
    if (option == "temp") {
      set_temperature(name, value);
    } else if (option == "tnom") {
      options.nominal_C = celsius(value);
    } else if (option == "gmin") {
      netlist_->gmin_S = positive(name, value);
    } else if (option == "rshunt") {
      netlist_->shunt_S = 1 / positive(name, value);
    } else if (option == "scale") {
      options.scale = positive(name, value);
    } else if (option == "defw") {
      options.width_m = positive(name, value);
    } else if (option == "defl") {
      options.length_m = positive(name, value);
    } else {
      return false;
    }
    return true;
  }

  void set_temperature(const Word& name, const Word& value) {
    if (given_) refuse(name.place, "the temperature is given twice (one circuit has one temperature)");
    given_ = true;
    options.celsius = celsius(value);
  }

  ElementOptions options;

 private:
  double positive(const Word& name, const Word& value) const {
    const double found = scope_->number(value);
    if (!(found > 0)) refuse(value.place, fmt::format("{} must be > 0", name.text));
    return found;
  }
  double celsius(const Word& value) const { return above_zero_kelvin(scope_->number(value), value.place); }

  ParameterScope* scope_;
  Netlist* netlist_;
  bool given_ = false;
};

}  // namespace

bool is_left_out(const std::string& command) { return kLeftOut.count(command) > 0; }
bool is_never_chosen(const std::string& command) { return kNotChosen.count(command) > 0; }

bool is_options(const std::string& command) {
  return command == ".options" || command == ".option" || command == ".opt";
}

void LeftAside::add(const std::string& name) {
  if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
}

std::string LeftAside::text() const {
  if (names_.empty()) return "";
  return fmt::format("left aside, as no part of the circuit: {}", fmt::join(names_, ", "));
}

ElementOptions read_options(const std::vector<Card>& cards, ParameterScope& scope, Netlist& netlist, LeftAside& aside) {
  OptionReader reader(scope, netlist);
  for (const Card& card : cards) {
    if (card.front().text == ".temp") {
      if (card.size() != 2) refuse(card.front().place, ".temp takes one temperature: a circuit has one");
      reader.set_temperature(card.front(), card[1]);
    }
    for (std::size_t i = 1; is_options(card.front().text) && i < card.size();) {
      const bool valued = assigns(card, i) && i + 2 < card.size();
      if (kNotSimulated.count(card[i].text) > 0)
        refuse(card[i].place, fmt::format(".options {} is not simulated", card[i].raw));
      if (!valued || !reader.read(card[i], card[i + 2])) aside.add(fmt::format("option {}", card[i].text));
      i += valued ? 3 : 1;
    }
  }
  return reader.options;
}

}  // namespace nudge
