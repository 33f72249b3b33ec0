// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/coupling.hpp"

#include "circuits/terms/shared_array.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
Matrix<S> coupling_matrix(const Matrix<S>& pattern, double symmetric, double antisymmetric) {
  NUDGE_EXPECT(pattern.rows() == pattern.cols());
  const S s = static_cast<S>(0.5 * (symmetric + antisymmetric));
  const S a = static_cast<S>(0.5 * (symmetric - antisymmetric));
  return s * pattern + a * pattern.transpose();
}

template <class S>
NodeCoupling<S>::NodeCoupling(int source, Columns from, int target, Columns to, S gain, std::string_view name)
    : source_(source), target_(target), from_(from), to_(to), gain_(gain), name_(name) {
  NUDGE_EXPECT(from.count == to.count && source != target);
}

/// System of the coupling; it is linear and remembers nothing of a point.
template <class S>
class NodeCoupling<S>::System final : public WeightlessSystem<S> {
 public:
  explicit System(const NodeCoupling& term) : term_(&term) {}

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int /*node*/, Store /*store*/,
             ReadContext& /*read*/) override {
    if (part != Part::conservative) drive(z, term_->from_, f, term_->to_, term_->gain_);
  }
  void linearize(ConstMatrixRef<S> z, MatrixRef<S> /*conservative*/, MatrixRef<S> rest,
                 ReadContext& /*read*/) override {
    drive(z, term_->from_, rest, term_->to_, term_->gain_);
  }
  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& /*read*/) override {
    if (part != Part::conservative) drive(v, term_->from_, f, term_->to_, scale * term_->gain_);
  }
  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& /*read*/) override {
    if (part != Part::conservative) drive(u, term_->to_, f, term_->from_, term_->gain_);
  }

 private:
  static void drive(ConstMatrixRef<S> z, Columns from, MatrixRef<S> f, Columns to, S gain) {
    f.middleCols(to.begin, to.count) += gain * z.middleCols(from.begin, from.count);
  }

  const NodeCoupling* term_;
};

template <class S>
std::unique_ptr<TermSystem<S>> NodeCoupling<S>::make_system(Index /*rows*/, Index /*max_copies*/) const {
  return std::make_unique<System>(*this);
}

template <class S>
Coupling<S>::Coupling(Columns at)
    : NodeCoupling<S>(SharedArray<S>::kProjections, at, SharedArray<S>::kState, {0, at.count}, S(1), "coupling") {}

#define NUDGE_COUPLING(S)                                                  \
  template Matrix<S> coupling_matrix<S>(const Matrix<S>&, double, double); \
  template class NodeCoupling<S>;                                          \
  template class Coupling<S>;
NUDGE_BOTH_PRECISIONS(NUDGE_COUPLING)

}  // namespace nudge
