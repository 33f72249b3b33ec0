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
    const ForceTermTraits<S> traits = term->traits();
    NUDGE_EXPECT(traits.conservative || !traits.returns_through_input);  // F and Jᵀ v would share its columns of g
    if (!placed_.empty() && placed_.back().traits.conservative != traits.conservative) ++changes;
    placed_.push_back({term.get(), {next, traits.input_columns}, traits});
    next += traits.input_columns;
  }
  NUDGE_EXPECT(input.inputs() == at.count && input.outputs() == next && changes <= 1);
}

template <class S>
template <class Is>
bool SharedArray<S>::any_map(Is is) const {
  if (is(*input_)) return true;
  for (const Placed& placed : placed_) {
    for (const TermWeights<S>& own : placed.traits.weights) {
      if (is(*own.map)) return true;
    }
  }
  return false;
}

template <class S>
TermTraits SharedArray<S>::traits() const {
  TermTraits all{.name = "shared_array",
                 .sources = {node_},
                 .targets = {node_},
                 .noisy = any_map([](const LinearMap<S>& map) { return map.noisy(); }),
                 .keeps_points = !any_map([](const LinearMap<S>& map) { return !map.plain(); })};
  for (const Placed& placed : placed_) {
    (placed.traits.conservative ? all.conservative : all.nonconservative) = true;
    if (placed.traits.conservative && !placed.traits.returns_through_input) all.takes_difference = false;
  }
  return all;
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
