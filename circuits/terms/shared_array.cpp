// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/shared_array.hpp"

#include <algorithm>

#include "circuits/terms/shared_array_system.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
SharedArray<S>::SharedArray(int node, Columns at, std::vector<std::unique_ptr<ForceTerm<S>>> terms, int parameter,
                            const LinearMap<S>& input)
    : node_(node), at_(at), owned_(std::move(terms)), parameter_(parameter), input_(&input) {
  Index next = 0;
  [[maybe_unused]] int changes = 0;  // read by the contract alone
  for (const auto& term : owned_) {
    if (!placed_.empty() && placed_.back().term->conservative() != term->conservative()) ++changes;
    placed_.push_back({term.get(), {next, term->input_columns()}});
    next += term->input_columns();
  }
  NUDGE_EXPECT(input.inputs() == at.count && input.outputs() == next && changes <= 1);
}

template <class S>
bool SharedArray<S>::has(Part part) const {
  return std::any_of(placed_.begin(), placed_.end(), [part](const Placed& p) { return in_part(*p.term, part); });
}

template <class S>
bool SharedArray<S>::takes_difference() const {
  return std::all_of(placed_.begin(), placed_.end(),
                     [](const Placed& p) { return !p.term->conservative() || p.term->returns_through_input(); });
}

template <class S>
template <class Is>
bool SharedArray<S>::any_map(Is is) const {
  if (is(*input_)) return true;
  for (const auto& term : owned_) {
    for (const TermWeights<S>& own : term->weights()) {
      if (is(*own.map)) return true;
    }
  }
  return false;
}

template <class S>
bool SharedArray<S>::noisy() const {
  return any_map([](const LinearMap<S>& map) { return map.noisy(); });
}

template <class S>
bool SharedArray<S>::keeps_points() const {
  return !any_map([](const LinearMap<S>& map) { return !map.plain(); });
}

template <class S>
std::unique_ptr<TermSystem<S>> SharedArray<S>::make_system(Index rows, Index max_copies) const {
  return std::make_unique<System>(*this, rows, max_copies);
}

template <class S>
const TermPoint& SharedArray<S>::point(const TermSystem<S>& system, std::size_t term) {
  return dynamic_cast<const System&>(system).point(term);
}

template class SharedArray<float>;
template class SharedArray<double>;

}  // namespace nudge
