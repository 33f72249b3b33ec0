// SPDX-License-Identifier: Apache-2.0
#include "circuits/resistive/resistive_dynamics.hpp"

#include <cmath>

#include "circuits/resistive/resistive_currents.hpp"
#include "circuits/resistive/resistive_gradient.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

/// The force at a point: J = m (∂F/∂u) m with m = 0 at the nodes that rest on their diode and are pressed against it.
template <class S>
class ResistiveDynamics<S>::Point final : public Linearization<S> {
 public:
  explicit Point(ResistiveDynamics& owner) : owner_(owner) {}

  void move(ConstMatrixRef<S> u) {
    const ResistiveNetwork<S>& net = *owner_.network_;
    u_ = u;
    force_.resize(u.rows(), u.cols());
    owner_.force(u, force_);
    moving_ = Matrix<S>::Ones(u.rows(), u.cols());
    for (Index l = 1; l < net.depth(); ++l) {
      for (Index j = 0; j < net.width(l); ++j) {
        const Index at = net.columns(l).begin + j;
        const S sign = j < net.nodes_above_zero(l) ? S(1) : S(-1);
        for (Index b = 0; b < u.rows(); ++b) {
          if (sign * u(b, at) <= S(0) && sign * force_(b, at) <= S(0)) moving_(b, at) = S(0);
        }
      }
    }
    force_.array() *= moving_.array();
  }

  void force(MatrixRef<S> f, Part part) override {
    f = force_;
    if (part == Part::nonconservative) f.setZero();
  }

  void jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part part) override {
    const Index copies = v.rows() / u_.rows();
    if (part == Part::nonconservative) {
      out.setZero();
      return;
    }
    for (Index k = 0; k < copies; ++k) {
      const auto rows = v.middleRows(k * u_.rows(), u_.rows());
      const Matrix<S> p = owner_.voltages(Matrix<S>(rows.cwiseProduct(moving_)));
      Matrix<S> q = resistive_jvp<S>(*owner_.network_, p);
      q.array().rowwise() *= owner_.scale_.row(0).array() / owner_.reference_S_;
      out.middleRows(k * u_.rows(), u_.rows()) = q.cwiseProduct(moving_);
    }
  }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> out, Part part) override { jvp(u, out, part); }

  void accumulate_parameter_gradient(ConstMatrixRef<S> w, S scale, GradientSink<S>& sink) override {
    const ResistiveNetwork<S>& net = *owner_.network_;
    ResistiveGradient<S> gradient = zero_gradient(net);
    const Matrix<S> a = owner_.voltages(Matrix<S>(w.cwiseProduct(moving_)));
    accumulate_mixed<S>(net, owner_.sources_, owner_.voltages(u_), a, scale / owner_.reference_S_, gradient);
    for (Index l = 1; l <= net.depth(); ++l) {
      const auto& [g, bias] = gradient[static_cast<std::size_t>(l - 1)];
      const int number = static_cast<int>(2 * (l - 1));
      sink.accumulate(number, S(1), g);
      if (net.bias() != ResistiveBias::none) sink.accumulate(number + 1, S(1), bias);
    }
  }

 private:
  ResistiveDynamics& owner_;
  Matrix<S> u_, force_, moving_;
};

template <class S>
ResistiveDynamics<S>::ResistiveDynamics(const ResistiveNetwork<S>& network, Index rows)
    : network_(&network),
      rows_(rows),
      reference_S_(network.node_conductance().maxCoeff()),
      scale_(1, network.cols()),
      sources_(Matrix<S>::Zero(rows, network.width(0))),
      point_(std::make_unique<Point>(*this)) {
  NUDGE_EXPECT(rows >= 1 && reference_S_ > S(0));
  for (Index l = 1; l <= network.depth(); ++l) {
    scale_.middleCols(network.columns(l).begin, network.width(l)).setConstant(std::sqrt(network.factor(l)));
  }
}

template <class S>
ResistiveDynamics<S>::~ResistiveDynamics() = default;

template <class S>
void ResistiveDynamics<S>::bind(ConstMatrixRef<S> sources) {
  NUDGE_EXPECT(sources.rows() == rows_ && sources.cols() == network_->width(0));
  sources_ = sources;
}

template <class S>
Matrix<S> ResistiveDynamics<S>::voltages(ConstMatrixRef<S> u) const {
  return (u.array().rowwise() / scale_.row(0).array()).matrix();
}

template <class S>
void ResistiveDynamics<S>::force(ConstMatrixRef<S> u, MatrixRef<S> f, Part part) {
  NUDGE_EXPECT(u.cols() == cols() && u.rows() % rows_ == 0 && f.rows() == u.rows() && f.cols() == u.cols());
  if (part == Part::nonconservative) {
    f.setZero();
    return;
  }
  for (Index k = 0; k < u.rows() / rows_; ++k) {
    const Matrix<S> v = voltages(u.middleRows(k * rows_, rows_));
    Matrix<S> current = resistive_currents<S>(*network_, sources_, v);
    current.array().rowwise() *= scale_.row(0).array() / reference_S_;
    f.middleRows(k * rows_, rows_) = current;
  }
}

template <class S>
Linearization<S>& ResistiveDynamics<S>::linearize(ConstMatrixRef<S> u) {
  NUDGE_EXPECT(u.rows() == rows_ && u.cols() == cols());
  point_->move(u);
  return *point_;
}

template <class S>
std::optional<double> ResistiveDynamics<S>::energy(ConstMatrixRef<S> u) {
  NUDGE_EXPECT(u.cols() == cols() && u.rows() % rows_ == 0);
  double sum = 0;
  for (Index k = 0; k < u.rows() / rows_; ++k) {
    const Matrix<S> v = voltages(u.middleRows(k * rows_, rows_));
    sum += static_cast<double>(resistive_energy<S>(*network_, sources_, v).sum());
  }
  return sum / static_cast<double>(reference_S_);
}

template class ResistiveDynamics<float>;
template class ResistiveDynamics<double>;

}  // namespace nudge
