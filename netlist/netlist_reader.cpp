// SPDX-License-Identifier: Apache-2.0
#include "netlist/netlist_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>

#include "netlist/branches.hpp"
#include "netlist/definitions.hpp"
#include "netlist/netlist_options.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

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
  Expansion(CardList cards, const NetlistLimit& limit, const MemristorSource& devices)
      : limit_(limit), memristors_(devices), globals_(global_nodes(cards.cards)), definitions_(std::move(cards.cards)) {
    netlist_.title = std::move(cards.title);
    for (const std::string& name : cards.left_aside) aside_.add(name);
    definitions_.check_size(limit_);
  }

  Netlist run() {
    ParameterScope scope;
    Level top{&scope, "", "", {}, {}, nullptr, nullptr, 1};
    define_parameters(definitions_.top(), scope);
    options_ = read_options(definitions_.top(), scope, netlist_, aside_);
    netlist_.celsius = options_.celsius;
    scope.set("temper", options_.celsius);
    expand(definitions_.top(), top);
    join_controls();
    if (std::string text = aside_.text(); !text.empty()) netlist_.notes.insert(netlist_.notes.begin(), std::move(text));
    return std::move(netlist_);
  }

 private:
  /// A .model card, read when an element names it.
  struct Model {
    const Card* card;
    const Card* second = nullptr;  ///< another one of this name
    std::optional<ModelCard> read = {};
  };
  /// Level of instances.
  struct Level {
    ParameterScope* scope;
    std::string prefix, key;  ///< key of its .subckt
    std::unordered_map<std::string, int> pins;
    std::map<std::string, Model> models;
    Level *caller, *around;  ///< instance that it stands in; instance of the .subckt around its .subckt
    double instances;        ///< product of m of the instances around its elements
  };
  /// Parameters of a .subckt: those of its head, and the names that an instance may set.
  struct Parameters {
    std::vector<Assignment> defaults;
    std::vector<std::string> names;
  };
  /// Source that controls an element, in the element's instance.
  struct Control {
    std::size_t element;
    std::string source;
    Word word;
    int number;  ///< of Element::sources; −1: Element::control
  };
  /// Inductor of a K card, in the card's instance.
  struct Coupled {
    std::string name;
    std::vector<std::string> inductors;
    double factor;
    Card card;
  };

  void note(const Place& place, const std::string& what) {
    const std::string where = to_string(place);
    if (noted_.insert(where).second) netlist_.notes.push_back(fmt::format("{}: {}", where, what));
  }

  /// Defines the .param and .func of a level.
  void define_parameters(const std::vector<Card>& cards, ParameterScope& scope) {
    int within = 0;
    for (const Card& card : cards) {
      const std::string& word = card.front().text;
      within += word == ".if" ? 1 : word == ".endif" ? -1 : 0;
      if (within > 0 && is_never_chosen(word)) {
        refuse(
            card.front().place,
            fmt::format("{} within .if: it would count in any case (write .param name={{condition ? a : b}})", word));
      }
      if (word == ".func") scope.define(read_function(card));
      if (word != ".param") continue;
      for (const Assignment& one : open_assignments(card)) {
        if (one.name.text.back() == ')') {  // of HSPICE
          scope.define(read_function({card.front(), one.name, joined_words({one.value}, 0, 1)}));
        } else if (scope.define(one)) {
          note(one.name.place, fmt::format("parameter {} is defined twice: this value counts", one.name.raw));
        }
      }
    }
  }

  void expand(const std::vector<Card>& cards, Level& level) {
    Branches branches(*level.scope);
    std::vector<const Card*> taken;
    for (const Card& card : cards) {
      if (!branches.take(card)) continue;
      taken.push_back(&card);
      if (card.front().text != ".model") continue;
      if (card.size() < 2) refuse(card.front().place, "words are missing: .model NAME TYPE (name=value …)");
      const auto [found, fresh] = level.models.emplace(card[1].text, Model{&card});
      if (!fresh && !same_words(card, *found->second.card)) found->second.second = &card;
    }
    branches.finish();
    for (const Card* card : taken) {
      const char first = card->front().text.front();
      if (first == '.') {
        command(*card, level);
      } else if (first == 'x') {
        instance(*card, level);
      } else {
        element(*card, level);
      }
    }
  }

  void command(const Card& card, const Level& level) {
    const std::string& word = card.front().text;
    if (word == ".param" || word == ".func" || word == ".model" || word == ".global" || word == ".op") return;
    if (is_left_out(word)) return analysis(card);
    if (word == ".nodeset" || word == ".ic") return start_voltages(card, level);
    if (!is_options(word) && word != ".temp")
      refuse(card.front().place, fmt::format("{} is not understood", card.front().raw));
    if (level.caller != nullptr) refuse(card.front().place, word + " stands outside of .subckt");
  }

  void analysis(const Card& card) {
    const std::string& word = card.front().text;
    if (word != ".tran" && word != ".ac" && word != ".noise") return aside_.add(word);
    netlist_.analyses.emplace_back();
    for (const Word& one : card) netlist_.analyses.back().push_back(one.text);
  }

  /// Reads ".nodeset v(a)=1 v(b)=2".
  void start_voltages(const Card& card, const Level& level) {
    for (std::size_t i = 1; i < card.size(); i += 4) {
      if (card[i].text != "v" || i + 3 >= card.size() || card[i + 2].text != "=")
        refuse(card[i].place, fmt::format("{} v(node)=voltage is expected here", card.front().text));
      const int at = node(card[i + 1], level);
      if (at == kGround) continue;
      netlist_.starts.emplace_back(at, level.scope->number(card[i + 3]));
      if (card[0].text == ".ic") netlist_.held.push_back(netlist_.starts.back());
    }
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

  /// Model of that name, of the nearest level around that has one; null: there is none.
  static std::pair<Level*, Model*> find_model(const std::string& name, Level& level) {
    for (Level* at = &level; at != nullptr; at = at->around) {
      const auto found = at->models.find(name);
      if (found != at->models.end()) return {at, &found->second};
    }
    return {nullptr, nullptr};
  }

  const ModelCard& model(const Word& word, Level& level) {
    if (const auto [at, model] = find_model(word.text, level); model != nullptr) {
      if (model->second != nullptr) {
        refuse((*model->second)[1].place, fmt::format(".model {} is defined twice (the first: {})", word.raw,
                                                      to_string(model->card->front().place)));
      }
      if (!model->read) model->read = read_model(*model->card, *at->scope);
      return *model->read;
    }
    std::vector<std::string> names;
    for (const Level* at = &level; at != nullptr; at = at->around) {
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
    if (card.front().text.front() == 'k') return coupling(card, level);
    std::vector<std::pair<Word, int>> sources;
    read_element(
        card, {*level.scope, [&](const Word& word) { return node(word, level); },
               [&](const Word& word) -> const ModelCard& { return model(word, level); },
               [&](const std::string& name) { return new_node(name); }, [&](Element made) { add(std::move(made)); },
               [&](const Word& word) { return find_model(word.text, level).second != nullptr; },
               [&](const Word& word, int k) { sources.emplace_back(word, k); }, level.prefix, level.instances, options_,
               memristors_});
    for (const auto& [word, k] : sources) {
      netlist_.elements.back().sources.resize(static_cast<std::size_t>(std::max(k + 1, 0)), -1);
      controls_.push_back({netlist_.elements.size() - 1, level.prefix + word.text, word, k});
    }
  }

  void instance(const Card& card, Level& level) {
    const std::size_t at = instance_name(card), end = at + 1;
    if (at == 0) {
      refuse(card.front().place,
             fmt::format("{}: words are missing: Xname nodes NAME [name=value …]", card.front().raw));
    }
    const Definition& definition = definitions_.named(card[at]);
    if (end - 2 != definition.pins.size()) {
      refuse(card.front().place, fmt::format("{}: {} nodes (.subckt {} has {})", card.front().raw, end - 2,
                                             card[at].raw, definition.pins.size()));
    }
    Level* around = &level;
    while (around->caller != nullptr && around->key != definition.around) around = around->caller;
    ParameterScope scope(*level.scope, *around->scope);
    Level inner{&scope, level.prefix + card.front().text + ".", card[at].text, {}, {}, &level, around, level.instances};
    for (std::size_t i = 0; i < definition.pins.size(); ++i) {
      inner.pins[definition.pins[i].text] = node(card[i + 1], level);
    }
    const std::vector<Assignment> given = arguments(card, end);
    inner.instances *= set_parameters(card, given, definition, *level.scope, scope);
    define_parameters(definition.body, scope);
    expand(definition.body, inner);
    const std::vector<std::string>& names = parameters_of(definition).names;
    for (const Assignment& one : given) {
      if (!level.scope->lacks(one.value, names)) compare_scopes(card, one, *level.scope, scope);
    }
  }

  static std::vector<Assignment> arguments(const Card& card, std::size_t from) {
    return assignments(card, from < card.size() && card[from].text == "params:" ? from + 1 : from);
  }

  const Parameters& parameters_of(const Definition& definition) {
    const auto [found, fresh] = parameters_.emplace(&definition, Parameters{});
    if (!fresh) return found->second;
    found->second.defaults = assignments(definition.head, definition.defaults);
    for (const Assignment& one : found->second.defaults) found->second.names.push_back(one.name.text);
    for (const Card& card : definition.body) {
      if (card.front().text != ".param") continue;
      for (const Assignment& one : open_assignments(card)) found->second.names.push_back(one.name.text);
    }
    return found->second;
  }

  /// Sets the parameters of an instance: values given in its card, evaluated by the caller's scope, then the defaults. Returns m, the count of
  /// instances in parallel, where it is no parameter of the .subckt.
  double set_parameters(const Card& card, const std::vector<Assignment>& given, const Definition& definition,
                        ParameterScope& caller, ParameterScope& scope) {
    const Parameters& known = parameters_of(definition);
    double parallel = 1;
    for (const Assignment& one : given) {
      if (caller.lacks(one.value, known.names)) continue;
      const double value = caller.argument(one.value);
      scope.set(one.name.text, value);
      if (std::find(known.names.begin(), known.names.end(), one.name.text) != known.names.end()) continue;
      if (one.name.text != "m") {
        refuse(
            one.name.place,
            fmt::format("{}: .subckt {} has no parameter {}{}", card.front().raw, definition.head[1].raw, one.name.raw,
                        known.names.empty() ? "" : " (" + did_you_mean(one.name.text, known.names) + ")"));
      }
      if (!(value > 0)) refuse(one.value.place, fmt::format("m = {:g} (must be > 0)", value));
      parallel = value;
    }
    for (const Assignment& one : known.defaults) scope.define(one);
    for (const Assignment& one : given) {
      if (caller.lacks(one.value, known.names)) scope.set(one.name.text, scope.assigned(one.value));
    }
    return parallel;
  }

  /// Notes an argument that ngspice, which evaluates it among the parameters of the .subckt, takes for another value.
  void compare_scopes(const Card& card, const Assignment& one, ParameterScope& caller, ParameterScope& inner) {
    const bool names = std::any_of(one.value.text.begin(), one.value.text.end(),
                                   [](char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0; });
    if (!names || std::isdigit(static_cast<unsigned char>(one.value.text.front())) != 0) return;
    const double here = caller.argument(one.value);
    try {
      if (caller.assigned_within(one.value, one.name.text, inner) == here) return;
    } catch (const UserError&) {
    }
    note(one.value.place,
         fmt::format(
             "{}: {} = {{{}}} is {:g}, with the parameters of the caller; ngspice takes those of the .subckt that "
             "have these names (give them other names)",
             card.front().raw, one.name.raw, one.value.raw, here));
  }

  void join_controls() {
    for (const Control& control : controls_) {
      const auto found = elements_.find(control.source);
      if (found == elements_.end() || netlist_.elements[found->second].kind != ElementKind::voltage) {
        refuse(control.word.place, fmt::format("{}: {} is not a voltage source, whose current could control it",
                                               netlist_.elements[control.element].name, control.word.raw));
      }
      Element& e = netlist_.elements[control.element];
      (control.number < 0 ? e.control : e.sources[static_cast<std::size_t>(control.number)]) =
          static_cast<int>(found->second);
    }
    for (const Coupled& one : couplings_) join_coupling(one);
  }

  /// Reads "Kname L1 L2 … FACTOR".
  void coupling(const Card& card, Level& level) {
    const auto fail = [&](std::size_t word, const std::string& what) {
      refuse(card[word].place, fmt::format("{}: {}", card.front().raw, what));
    };
    if (card.size() < 4) fail(card.size() - 1, "words are missing: Kname L1 L2 FACTOR");
    Coupled made{level.prefix + card.front().text, {}, level.scope->number(card.back()), card};
    if (!(std::abs(made.factor) <= 1))
      fail(card.size() - 1, fmt::format("k = {:g} (must be from -1 to 1)", made.factor));
    for (std::size_t i = 1; i + 1 < card.size(); ++i) made.inductors.push_back(level.prefix + card[i].text);
    couplings_.push_back(std::move(made));
  }

  void join_coupling(const Coupled& of) {
    std::vector<int> numbers;
    for (std::size_t i = 0; i < of.inductors.size(); ++i) {
      const auto found = elements_.find(of.inductors[i]);
      if (found == elements_.end() || netlist_.elements[found->second].kind != ElementKind::inductor)
        refuse(of.card[i + 1].place, fmt::format("{}: {} is no inductor", of.name, of.card[i + 1].raw));
      for (const int other : numbers) {
        if (other == static_cast<int>(found->second))
          refuse(of.card[i + 1].place, fmt::format("{}: {} stands twice", of.name, of.card[i + 1].raw));
        netlist_.couplings.push_back({of.name, other, static_cast<int>(found->second), of.factor});
      }
      numbers.push_back(static_cast<int>(found->second));
    }
  }

  NetlistLimit limit_;
  MemristorKinds memristors_;
  Netlist netlist_;
  ElementOptions options_;
  std::set<std::string> globals_;
  Definitions definitions_;
  std::map<const Definition*, Parameters> parameters_;
  LeftAside aside_;
  std::set<std::string> noted_;  ///< places that have a note
  std::unordered_map<std::string, int> numbers_;
  std::unordered_map<std::string, std::size_t> elements_;
  std::vector<Control> controls_;
  std::vector<Coupled> couplings_;
};

}  // namespace

Netlist parse_netlist(const std::string& name, const std::string& text, const ReadInclude& include,
                      const NetlistLimit& limit, const MemristorSource& devices) {
  Netlist netlist = Expansion(read_cards(name, text, include), limit, devices).run();
  check_netlist(netlist, name);
  return netlist;
}

}  // namespace nudge
