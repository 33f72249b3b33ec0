// SPDX-License-Identifier: Apache-2.0
#include "quartic_well.hpp"

#include <utility>

namespace mine {

using nudge::ConstMatrixRef;
using nudge::GradientSink;
using nudge::Index;
using nudge::Matrix;
using nudge::MatrixRef;
using nudge::Part;
using nudge::ReadContext;
using nudge::Store;

template <class S>
QuarticWell<S>::QuarticWell(double stiffness, std::vector<int> nodes)
    : stiffness_(static_cast<S>(stiffness)), nodes_(std::move(nodes)) {}

template <class S>
nudge::TermTraits QuarticWell<S>::traits() const {
  // A spring that bends is not driven by a difference of states.
  return {
      .name = "quartic_well", .conservative = true, .sources = nodes_, .targets = nodes_, .takes_difference = false};
}

/// The nodes are all of the circuit, so that whole states are taken.
template <class S>
class QuarticWell<S>::System final : public nudge::TermSystem<S> {
 public:
  explicit System(S stiffness) : stiffness_(stiffness) {}

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int /*node*/, Store /*store*/,
             ReadContext& /*read*/) override {
    if (part != Part::nonconservative) f.array() -= stiffness_ * z.array().cube();
  }

  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> /*rest*/,
                 ReadContext& /*read*/) override {
    slope_ = (S(-3) * stiffness_ * z.array().square()).matrix();
    conservative.array() -= stiffness_ * z.array().cube();
  }

  /// v of k copies side by side, at one point.
  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& /*read*/) override {
    if (part == Part::nonconservative) return;
    for (Index at = 0; at < v.rows(); at += slope_.rows()) {
      f.middleRows(at, slope_.rows()).array() += scale * slope_.array() * v.middleRows(at, slope_.rows()).array();
    }
  }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override { jvp(u, S(1), f, part, read); }

  void accumulate(ConstMatrixRef<S> u, S /*scale*/, GradientSink<S>& /*sink*/, MatrixRef<S> /*input_gradient*/,
                  MatrixRef<S> f, ReadContext& read) override {
    if (f.size() > 0) vjp(Matrix<S>(u), f, Part::all, read);  // f may be u
  }

  bool accumulate_energy_gradient(ConstMatrixRef<S> /*z*/, std::span<const S> /*scales*/, GradientSink<S>& /*sink*/,
                                  ReadContext& /*read*/) override {
    return true;  // no weights
  }

  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& /*read*/) override {
    return 0.25 * static_cast<double>(stiffness_) * z.template cast<double>().array().square().square().sum();
  }

 private:
  S stiffness_;
  Matrix<S> slope_;  ///< −3 κ z² of the point
};

template <class S>
std::unique_ptr<nudge::TermSystem<S>> QuarticWell<S>::make_system(Index /*rows*/, Index /*max_copies*/) const {
  return std::make_unique<System>(stiffness_);
}

template class QuarticWell<float>;
template class QuarticWell<double>;

}  // namespace mine
