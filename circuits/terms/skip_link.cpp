// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/skip_link.hpp"

#include "sim/base/errors.hpp"
#include "sim/base/sums.hpp"

namespace nudge {

template <class S>
SkipLink<S>::SkipLink(const LinkEnd& from, const LinkEnd& to, bool forward_only)
    : from_(from), to_(to), forward_only_(forward_only) {
  NUDGE_EXPECT(from.columns.count == to.columns.count && from.node != to.node && from.node != Term<S>::kInput);
}

template <class S>
TermTraits SkipLink<S>::traits() const {
  TermTraits all{.name = "skip_link",
                 .conservative = !forward_only_,
                 .nonconservative = forward_only_,
                 .sources = {from_.node},
                 .targets = {to_.node},
                 .takes_difference = forward_only_};
  if (!forward_only_) {
    all.sources.push_back(to_.node);
    all.targets.push_back(from_.node);
  } else if (to_.activation != NodeActivation::identity) {
    all.sources.push_back(to_.node);
  }
  return all;
}

/// The moving ends have the state, those with 0 the linearised point.
template <class S>
class SkipLink<S>::System final : public WeightlessSystem<S> {
 public:
  System(const SkipLink& term, Index rows, Index max_copies)
      : term_(&term),
        from_(term.from_, rows * max_copies),
        to_(term.to_, rows * max_copies),
        from0_(term.from_, rows),
        to0_(term.to_, rows),
        z0_(rows, std::max(term.from_.columns.end(), term.to_.columns.end())),
        gated_(rows * max_copies, term.to_.columns.count) {}

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int node, Store /*store*/,
             ReadContext& /*read*/) override {
    if (!term_->has(part)) return;
    from_.set(z);
    to_.set(z);
    const auto asked = [node](const LinkEnd& end) { return node == kAllNodes || node == end.node; };
    if (asked(term_->to_)) to_.add_gated(from_.value(z), S(1), on(f, term_->to_));
    if (!term_->forward_only_ && asked(term_->from_)) from_.add_gated(to_.value(z), S(1), on(f, term_->from_));
  }

  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> rest, ReadContext& /*read*/) override {
    z0_ = z.leftCols(z0_.cols());
    for (ActivatedNode<S>* end : {&from0_, &to0_}) {
      end->set(z0_);
      end->set_curvature();
    }
    MatrixRef<S>& f = term_->forward_only_ ? rest : conservative;
    to0_.add_gated(from0_.value(z0_), S(1), on(f, term_->to_));
    if (!term_->forward_only_) from0_.add_gated(to0_.value(z0_), S(1), on(f, term_->from_));
  }

  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& /*read*/) override {
    if (!term_->has(part)) return;
    drive(from0_, of(v, term_->from_), to0_, scale, on(f, term_->to_));
    to0_.add_curved(of(v, term_->to_), from0_.value(z0_), scale, on(f, term_->to_));
    if (term_->forward_only_) return;
    drive(to0_, of(v, term_->to_), from0_, scale, on(f, term_->from_));
    from0_.add_curved(of(v, term_->from_), to0_.value(z0_), scale, on(f, term_->from_));
  }

  /// J is symmetric where the link acts both ways. f may be u.
  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override {
    if (!term_->has(part)) return;
    u_ = u;
    if (!term_->forward_only_) return jvp(u_, S(1), f, part, read);
    drive(to0_, of(u_, term_->to_), from0_, S(1), on(f, term_->from_));
    to0_.add_curved(of(u_, term_->to_), from0_.value(z0_), S(1), on(f, term_->to_));
  }

  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& /*read*/) override {
    if (term_->forward_only_) return std::nullopt;
    from_.set(z);
    to_.set(z);
    return -inner_product<S>(from_.value(z), to_.value(z));
  }

 private:
  using View = Eigen::Ref<const Matrix<S>, 0, Eigen::OuterStride<>>;
  static View of(ConstMatrixRef<S> z, const LinkEnd& end) { return z.middleCols(end.columns.begin, end.columns.count); }
  static MatrixRef<S> on(MatrixRef<S> f, const LinkEnd& end) {
    return f.middleCols(end.columns.begin, end.columns.count);
  }
  /// out += scale ρ'_to ⊙ ρ'_from ⊙ x.
  void drive(const ActivatedNode<S>& from, ConstMatrixRef<S> x, const ActivatedNode<S>& to, S scale, MatrixRef<S> out) {
    auto gated = gated_.topRows(x.rows());
    from.gate(x, gated);
    to.add_gated(gated, scale, out);
  }

  const SkipLink* term_;
  ActivatedNode<S> from_, to_, from0_, to0_;
  Matrix<S> z0_, gated_, u_;
};

template <class S>
std::unique_ptr<TermSystem<S>> SkipLink<S>::make_system(Index rows, Index max_copies) const {
  return std::make_unique<System>(*this, rows, max_copies);
}

NUDGE_BOTH_PRECISIONS_OF(SkipLink)

}  // namespace nudge
