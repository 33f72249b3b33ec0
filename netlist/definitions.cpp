// SPDX-License-Identifier: Apache-2.0
#include "netlist/definitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

constexpr int kDeepestInstance = 32;  // and .subckt within .subckt
constexpr char kWithin = '\n';        // of keys: no word has it

/// Size of cards: the count of their elements and instances, and the levels of instances in them. A count is below 10^(9 ·
/// 32), the cards of 256 MiB at every level, which a double can hold.
struct Size {
  double count = 0;
  int depth = 0;
};

std::string key_in(const std::string& around, const std::string& name) {
  return around.empty() ? name : around + kWithin + name;
}

bool same_cards(const Definition& a, const Definition& b) {
  return same_words(a.head, b.head) &&
         std::equal(a.body.begin(), a.body.end(), b.body.begin(), b.body.end(), same_words);
}

Definition start_definition(Card card, std::string around) {
  if (card.size() < 2) refuse(card.front().place, "the name is missing: .subckt NAME pins [name=value …]");
  Definition made;
  std::size_t at = 2;
  while (at < card.size() && card[at].text != "params:" && !assigns(card, at)) made.pins.push_back(card[at++]);
  made.defaults = at < card.size() && card[at].text == "params:" ? at + 1 : at;
  made.head = std::move(card);
  made.around = std::move(around);
  return made;
}

}  // namespace

/// Counts instances, each .subckt once.
class Definitions::Counter {
 public:
  explicit Counter(const std::map<std::string, Definition>& all) : all_(&all) {}

  /// Size of one card at a depth of instances.
  Size of(const Card& card, int depth) {
    if (card.front().text.front() == '.') return {};
    const std::size_t at = card.front().text.front() == 'x' ? instance_name(card) : 0;
    const auto found = at > 0 ? all_->find(card[at].text) : all_->end();
    if (found == all_->end()) return {1, 0};
    const auto known = known_.find(card[at].text);
    const Size inner = known != known_.end() ? known->second : of_body(card, found->second.body, depth);
    if (depth + inner.depth >= kDeepestInstance) refuse_depth(card);
    known_.emplace(card[at].text, inner);
    return {1 + inner.count, 1 + inner.depth};
  }

 private:
  Size of_body(const Card& instance, const std::vector<Card>& body, int depth) {
    if (depth >= kDeepestInstance) refuse_depth(instance);  // what is within itself ends here
    Size all;
    for (const Card& card : body) {
      const Size one = of(card, depth + 1);
      all.count += one.count;
      all.depth = std::max(all.depth, one.depth);
    }
    return all;
  }
  [[noreturn]] static void refuse_depth(const Card& card) {
    refuse(card.front().place, fmt::format("{}: instances are more than {} deep (a .subckt within itself?)",
                                           card.front().raw, kDeepestInstance));
  }

  const std::map<std::string, Definition>* all_;
  std::unordered_map<std::string, Size> known_;
};

Definitions::Definitions(std::vector<Card> cards) {
  std::vector<Open> open = {{}};
  for (Card& card : cards) add(std::move(card), open);
  if (open.size() > 1) {
    const Word& name = all_.at(open.back().key).head[1];
    refuse(all_.at(open.back().key).head.front().place, fmt::format(".subckt {} has no .ends", name.raw));
  }
  resolve(top_, "");
  for (auto& [key, definition] : all_) resolve(definition.body, key);
}

void Definitions::add(Card card, std::vector<Open>& open) {
  const std::string& word = card.front().text;
  if (word == ".ends") return close(card, open);
  if (word != ".subckt") {
    if (word == ".if") ++open.back().conditions;
    if (word == ".endif") --open.back().conditions;
    (open.size() == 1 ? top_ : all_.at(open.back().key).body).push_back(std::move(card));
    return;
  }
  if (open.back().conditions > 0) {
    refuse(card.front().place, ".subckt within .if (give the two other names, and choose between instances)");
  }
  if (static_cast<int>(open.size()) > kDeepestInstance)
    refuse(card.front().place, ".subckt stand within each other more than 32 deep");
  if (open.size() > 1) all_.at(open.back().key).has_inner = true;
  Definition made = start_definition(std::move(card), open.back().key);
  const std::string key = key_in(made.around, made.head[1].text);
  // A second one of this name is read beside the first, with a key that nothing names, and then compared.
  if (all_.count(key) > 0) {
    open.push_back({fmt::format("{}{}{}{}", key, kWithin, kWithin, all_.size()), key});
  } else {
    open.push_back({key});
  }
  all_.emplace(open.back().key, std::move(made));
}

void Definitions::close(const Card& card, std::vector<Open>& open) {
  if (open.size() == 1) refuse(card.front().place, ".ends without .subckt");
  const Definition& made = all_.at(open.back().key);
  if (card.size() > 1 && card[1].text != made.head[1].text) {
    refuse(card[1].place, fmt::format(".ends {} (must be {})", card[1].raw, made.head[1].raw));
  }
  if (const std::string& key = open.back().first; !key.empty()) {
    Definition& first = all_.at(key);
    if (!first.twice && (made.has_inner || !same_cards(first, made))) {
      first.twice = true;
      first.second = made.head[1].place;
    }
  }
  open.pop_back();
}

/// Replaces the names of .subckt in instances by their keys: that of the nearest one around the cards.
void Definitions::resolve(std::vector<Card>& cards, const std::string& key) const {
  for (Card& card : cards) {
    const std::size_t at = card.front().text.front() == 'x' ? instance_name(card) : 0;
    if (at == 0) continue;
    std::string around = key;
    while (!around.empty() && all_.count(key_in(around, card[at].text)) == 0) {
      const std::size_t end = around.rfind(kWithin);
      around.resize(end == std::string::npos ? 0 : end);
    }
    card[at].text = key_in(around, card[at].text);
  }
}

const Definition& Definitions::named(const Word& name) const {
  const auto found = all_.find(name.text);
  if (found == all_.end()) {
    std::vector<std::string> names;
    for (const auto& [key, definition] : all_) names.push_back(definition.head[1].text);
    refuse(name.place, names.empty() ? fmt::format("no .subckt {}", name.raw)
                                     : fmt::format("no .subckt {} ({})", name.raw, did_you_mean(name.text, names)));
  }
  const Definition& definition = found->second;
  if (definition.twice) {
    refuse(definition.second, fmt::format(".subckt {} is defined twice, with other cards (the first: {})",
                                          definition.head[1].raw, to_string(definition.head[1].place)));
  }
  return definition;
}

std::size_t instance_name(const Card& card) {
  std::size_t end = 1;  // of pins and name
  while (end < card.size() && card[end].text != "params:" && !assigns(card, end)) ++end;
  return end < 2 ? 0 : end - 1;
}

void Definitions::check_size(const NetlistLimit& limit) const {
  Counter counter(all_);
  double total = 0;
  for (const Card& card : top_) {
    const double own = counter.of(card, 0).count;
    total += own;
    if (total <= static_cast<double>(limit.elements)) continue;
    const std::string what =
        own > 1 ? fmt::format("{}: its .subckt stands for {:.10g} elements, and with it", card.front().raw, own)
                : card.front().raw + ": with it";
    refuse_netlist_size(card.front().place, what, total, limit);
  }
}

void refuse_netlist_size(const Place& place, const std::string& what, double count, const NetlistLimit& limit) {
  refuse(place,
         fmt::format("{} the netlist has {:.10g} elements or more, instances of .subckt included ({} = {}). Use fewer "
                     "instances within instances, or raise {}: an element takes about 1 kB of memory",
                     what, count, limit.key, limit.elements, limit.key));
}

}  // namespace nudge
