// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/node_terms.hpp"

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
NodeDiodes<S>::NodeDiodes(int node, Columns columns, Index above, const DiodeLaw& law)
    : node_(node), columns_(columns), above_(above), law_(law) {
  NUDGE_EXPECT(above >= 0 && above <= columns.count && law.saturation > 0 && law.thermal > 0);
}

/// Moves the units to balance; without its diode a unit would rest at z + (f − I(z))/D.
template <class S>
bool NodeDiodes<S>::balance(MatrixRef<S> z, ConstMatrixRef<S> f, const Matrix<S>& inverse, Columns columns) const {
  if (columns.begin != columns_.begin || columns.count != columns_.count) return false;
  for (Index row = 0; row < z.rows(); ++row) {
    for (Index i = 0; i < columns_.count; ++i) {
      const Index at = columns_.begin + i;
      const auto share = static_cast<double>(inverse(0, at));
      if (share == 0) continue;
      const auto v = static_cast<double>(z(row, at));
      const double push = static_cast<double>(f(row, at)) - law_.current(v, sign(i));
      z(row, at) = static_cast<S>(law_.settle(v + share * push, 1 / share, sign(i)));
    }
  }
  return true;
}

template <class S>
class NodeDiodes<S>::System final : public TermSystem<S> {
 public:
  System(const NodeDiodes& term, Index rows)
      : term_(&term), z0_(rows, term.columns_.count), slope_(rows, term.columns_.count) {}

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int /*node*/, Store /*store*/,
             ReadContext& /*read*/) override {
    if (part == Part::nonconservative) return;
    const auto [begin, count] = term_->columns_;
    for (Index row = 0; row < z.rows(); ++row) {
      for (Index i = 0; i < count; ++i) {
        const auto v = static_cast<double>(z(row, begin + i));
        f(row, begin + i) += static_cast<S>(term_->law_.current(v, term_->sign(i)));
      }
    }
  }

  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> /*rest*/, ReadContext& read) override {
    z0_ = z.middleCols(term_->columns_.begin, term_->columns_.count);
    for (Index row = 0; row < z0_.rows(); ++row) {
      for (Index i = 0; i < z0_.cols(); ++i) {
        slope_(row, i) = static_cast<S>(term_->law_.slope(static_cast<double>(z0_(row, i)), term_->sign(i)));
      }
    }
    force(z, conservative, Part::conservative, kAllNodes, Store::add, read);
  }

  // J is diagonal: minus the slopes.
  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& /*read*/) override {
    if (part == Part::nonconservative) return;
    const auto [begin, count] = term_->columns_;
    for (Index row = 0; row < v.rows(); row += slope_.rows()) {
      f.middleCols(begin, count).middleRows(row, slope_.rows()) -=
          scale * slope_.cwiseProduct(v.middleCols(begin, count).middleRows(row, slope_.rows()));
    }
  }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override { jvp(u, S(1), f, part, read); }

  void accumulate(ConstMatrixRef<S> u, S /*scale*/, GradientSink<S>& /*sink*/, MatrixRef<S> /*input_gradient*/,
                  MatrixRef<S> f, ReadContext& read) override {
    if (f.size() > 0) vjp(u, f, Part::all, read);
  }

  bool accumulate_energy_gradient(ConstMatrixRef<S> /*z*/, std::span<const S> /*scales*/, GradientSink<S>& /*sink*/,
                                  ReadContext& /*read*/) override {
    return true;  // no parameters
  }

  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& /*read*/) override {
    const auto own = z.middleCols(term_->columns_.begin, term_->columns_.count);
    double sum = 0;
    for (Index row = 0; row < own.rows(); ++row) {
      for (Index i = 0; i < own.cols(); ++i) {
        sum += term_->law_.energy(static_cast<double>(own(row, i)), term_->sign(i));
      }
    }
    return sum;
  }

  /// Adds the law of each unit by itself, whatever drives it: I(z₀ + v) − I(z₀).
  void law(NudgedForm form, ConstMatrixRef<S> z, ConstMatrixRef<S> v, NudgedDrive drive, MatrixRef<S> f,
           ReadContext& read) override {
    if (drive == NudgedDrive::state || form == NudgedForm::corrected) {
      return TermSystem<S>::law(form, z, v, drive, f, read);
    }
    const auto [begin, count] = term_->columns_;
    for (Index row = 0; row < v.rows(); ++row) {
      for (Index i = 0; i < count; ++i) {
        const auto at = static_cast<double>(z0_(row % z0_.rows(), i));
        const auto moved = at + static_cast<double>(v(row, begin + i));
        f(row, begin + i) +=
            static_cast<S>(term_->law_.current(moved, term_->sign(i)) - term_->law_.current(at, term_->sign(i)));
      }
    }
  }

 private:
  const NodeDiodes* term_;
  Matrix<S> z0_, slope_;  ///< state and slope at the point
};

template <class S>
std::unique_ptr<TermSystem<S>> NodeDiodes<S>::make_system(Index rows, Index /*max_copies*/) const {
  return std::make_unique<System>(*this, rows);
}

NUDGE_BOTH_PRECISIONS_OF(NodeDiodes)

}  // namespace nudge
