// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/hopfield_memory.hpp"

#include <vector>

#include "circuits/terms/shared_array.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
HopfieldMemory<S>::HopfieldMemory(Columns at) : UnitForce<S>("memory", {SharedArray<S>::kProjections}, at) {}

template <class S>
TermTraits HopfieldMemory<S>::traits() const {
  TermTraits traits = UnitForce<S>::traits();
  traits.takes_difference = traits.assigns = true;
  return traits;
}

NUDGE_BOTH_PRECISIONS_OF(HopfieldMemory)

namespace {

/// Adds 2 scale D ∘ h to g, with the gate D = [u > 0], the derivative of 2 relu(u). `twice_rectified` is 2 relu(u) at the
/// point (T, M); h and g (k·T, M) are copies stacked by rows.
template <class S>
void add_gate(const Matrix<S>& twice_rectified, ConstMatrixRef<S> h, S scale, MatrixRef<S> g) {
  const Index tokens = twice_rectified.rows();
  NUDGE_EXPECT(h.rows() % tokens == 0);
  const S open = S(2) * scale;
  // A plain loop, which compilers turn into vectors; select() of Eigen 3.4 branches on every element.
  for (Index row = 0; row < h.rows(); ++row) {
    const S* at = twice_rectified.row(row % tokens).data();
    const S* in = h.row(row).data();
    S* out = g.row(row).data();
    for (Index j = 0; j < h.cols(); ++j) {
      const S gate = at[j] > S(0) ? open : S(0);  // a mask: no arithmetic that might trap stands behind the comparison
      out[j] += gate * in[j];
    }
  }
}

}  // namespace

template <class S>
TwoArrayMemory<S>::TwoArrayMemory(Columns at, int parameter, const LinearMap<S>& back, CorrectionScope scope)
    : at_(at), parameter_(parameter), back_(&back), scope_(scope) {
  NUDGE_EXPECT(back.inputs() == at.count);
}

template <class S>
TermTraits TwoArrayMemory<S>::traits() const {
  const bool conservative = scope_ == CorrectionScope::attention;
  return {.name = "two_array_memory",
          .conservative = conservative,
          .nonconservative = !conservative,
          .sources = {SharedArray<S>::kProjections},
          .targets = {SharedArray<S>::kState},
          .takes_difference = false,
          .noisy = back_->noisy(),
          .keeps_points = back_->plain()};
}

template <class S>
class TwoArrayMemory<S>::System final : public TermSystem<S> {
 public:
  System(const TwoArrayMemory& term, Index rows, Index max_copies)
      : term_(&term), twice_rectified_(rows, term.at_.count), drive_(max_copies * rows, term.at_.count) {}

  void force(ConstMatrixRef<S> x, MatrixRef<S> f, Part part, int /*node*/, Store /*store*/,
             ReadContext& read) override {
    if (!in(part)) return;
    auto drive = drive_.topRows(x.rows());
    drive.array() = S(2) * own(x).array().max(S(0));
    back().forward(drive, state(f), back().all_columns(), Store::add, read);
  }
  void linearize(ConstMatrixRef<S> x, MatrixRef<S> conservative, MatrixRef<S> rest, ReadContext& read) override {
    twice_rectified_.array() = S(2) * own(x).array().max(S(0));
    back().forward(twice_rectified_, state(in(Part::conservative) ? conservative : rest), back().all_columns(),
                   Store::add, read);
  }
  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) override {
    if (!in(part)) return;
    auto drive = drive_.topRows(v.rows());
    drive.setZero();
    add_gate<S>(twice_rectified_, own(v), scale, drive);
    back().derivative(ReadDirection::forward, Derivative::jvp, twice_rectified_, drive, state(f), back().all_columns(),
                      Store::add, read);
  }
  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override {
    if (!in(part)) return;
    auto through = drive_.topRows(u.rows());
    back().derivative(ReadDirection::forward, Derivative::vjp, twice_rectified_, state(u), through,
                      back().all_columns(), Store::assign, read);
    add_gate<S>(twice_rectified_, through, S(1), own(f));
  }
  void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> /*input_gradient*/, MatrixRef<S> f,
                  ReadContext& read) override {
    back().correlate(ReadDirection::forward, twice_rectified_, state(u), back().all_columns(), scale, term_->parameter_,
                     sink, read);
    if (f.size() > 0) vjp(u, f, Part::all, read);
  }
  void swap_point(std::size_t number) override {
    if (kept_.size() <= number) kept_.resize(number + 1);
    if (kept_[number].size() == 0) kept_[number].resize(twice_rectified_.rows(), twice_rectified_.cols());
    twice_rectified_.swap(kept_[number]);
  }
  /// Adds F(z) − J v by one drive of the return array.
  void law(NudgedForm form, ConstMatrixRef<S> x, ConstMatrixRef<S> v, NudgedDrive drive, MatrixRef<S> f,
           ReadContext& read) override {
    if (form != NudgedForm::corrected || in(Part::conservative)) {
      return TermSystem<S>::law(form, x, v, drive, f, read);
    }
    auto both = drive_.topRows(x.rows());
    both.array() = S(2) * own(x).array().max(S(0));
    add_gate<S>(twice_rectified_, own(v), S(-1), both);
    back().forward(both, state(f), back().all_columns(), Store::add, read);
    vjp(v, f, Part::nonconservative, read);
  }

 private:
  bool in(Part part) const {
    return part == Part::all || (part == Part::conservative) == (term_->scope_ == CorrectionScope::attention);
  }
  const LinearMap<S>& back() const { return *term_->back_; }
  template <class Ref>
  auto own(Ref&& x) const {
    return x.middleCols(term_->at_.begin, term_->at_.count);
  }
  template <class Ref>
  auto state(Ref&& x) const {
    return x.leftCols(back().outputs());
  }

  const TwoArrayMemory* term_;
  Matrix<S> twice_rectified_;  ///< 2 relu(u) at the point; its sign is the gate D
  Matrix<S> drive_;            ///< drive of the return array, (copies·T, M)
  std::vector<Matrix<S>> kept_;
};

template <class S>
std::unique_ptr<TermSystem<S>> TwoArrayMemory<S>::make_system(Index rows, Index max_copies) const {
  return std::make_unique<System>(*this, rows, max_copies);
}

NUDGE_BOTH_PRECISIONS_OF(TwoArrayMemory)

}  // namespace nudge
