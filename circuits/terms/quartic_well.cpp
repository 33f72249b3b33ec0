// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/node_terms.hpp"

namespace nudge {

template <class S>
class QuarticWell<S>::System final : public TermSystem<S> {
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

  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& /*read*/) override {
    return 0.25 * static_cast<double>(stiffness_) * z.template cast<double>().array().square().square().sum();
  }

  bool accumulate_energy_gradient(ConstMatrixRef<S> /*z*/, std::span<const S> /*scales*/, GradientSink<S>& /*sink*/,
                                  ReadContext& /*read*/) override {
    return true;  // nothing of it learns
  }

 private:
  S stiffness_;
  Matrix<S> slope_;
};

template <class S>
std::unique_ptr<TermSystem<S>> QuarticWell<S>::make_system(Index /*rows*/, Index /*max_copies*/) const {
  return std::make_unique<System>(stiffness_);
}

NUDGE_BOTH_PRECISIONS_OF(QuarticWell)

}  // namespace nudge
