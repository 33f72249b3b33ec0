// SPDX-License-Identifier: Apache-2.0
#include "circuits/amplifier_dynamics.hpp"

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {

double amplifier_tau(double gain_bandwidth_Hz, double load, double time_constant_s) {
  return (1 + load) / (2 * M_PI * gain_bandwidth_Hz * time_constant_s);
}

template <class S>
class AmplifierDynamics<S>::Point final : public Linearization<S> {
 public:
  explicit Point(AmplifierDynamics& owner) : owner_(&owner) {}

  void set(ConstMatrixRef<S> z) {
    z0_ = z;
    inner_ = &owner_->inner_->linearize(z.topRows(half()));
  }

  void force(MatrixRef<S> f, Part part) override {
    if (part == Part::conservative) {
      f.setZero();
      return;
    }
    f.topRows(half()) = z0_.bottomRows(half());
    inner_->force(f.bottomRows(half()), Part::all);
    f.bottomRows(half()) = owner_->rate_ * (f.bottomRows(half()) - z0_.bottomRows(half()));
  }

  // J = [0, 1; J_F/τ_a, −1/τ_a]
  void jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part part) override {
    out.setZero();
    if (part == Part::conservative) return;
    const Index n = half();
    for (Index row = 0; row < v.rows(); row += 2 * n) {
      out.middleRows(row, n) = v.middleRows(row + n, n);
      inner_->jvp(v.middleRows(row, n), out.middleRows(row + n, n), Part::all);
      out.middleRows(row + n, n) = owner_->rate_ * (out.middleRows(row + n, n) - v.middleRows(row + n, n));
    }
  }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> out, Part part) override {
    out.setZero();
    if (part == Part::conservative) return;
    const Index n = half();
    for (Index row = 0; row < u.rows(); row += 2 * n) {
      inner_->vjp(u.middleRows(row + n, n), out.middleRows(row, n), Part::all);
      out.middleRows(row, n) *= owner_->rate_;
      out.middleRows(row + n, n) = u.middleRows(row, n) - owner_->rate_ * u.middleRows(row + n, n);
    }
  }

  void accumulate_parameter_gradient(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink) override {
    inner_->accumulate_parameter_gradient(u.bottomRows(half()), scale * owner_->rate_, sink);
  }

  void corrected_force(ConstMatrixRef<S> z, MatrixRef<S> f) override {
    owner_->force(z, f, Part::all);
    add_turned(z, f, S(-1));
  }

  void transposed_force(ConstMatrixRef<S> z, MatrixRef<S> f) override {
    f.setZero();
    add_turned(z, f, S(0));
  }

 private:
  Index half() const { return owner_->inner_->rows(); }

  /// f += forward · J v + Jᵀ v, v = z − z₀
  void add_turned(ConstMatrixRef<S> z, MatrixRef<S> f, S forward) {
    Matrix<S> v(z.rows(), z.cols());
    for (Index row = 0; row < z.rows(); row += z0_.rows()) {
      v.middleRows(row, z0_.rows()) = z.middleRows(row, z0_.rows()) - z0_;
    }
    Matrix<S> out(z.rows(), z.cols());
    if (forward != S(0)) {
      jvp(v, out, Part::all);
      f += forward * out;
    }
    vjp(v, out, Part::all);
    f += out;
  }

  AmplifierDynamics* owner_;
  Matrix<S> z0_;
  Linearization<S>* inner_ = nullptr;
};

template <class S>
AmplifierDynamics<S>::AmplifierDynamics(Dynamics<S>& inner, double amplifier_tau)
    : inner_(&inner), rate_(static_cast<S>(1 / amplifier_tau)), point_(std::make_unique<Point>(*this)) {
  NUDGE_EXPECT(amplifier_tau > 0);
}

template <class S>
AmplifierDynamics<S>::~AmplifierDynamics() = default;

template <class S>
void AmplifierDynamics<S>::force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part) {
  const Index n = inner_->rows();
  NUDGE_EXPECT(z.rows() % (2 * n) == 0);
  f.setZero();
  if (part == Part::conservative) return;
  for (Index row = 0; row < z.rows(); row += 2 * n) {
    inner_->force(z.middleRows(row, n), f.middleRows(row + n, n), Part::all);
    f.middleRows(row + n, n) = rate_ * (f.middleRows(row + n, n) - z.middleRows(row + n, n));
    f.middleRows(row, n) = z.middleRows(row + n, n);
  }
}

template <class S>
Linearization<S>& AmplifierDynamics<S>::linearize(ConstMatrixRef<S> z) {
  NUDGE_EXPECT(z.rows() == rows());
  point_->set(z);
  return *point_;
}

template class AmplifierDynamics<float>;
template class AmplifierDynamics<double>;

}  // namespace nudge
