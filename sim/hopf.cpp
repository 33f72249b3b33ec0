// SPDX-License-Identifier: Apache-2.0
#include "sim/spectrum.hpp"

#include <cmath>

#include "sim/base/decompositions.hpp"

namespace nudge {
namespace {

using Complex = std::complex<double>;
using Real = Eigen::VectorXd;
using Turning = Eigen::VectorXcd;

constexpr double kStep = 1e-3;  // of the differences: h² of truncation, 1e-16/h² of rounding

/// Derivatives of F at z along directions, flattened, of the units that can move.
class Derivatives {
 public:
  Derivatives(Dynamics<double>& dynamics, const Matrix<double>& z, const Matrix<double>& moving)
      : dynamics_(dynamics), z_(z), moving_(moving) {}

  Matrix<double> jacobian() {
    const Index n = z_.size();
    Matrix<double> j(n, n);
    Linearization<double>& at = dynamics_.linearize(z_);
    for (Index i = 0; i < n; ++i) j.col(i) = product(at, Real::Unit(n, i));
    return j;
  }

  /// Second derivative B(u, v) and third derivative C(u, u, v) of F.
  Real second(const Real& u, const Real& v) { return (moved(u, kStep, v) - moved(u, -kStep, v)) / (2 * kStep); }
  Real third(const Real& u, const Real& v) {
    return (moved(u, kStep, v) - 2 * moved(u, 0, v) + moved(u, -kStep, v)) / (kStep * kStep);
  }

  /// Second derivative B along complex directions.
  Turning second(const Turning& u, const Turning& v) {
    const Real a = u.real(), b = u.imag(), c = v.real(), d = v.imag();
    Turning out(a.size());
    out.real() = second(a, c) - second(b, d);
    out.imag() = second(a, d) + second(b, c);
    return out;
  }

  /// C(q, q, q̄) of q = a + ib: C(a,a,a) + C(b,b,a) + i (C(a,a,b) + C(b,b,b)).
  Turning third(const Turning& q) {
    const Real a = q.real(), b = q.imag();
    Turning out(a.size());
    out.real() = third(a, a) + third(b, a);
    out.imag() = third(a, b) + third(b, b);
    return out;
  }

 private:
  /// J(z + h u) v.
  Real moved(const Real& u, double h, const Real& v) {
    const Matrix<double> at = z_ + h * Eigen::Map<const Matrix<double>>(u.data(), z_.rows(), z_.cols());
    return product(dynamics_.linearize(at), v);
  }

  Real product(Linearization<double>& at, const Real& v) {
    Matrix<double> direction = Eigen::Map<const Matrix<double>>(v.data(), z_.rows(), z_.cols());
    if (moving_.size() > 0) direction.array() *= moving_.array();
    Matrix<double> out(z_.rows(), z_.cols());
    at.jvp(direction, out);
    if (moving_.size() > 0) out.array() *= moving_.array();
    return Eigen::Map<const Real>(out.data(), out.size());
  }

  Dynamics<double>& dynamics_;
  const Matrix<double>& z_;
  const Matrix<double>& moving_;
};

/// Solution x of (R + iS) x = w, as a real system of twice the size.
Turning complex_solution(const Matrix<double>& r, const Matrix<double>& s, const Turning& w) {
  const Index n = r.rows();
  Matrix<double> both(2 * n, 2 * n), right(2 * n, 1);
  both << r, -s, s, r;
  right << w.real(), w.imag();
  const Matrix<double> x = LuFactors<double>(both).solve(right);
  Turning out(n);
  out.real() = x.topRows(n);
  out.imag() = x.bottomRows(n);
  return out;
}

/// Number of the eigenvalue with the largest real part, of a pair the one that turns forwards.
Index leading(const Eigen::VectorXcd& values) {
  Index best = 0;
  for (Index i = 1; i < values.size(); ++i) {
    const Complex one = values(i), old = values(best);
    if (one.real() > old.real() || (one == std::conj(old) && one.imag() > 0)) best = i;
  }
  return best;
}

}  // namespace

HopfForm hopf_normal_form(Dynamics<double>& dynamics, const Matrix<double>& z, const Matrix<double>& moving) {
  HopfForm out;
  const Index n = z.size();
  if (n > hopf_limit) return out;
  Derivatives of(dynamics, z, moving);
  Matrix<double> a = of.jacobian();
  for (Index i = 0; i < n && moving.size() > 0; ++i) {
    if (moving.data()[i] == 0) a(i, i) = -1;  // held: it decays, and nothing drives it
  }
  const EigenPairs right = eigenpairs(a);
  const Index at = leading(right.values);
  const Complex lambda = right.values(at);
  if (!(std::abs(lambda.imag()) > 1e-6 * std::abs(lambda))) return out;  // a split double eigenvalue looks complex, too
  out.found = true;
  out.growth = lambda.real();
  out.frequency = std::abs(lambda.imag());
  const Turning q = right.vectors.col(at);
  // The p that is orthogonal to all other eigenvectors, those of equal eigenvalues too: Vᴴ p = e.
  const Turning p = complex_solution(right.vectors.real().transpose(), -right.vectors.imag().transpose(),
                                     Turning(Real::Unit(n, at).cast<Complex>()));
  a.diagonal().array() -= out.growth;
  const Turning turned = of.second(q, q), steady = of.second(q, q.conjugate());
  const Matrix<double> shift = LuFactors<double>(a).solve(Matrix<double>(steady.real()));
  const Turning moved = Real(shift.col(0)).cast<Complex>();
  const Complex sum =
      p.dot(of.third(q)) - 2.0 * p.dot(of.second(q, moved)) +
      p.dot(of.second(Turning(q.conjugate()),
                      complex_solution(-a, 2 * out.frequency * Matrix<double>::Identity(n, n), turned)));
  out.lyapunov = sum.real() / (2 * out.frequency);
  return out;
}

}  // namespace nudge
