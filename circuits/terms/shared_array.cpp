// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/shared_array.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
SharedArray<S>::SharedArray(int node, Columns at, int parameter, const LinearMap<S>& input)
    : node_(node), at_(at), parameter_(parameter), input_(&input) {
  NUDGE_EXPECT(input.inputs() == at.count);
}

template <class S>
void SharedArray<S>::place(Columns columns, std::unique_ptr<Term<S>> term) {
  TermTraits traits = term->traits();
  NUDGE_EXPECT(traits.conservative != traits.nonconservative && traits.sources == std::vector{kProjections} &&
               traits.targets.size() == 1);
  const bool returns = traits.targets.front() == kProjections;
  NUDGE_EXPECT(traits.conservative || !returns);  // F and Jᵀ v would share its columns of g
  NUDGE_EXPECT(traits.assigns || !returns);       // nobody else writes there: it spares a pass
  NUDGE_EXPECT(placed_.size() < 2 || placed_.back().traits.conservative == traits.conservative ||
               placed_.front().traits.conservative == placed_.back().traits.conservative);
  width_ = columns.end();
  NUDGE_EXPECT(width_ <= input_->outputs());
  placed_.push_back({std::move(term), columns, std::move(traits), returns});
}

template <class S>
TermTraits SharedArray<S>::traits() const {
  TermTraits all{.name = "shared_array",
                 .sources = {node_},
                 .targets = {node_},
                 .noisy = input_->noisy(),
                 .keeps_points = input_->plain()};
  for (const Placed& one : placed_) {
    const TermTraits now = one.term->traits();
    all.conservative = all.conservative || now.conservative;
    all.nonconservative = all.nonconservative || now.nonconservative;
    all.noisy = all.noisy || now.noisy;
    all.keeps_points = all.keeps_points && now.keeps_points;
    if (now.conservative && !one.returns) all.takes_difference = false;  // it is not stored at z₀
  }
  return all;
}

template <class S>
std::unique_ptr<TermSystem<S>> SharedArray<S>::make_system(Index rows, Index max_copies) const {
  NUDGE_EXPECT(width_ == input_->outputs());
  return std::make_unique<System>(*this, rows, max_copies);
}

template <class S>
const TermSystem<S>& SharedArray<S>::system(const TermSystem<S>& array, std::size_t term) {
  return dynamic_cast<const System&>(array).system(term);
}

NUDGE_BOTH_PRECISIONS_OF(SharedArray)

}  // namespace nudge
