// SPDX-License-Identifier: Apache-2.0
#include "circuits/circuit.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
Circuit<S>::Circuit(std::vector<Node> nodes, Index inputs, std::vector<std::unique_ptr<Term<S>>> terms, Damping damping)
    : nodes_(std::move(nodes)), inputs_(inputs), terms_(std::move(terms)), damping_(damping) {
  NUDGE_EXPECT(!nodes_.empty());
  [[maybe_unused]] Index next = 0;
  for (const Node& node : nodes_) {
    NUDGE_EXPECT(node.columns.begin == next && (!node.driven || node.columns.count == inputs_));
    next = node.columns.end();
  }
  for (const auto& term : terms_) {
    note(*term);
    const TermTraits& traits = traits_.back();
    feed_forward_ = feed_forward_ && *std::max_element(traits.sources.begin(), traits.sources.end()) <
                                         *std::min_element(traits.targets.begin(), traits.targets.end());
  }
}

template <class S>
void Circuit<S>::note(const Term<S>& term) {
  const TermTraits& traits = traits_.emplace_back(term.traits());
  Reach reach{std::vector<bool>(nodes_.size()), std::vector<bool>(nodes_.size())};
  for (const int source : traits.sources) {
    if (source != Term<S>::kInput) reach.sources[static_cast<std::size_t>(source)] = true;
  }
  for (const int target : traits.targets) reach.targets[static_cast<std::size_t>(target)] = true;
  reach_.push_back(std::move(reach));
}

template <class S>
void Circuit<S>::add(std::unique_ptr<Term<S>> diagonal) {
  note(*diagonal);
  terms_.push_back(std::move(diagonal));
}

template <class S>
double Circuit<S>::least_leak() const {
  double least = leak(nodes_.front());
  for (const Node& node : nodes_) least = std::min(least, leak(node));
  return least;
}

template <class S>
bool Circuit<S>::loads(Matrix<S>& load) const {
  load.resize(1, cols());
  for (const Node& node : nodes_) {
    load.middleCols(node.columns.begin, node.columns.count).setConstant(static_cast<S>(leak(node)));
  }
  const Matrix<S> leaks = load;
  for (const auto& term : terms_) {
    if (term->add_load(load)) continue;
    load = leaks;
    return false;
  }
  return true;
}

template <class S>
double Circuit<S>::largest_load() const {
  Matrix<S> load;
  loads(load);
  return static_cast<double>(load.maxCoeff());
}

template <class S>
bool Circuit<S>::keeps_points() const {
  return node_noise_ == 0 &&
         std::all_of(traits_.begin(), traits_.end(), [](const TermTraits& term) { return term.keeps_points; });
}

template <class S>
bool Circuit<S>::noisy() const {
  return node_noise_ > 0 ||
         std::any_of(terms_.begin(), terms_.end(), [](const auto& term) { return term->traits().noisy; });
}

template <class S>
void Circuit<S>::set_nudged_drive(NudgedDrive drive) {
  NUDGE_EXPECT(drive == NudgedDrive::state || std::all_of(traits_.begin(), traits_.end(), [](const TermTraits& term) {
                 return term.takes_difference;
               }));
  nudged_drive_ = drive;
}

NUDGE_BOTH_PRECISIONS_OF(Circuit)

}  // namespace nudge
