// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/unit_force.hpp"

#include <utility>

namespace nudge {

template <class S>
class UnitForce<S>::System final : public WeightlessSystem<S> {
 public:
  System(const UnitForce& term, Index rows) : term_(&term) {
    if (term.columns_) z0_.resize(rows, term.columns_->count);
    slope_.resizeLike(z0_);
  }

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int /*node*/, Store store,
             ReadContext& /*read*/) override {
    if (part == Part::nonconservative) return;
    if (store == Store::assign) own(f).setZero();
    term_->add_force(own(z), own(f));
  }

  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> /*rest*/,
                 ReadContext& /*read*/) override {
    z0_ = own(z);
    slope_.resizeLike(z0_);
    term_->slope(z0_, slope_);
    term_->add_force(z0_, own(conservative));
  }

  /// v of k copies side by side, at one point.
  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& /*read*/) override {
    if (part == Part::nonconservative) return;
    for (Index at = 0; at < v.rows(); at += z0_.rows()) {
      own(f).middleRows(at, z0_.rows()).array() += scale * slope_.array() * own(v).middleRows(at, z0_.rows()).array();
    }
  }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override { jvp(u, S(1), f, part, read); }

  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& /*read*/) override {
    return term_->energy(own(z));
  }

  void swap_point(std::size_t number) override {
    while (kept_.size() <= number) kept_.emplace_back(z0_, slope_);  // of their size: later points allocate nothing
    z0_.swap(kept_[number].first);
    slope_.swap(kept_[number].second);
  }

  void law(NudgedForm form, ConstMatrixRef<S> z, ConstMatrixRef<S> v, NudgedDrive drive, MatrixRef<S> f,
           ReadContext& read) override {
    if (drive == NudgedDrive::state || form == NudgedForm::corrected) {
      return TermSystem<S>::law(form, z, v, drive, f, read);
    }
    for (Index at = 0; at < v.rows(); at += z0_.rows()) {
      term_->add_difference(z0_, own(v).middleRows(at, z0_.rows()), own(f).middleRows(at, z0_.rows()));
    }
  }

 private:
  MatrixRef<S> own(MatrixRef<S> f) const {
    const auto [begin, count] = term_->columns_of(f);
    return f.middleCols(begin, count);
  }
  Eigen::Ref<const Matrix<S>, 0, Eigen::OuterStride<>> own(ConstMatrixRef<S> z) const {
    const auto [begin, count] = term_->columns_of(z);
    return z.middleCols(begin, count);
  }

  const UnitForce* term_;
  Matrix<S> z0_, slope_;  ///< of the point
  std::vector<std::pair<Matrix<S>, Matrix<S>>> kept_;
};

template <class S>
std::unique_ptr<TermSystem<S>> UnitForce<S>::make_system(Index rows, Index /*max_copies*/) const {
  return std::make_unique<System>(*this, rows);
}

NUDGE_BOTH_PRECISIONS_OF(UnitForce)

}  // namespace nudge
