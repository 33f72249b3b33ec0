// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/netlist_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace nudge {
namespace {

constexpr int kDeepestInstance = 32;

/// Size of cards: the count of their elements and instances, and the levels of instances in them. A count is below 10^(9 ·
/// 32), the cards of 256 MiB at every level, which a double can hold.
struct Size {
  double count = 0;
  int depth = 0;
};

bool is_command(const Card& card) { return card.front().text.front() == '.'; }

class Counter {
 public:
  explicit Counter(const SubcktCards& subckt) : subckt_(&subckt) {}

  /// Size of one card at a depth of instances.
  Size of(const Card& card, int depth) {
    if (is_command(card)) return {};
    Size size{1, 0};
    const std::size_t at = card.front().text.front() == 'x' ? instance_name(card) : 0;
    const std::vector<Card>* body = at > 0 ? (*subckt_)(card[at].text) : nullptr;
    if (body == nullptr) return size;
    const auto known = known_.find(card[at].text);
    const Size inner = known != known_.end() ? known->second : of_body(card, *body, depth);
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

  const SubcktCards* subckt_;
  std::unordered_map<std::string, Size> known_;
};

}  // namespace

std::size_t instance_name(const Card& card) {
  std::size_t end = 1;  // of pins and name
  while (end < card.size() && card[end].text != "params:" && (end + 1 >= card.size() || card[end + 1].text != "="))
    ++end;
  return end < 2 ? 0 : end - 1;
}

void check_netlist_size(const std::vector<Card>& top, const SubcktCards& subckt, const NetlistLimit& limit) {
  Counter counter(subckt);
  double total = 0;
  for (const Card& card : top) {
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
