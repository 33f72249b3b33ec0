// SPDX-License-Identifier: Apache-2.0
#include "pendulum.hpp"

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
PendulumForce<S>::PendulumForce(double weight, std::vector<int> nodes)
    : weight_(static_cast<S>(weight)), nodes_(std::move(nodes)) {}

template <class S>
nudge::TermTraits PendulumForce<S>::traits() const {
  // Its torque is not driven by a difference of states.
  return {.name = "pendulum", .conservative = true, .sources = nodes_, .targets = nodes_, .takes_difference = false};
}

/// The nodes are all of the circuit, so that whole states are taken.
template <class S>
class PendulumForce<S>::System final : public nudge::TermSystem<S> {
 public:
  explicit System(S weight) : weight_(weight) {}

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int /*node*/, Store /*store*/,
             ReadContext& /*read*/) override {
    if (part != Part::nonconservative) f.array() -= weight_ * z.array().sin();
  }

  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> /*rest*/,
                 ReadContext& /*read*/) override {
    slope_ = (-weight_ * z.array().cos()).matrix();
    conservative.array() -= weight_ * z.array().sin();
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
    return static_cast<double>(weight_) * (1 - z.template cast<double>().array().cos()).sum();
  }

 private:
  S weight_;
  Matrix<S> slope_;  ///< −κ cos z of the point
};

template <class S>
std::unique_ptr<nudge::TermSystem<S>> PendulumForce<S>::make_system(Index /*rows*/, Index /*max_copies*/) const {
  return std::make_unique<System>(weight_);
}

template class PendulumForce<float>;
template class PendulumForce<double>;

}  // namespace mine
