// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/node_terms.hpp"

#include <numeric>
#include <span>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {

template <class S>
LeakSpread<S>::LeakSpread(Matrix<S> deviations, std::size_t nodes) : deviations_(std::move(deviations)), nodes_(nodes) {
  NUDGE_EXPECT(deviations_.rows() == 1);
  std::iota(nodes_.begin(), nodes_.end(), 0);
}

template <class S>
TermTraits LeakSpread<S>::traits() const {
  return {.name = "leak_spread",
          .conservative = true,
          .sources = nodes_,
          .targets = nodes_,
          .takes_difference = true,
          .keeps_points = true};
}

/// All of its force is affine: the circuit adds it to its own leaks.
template <class S>
class LeakSpread<S>::System final : public WeightlessSystem<S> {
 public:
  explicit System(const LeakSpread& term) : term_(&term) {}

  bool add_affine_part(MatrixRef<S> /*drive*/, MatrixRef<S> load, ReadContext& /*read*/) override {
    return term_->add_load(load);
  }

  void force(ConstMatrixRef<S> /*z*/, MatrixRef<S> /*f*/, Part /*part*/, int /*node*/, Store /*store*/,
             ReadContext& /*read*/) override {}
  void linearize(ConstMatrixRef<S> /*z*/, MatrixRef<S> /*conservative*/, MatrixRef<S> /*rest*/,
                 ReadContext& /*read*/) override {}

  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& /*read*/) override {
    if (part == Part::nonconservative) return;
    f.array() -= scale * (v.array().rowwise() * term_->deviations_.row(0).array());
  }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override { jvp(u, S(1), f, part, read); }

  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& /*read*/) override {
    const auto weighted = z.array().square().rowwise() * term_->deviations_.row(0).array();
    return 0.5 * static_cast<double>(weighted.sum());
  }

  void law(NudgedForm form, ConstMatrixRef<S> /*z*/, ConstMatrixRef<S> v, NudgedDrive drive, MatrixRef<S> f,
           ReadContext& read) override {
    if (drive == NudgedDrive::difference && form != NudgedForm::corrected) jvp(v, S(1), f, Part::conservative, read);
  }

 private:
  const LeakSpread* term_;
};

template <class S>
std::unique_ptr<TermSystem<S>> LeakSpread<S>::make_system(Index /*rows*/, Index /*max_copies*/) const {
  return std::make_unique<System>(*this);
}

template <class S>
Matrix<S> drawn_deviations(double sigma, Index cols, std::uint64_t seed) {
  Matrix<S> deviations(1, cols);
  fill_normal<S>({seed, Purpose::leak_spread, 0}, 0, 0,
                 std::span<S>(deviations.data(), static_cast<std::size_t>(deviations.size())));
  return (static_cast<S>(sigma) * deviations).cwiseMax(S(-0.5)).cwiseMin(S(0.5));
}

#define NUDGE_LEAK_SPREAD(S)    \
  template class LeakSpread<S>; \
  template Matrix<S> drawn_deviations<S>(double, Index, std::uint64_t);
NUDGE_BOTH_PRECISIONS(NUDGE_LEAK_SPREAD)

}  // namespace nudge
