// SPDX-License-Identifier: Apache-2.0
#include "circuits/equilibrium_block.hpp"

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
EquilibriumBlock<S>::EquilibriumBlock(Index channels, std::vector<std::unique_ptr<ForceTerm<S>>> terms,
                                      int input_parameter, LinearMap<S>& input, BlockLeak leak,
                                      std::vector<std::unique_ptr<StateTerm<S>>> state_terms)
    : channels_(channels),
      owned_(std::move(terms)),
      state_terms_(std::move(state_terms)),
      input_parameter_(input_parameter),
      input_(&input),
      leak_(leak) {
  Index next = 0;
  for (const auto& term : owned_) {
    placed_.push_back({term.get(), {next, term->input_columns()}});
    next += term->input_columns();
  }
  NUDGE_EXPECT(input.inputs() == channels && input.outputs() == next);
}

template <class S>
bool EquilibriumBlock<S>::noisy() const {
  if (node_noise_ > 0 || input_->noisy()) return true;
  for (const auto& term : owned_) {
    for (const TermWeights<S>& own : term->weights()) {
      if (own.map->noisy()) return true;
    }
  }
  return false;
}

template class EquilibriumBlock<float>;
template class EquilibriumBlock<double>;

}  // namespace nudge
