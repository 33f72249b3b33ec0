// SPDX-License-Identifier: Apache-2.0
#include "netlist/netlist_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <optional>
#include <set>
#include <unordered_map>

#include "sim/base/bounded_read.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

constexpr double kNominal_C = 27;  // of SPICE

/// A .subckt: its head "name pins parameters" and the cards of its body.
struct Definition {
  Card head;
  std::vector<Word> pins;
  std::vector<Assignment> defaults;
  std::vector<Card> body;
};

/// Commands that do not affect the circuit at direct current.
const std::set<std::string> kLeftOut = {".op",   ".tran",  ".dc",    ".ac",      ".noise", ".tf",
                                        ".sens", ".pz",    ".disto", ".four",    ".print", ".plot",
                                        ".save", ".probe", ".meas",  ".measure", ".width"};
/// Options of the solver and of its output.
const std::set<std::string> kOptionsLeftOut = {
    "reltol", "abstol", "vntol",  "chgtol", "trtol",  "itl1",      "itl2",     "itl3",   "itl4",         "itl5",
    "itl6",   "numdgt", "method", "pivtol", "pivrel", "gminsteps", "srcsteps", "acct",   "noacct",       "nomod",
    "nopage", "node",   "list",   "opts",   "klu",    "sparse",    "interp",   "noinit", "savecurrents", "seed"};

bool is_ground(const std::string& name) { return name == "0" || name == "gnd"; }

std::set<std::string> global_nodes(const std::vector<Card>& cards) {
  std::set<std::string> all;
  for (const Card& card : cards) {
    for (std::size_t i = 1; card.front().text == ".global" && i < card.size(); ++i) all.insert(card[i].text);
  }
  return all;
}

/// Takes cards apart into elements, instance by instance.
class Expansion {
 public:
  Expansion(CardList cards, const NetlistLimit& limit) : limit_(limit) {
    netlist_.title = std::move(cards.title);
    globals_ = global_nodes(cards.cards);
    define(std::move(cards.cards));
    const auto body = [this](const std::string& name) {
      const auto found = definitions_.find(name);
      return found == definitions_.end() ? nullptr : &found->second.body;
    };
    check_netlist_size(top_, body, limit_);
  }

  Netlist run() {
    read_options();
    ParameterScope scope;
    Level top{&scope, "", {}, {}, nullptr};
    expand(top_, top, 0);
    join_controls();
    return std::move(netlist_);
  }

 private:
  /// Level of instances.
  struct Level {
    ParameterScope* scope;
    std::string prefix;
    std::unordered_map<std::string, int> pins;
    std::map<std::string, ModelCard> models;
    const Level* outer;
  };
  /// Source that controls an element, in the element's instance.
  struct Control {
    std::size_t element;
    std::string source;
    Word word;
  };

  /// Sets the bodies of .subckt apart from the rest.
  void define(std::vector<Card> cards) {
    Definition* open = nullptr;
    for (Card& card : cards) {
      const std::string& word = card.front().text;
      if (word == ".subckt") {
        if (open != nullptr) refuse(card.front().place, ".subckt within a .subckt is not understood");
        open = &start_definition(std::move(card));
      } else if (word == ".ends") {
        if (open == nullptr) refuse(card.front().place, ".ends without .subckt");
        if (card.size() > 1 && card[1].text != open->head[1].text) {
          refuse(card[1].place, fmt::format(".ends {} (must be {})", card[1].raw, open->head[1].raw));
        }
        open = nullptr;
      } else {
        (open == nullptr ? top_ : open->body).push_back(std::move(card));
      }
    }
    if (open != nullptr) refuse(open->head.front().place, fmt::format(".subckt {} has no .ends", open->head[1].raw));
  }

  Definition& start_definition(Card card) {
    if (card.size() < 2) refuse(card.front().place, "the name is missing: .subckt NAME pins [name=value …]");
    Definition made;
    std::size_t at = 2;
    while (at < card.size() && card[at].text != "params:" && (at + 1 >= card.size() || card[at + 1].text != "=")) {
      made.pins.push_back(card[at++]);
    }
    if (at < card.size() && card[at].text == "params:") ++at;
    made.defaults = assignments(card, at);
    made.head = std::move(card);
    const auto [found, fresh] = definitions_.emplace(made.head[1].text, std::move(made));
    if (!fresh) refuse(found->second.head[1].place, fmt::format(".subckt {} is defined twice", found->first));
    return found->second;
  }

  void expand(const std::vector<Card>& cards, Level& level, int depth) {
    for (const Card& card : cards) {
      if (card.front().text != ".param") continue;
      for (const Assignment& one : assignments(card, 1)) level.scope->define(one);
    }
    for (const Card& card : cards) {
      if (card.front().text != ".model") continue;
      if (card.size() < 2) refuse(card.front().place, "words are missing: .model NAME TYPE (name=value …)");
      if (!level.models.emplace(card[1].text, read_model(card, *level.scope)).second) {
        refuse(card[1].place, fmt::format(".model {} is defined twice", card[1].raw));
      }
    }
    for (const Card& card : cards) {
      const char first = card.front().text.front();
      if (first == '.') {
        command(card, depth);
      } else if (first == 'x') {
        instance(card, level, depth);
      } else {
        element(card, level);
      }
    }
  }

  void command(const Card& card, int depth) {
    const std::string& word = card.front().text;
    if (word == ".param" || word == ".model" || word == ".global" || kLeftOut.count(word) > 0) return;
    if (!is_options(word)) refuse(card.front().place, fmt::format("{} is not understood", card.front().raw));
    if (depth > 0) refuse(card.front().place, ".options stands outside of .subckt");
  }

  static bool is_options(const std::string& word) { return word == ".options" || word == ".option" || word == ".opt"; }

  /// Reads the options that affect the circuit.
  void read_options() {
    double celsius = kNominal_C, nominal = kNominal_C;
    const Word* temperature = nullptr;
    for (const Card& card : top_) {
      for (std::size_t i = 1; is_options(card.front().text) && i < card.size();) {
        const Word& name = card[i];
        const bool valued = i + 2 < card.size() && card[i + 1].text == "=";
        if (valued && (name.text == "temp" || name.text == "tnom")) {
          (name.text == "temp" ? celsius : nominal) = plain_number(card[i + 2]);
          temperature = &name;
        } else if (valued && (name.text == "gmin" || name.text == "rshunt")) {
          const double value = plain_number(card[i + 2]);
          if (!(value > 0)) refuse(card[i + 2].place, fmt::format("{} must be > 0", name.text));
          (name.text == "gmin" ? netlist_.gmin_S : netlist_.shunt_S) = name.text == "gmin" ? value : 1 / value;
        } else if (kOptionsLeftOut.count(name.text) == 0) {
          refuse(name.place, fmt::format(".options {} is not understood", name.raw));
        }
        i += valued ? 3 : 1;
      }
    }
    if (temperature == nullptr) return;
    if (celsius != nominal || !(celsius > -zero_celsius_K)) {
      refuse(temperature->place,
             "temp and tnom must be one temperature above 0 K: models are not taken from one to another");
    }
    thermal_V_ = kSpiceThermal_V * (celsius + zero_celsius_K) / (kNominal_C + zero_celsius_K);
  }
  static double plain_number(const Word& word) {
    ParameterScope none;
    return none.number(word);
  }

  int new_node(const std::string& name) {
    const auto [found, fresh] = numbers_.emplace(name, static_cast<int>(netlist_.nodes.size()));
    if (fresh) netlist_.nodes.push_back(name);
    return found->second;
  }

  int node(const Word& word, const Level& level) {
    if (word.text == "=" || word.expression) refuse(word.place, fmt::format("\"{}\" is no node", word.raw));
    if (is_ground(word.text)) return kGround;
    if (globals_.count(word.text) > 0) return new_node(word.text);
    if (const auto pin = level.pins.find(word.text); pin != level.pins.end()) return pin->second;
    return new_node(level.prefix + word.text);
  }

  const ModelCard& model(const Word& word, const Level& level) const {
    std::vector<std::string> names;
    for (const Level* at = &level; at != nullptr; at = at->outer) {
      if (const auto found = at->models.find(word.text); found != at->models.end()) return found->second;
      for (const auto& [name, card] : at->models) names.push_back(name);
    }
    refuse(word.place, names.empty() ? fmt::format("no .model {}", word.raw)
                                     : fmt::format("no .model {} ({})", word.raw, did_you_mean(word.text, names)));
  }

  void add(Element element) {
    if (netlist_.elements.size() >= limit_.elements) {  // a card may be more than one
      refuse_netlist_size(element.place, element.name + ": with it", static_cast<double>(netlist_.elements.size()) + 1,
                          limit_);
    }
    const auto [found, fresh] = elements_.emplace(element.name, netlist_.elements.size());
    if (!fresh) {
      refuse(element.place, fmt::format("a second element {} (the first: {})", element.name,
                                        to_string(netlist_.elements[found->second].place)));
    }
    netlist_.elements.push_back(std::move(element));
  }

  void element(const Card& card, Level& level) {
    std::optional<Word> source;
    read_element(card,
                 {*level.scope, [&](const Word& word) { return node(word, level); },
                  [&](const Word& word) -> const ModelCard& { return model(word, level); },
                  [&](const std::string& name) { return new_node(name); }, [&](Element made) { add(std::move(made)); },
                  [&](const Word& word) { source = word; }, level.prefix, thermal_V_});
    if (source) controls_.push_back({netlist_.elements.size() - 1, level.prefix + source->text, *source});
  }

  void instance(const Card& card, const Level& level, int depth) {
    const std::size_t at = instance_name(card), end = at + 1;
    if (at == 0) {
      refuse(card.front().place,
             fmt::format("{}: words are missing: Xname nodes NAME [name=value …]", card.front().raw));
    }
    const Word& name = card[at];
    const auto found = definitions_.find(name.text);
    if (found == definitions_.end()) {
      std::vector<std::string> names;
      for (const auto& [known, definition] : definitions_) names.push_back(known);
      refuse(name.place, names.empty() ? fmt::format("no .subckt {}", name.raw)
                                       : fmt::format("no .subckt {} ({})", name.raw, did_you_mean(name.text, names)));
    }
    const Definition& definition = found->second;
    if (end - 2 != definition.pins.size()) {
      refuse(card.front().place, fmt::format("{}: {} nodes (.subckt {} has {})", card.front().raw, end - 2, name.raw,
                                             definition.pins.size()));
    }
    ParameterScope scope(&global_scope(level));
    Level inner{&scope, level.prefix + card.front().text + ".", {}, {}, &global_level(level)};
    for (std::size_t i = 0; i < definition.pins.size(); ++i) {
      inner.pins[definition.pins[i].text] = node(card[i + 1], level);
    }
    set_parameters(card, end, definition, *level.scope, scope);
    expand(definition.body, inner, depth + 1);
  }

  static const Level& global_level(const Level& level) {
    return level.outer == nullptr ? level : global_level(*level.outer);
  }
  static ParameterScope& global_scope(const Level& level) { return *global_level(level).scope; }

  /// Sets the parameters of an instance: values given in its card from word `from` on, evaluated by the caller's scope, then the defaults.
  static void set_parameters(const Card& card, std::size_t from, const Definition& definition, ParameterScope& caller,
                             ParameterScope& scope) {
    if (from < card.size() && card[from].text == "params:") ++from;
    for (const Assignment& one : assignments(card, from)) {
      std::vector<std::string> names;
      for (const Assignment& known : definition.defaults) names.push_back(known.name.text);
      if (std::find(names.begin(), names.end(), one.name.text) == names.end()) {
        refuse(one.name.place,
               fmt::format("{}: .subckt {} has no parameter {}{}", card.front().raw, definition.head[1].raw,
                           one.name.raw, names.empty() ? "" : " (" + did_you_mean(one.name.text, names) + ")"));
      }
      scope.set(one.name.text, caller.number(one.value));
    }
    for (const Assignment& one : definition.defaults) scope.define(one);
  }

  void join_controls() {
    for (const Control& control : controls_) {
      const auto found = elements_.find(control.source);
      if (found == elements_.end() || netlist_.elements[found->second].kind != ElementKind::voltage) {
        refuse(control.word.place, fmt::format("{}: {} is no voltage source, whose current could control it",
                                               netlist_.elements[control.element].name, control.word.raw));
      }
      netlist_.elements[control.element].control = static_cast<int>(found->second);
    }
  }

  NetlistLimit limit_;
  Netlist netlist_;
  double thermal_V_ = kSpiceThermal_V;
  std::vector<Card> top_;
  std::map<std::string, Definition> definitions_;
  std::set<std::string> globals_;
  std::unordered_map<std::string, int> numbers_;
  std::unordered_map<std::string, std::size_t> elements_;
  std::vector<Control> controls_;
};

std::string read_text(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    throw UserError(fmt::format("netlist file \"{}\": {}", file.string(),
                                std::filesystem::exists(file, error) ? "is no regular file" : "no such file"));
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text =
      read_bounded(stream, fmt::format("netlist file \"{}\"", file.string()), expected_bytes(file.string()));
  if (!stream.is_open() || stream.bad())
    throw UserError(fmt::format("netlist file \"{}\": cannot be read", file.string()));
  return text;
}

}  // namespace

Netlist parse_netlist(const std::string& name, const std::string& text, const ReadInclude& include,
                      const NetlistLimit& limit) {
  Netlist netlist = Expansion(read_cards(name, text, include), limit).run();
  check_netlist(netlist, name);
  return netlist;
}

Netlist read_netlist(const std::filesystem::path& file, const NetlistLimit& limit) {
  const ReadInclude include = [](const std::string& name, const std::string& from, std::string& path) {
    const std::filesystem::path found = std::filesystem::path(from).parent_path() / name;
    path = found.string();
    return read_text(found);
  };
  return parse_netlist(file.string(), read_text(file), include, limit);
}

namespace {

bool same_name(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

int find_node(const Netlist& netlist, const std::string& name) {
  const auto found = std::find_if(netlist.nodes.begin(), netlist.nodes.end(),
                                  [&](const std::string& node) { return same_name(node, name); });
  return found == netlist.nodes.end() ? -1 : static_cast<int>(found - netlist.nodes.begin());
}

int find_element(const Netlist& netlist, const std::string& name) {
  const auto found = std::find_if(netlist.elements.begin(), netlist.elements.end(),
                                  [&](const Element& element) { return same_name(element.name, name); });
  return found == netlist.elements.end() ? -1 : static_cast<int>(found - netlist.elements.begin());
}

}  // namespace nudge
