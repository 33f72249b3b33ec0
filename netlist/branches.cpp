// SPDX-License-Identifier: Apache-2.0
#include "netlist/branches.hpp"

namespace nudge {

bool Branches::take(const Card& card) {
  const std::string& word = card.front().text;
  const bool other = word == ".elseif" || word == ".else" || word == ".endif";
  if (other && open_.empty()) refuse(card.front().place, word + " without .if");
  if (word == ".if") {
    const bool within = active();
    const bool holds = within && condition(card);
    open_.push_back({holds, holds || !within, card.front().place});
  } else if (word == ".elseif") {
    Branch& branch = open_.back();
    branch.active = !branch.done && condition(card);
    branch.done = branch.done || branch.active;
  } else if (word == ".else") {
    Branch& branch = open_.back();
    branch.active = !branch.done;
    branch.done = true;
  } else if (word == ".endif") {
    open_.pop_back();
  } else {
    return active();
  }
  return false;
}

void Branches::finish() const {
  if (!open_.empty()) refuse(open_.back().place, ".if has no .endif");
}

bool Branches::condition(const Card& card) {
  if (card.size() < 2) refuse(card.front().place, card.front().text + " takes a condition: .if (k > 1)");
  return scope_->assigned(joined_words(card, 1, card.size())) != 0;
}

}  // namespace nudge
