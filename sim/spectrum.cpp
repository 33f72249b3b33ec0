// SPDX-License-Identifier: Apache-2.0
#include "sim/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "sim/steady/krylov.hpp"

namespace nudge {
namespace {

using Dense = Eigen::MatrixXd;

/// An Arnoldi (later Krylov–Schur) decomposition A V_m = V_m H + v_{m+1} bᵀ, kept as one (m + 1, m) matrix.
template <class S>
class ArnoldiSpace {
 public:
  /// `moving`: 1 for the elements that span the space that A maps to itself, 0 for others; null: all n.
  ArnoldiSpace(LinearOperator<S> apply, Index n, Index dimension, std::uint64_t seed, const Matrix<S>* moving)
      : apply_(std::move(apply)),
        seed_(seed),
        moving_(moving),
        n_(moving == nullptr ? n : static_cast<Index>(moving->sum())),
        m_(std::min(dimension, n_)),
        basis_(n, m_ + 1),
        h_(m_ + 1, m_),
        w_(n) {
    h_.setZero();
    new_direction(0);
  }

  Index dimension() const { return m_; }
  /// True if the Krylov space is the whole space.
  bool whole() const { return m_ == n_; }
  int applications() const { return applications_; }
  Dense h() const { return h_.topRows(m_); }

  /// Residual ‖A x − λ x‖ of the Ritz vector x = V y, ‖y‖ = 1, from the decomposition: |bᵀ y|.
  double estimate(const Eigen::VectorXcd& y) const { return std::abs((h_.row(m_) * y).value()); }

  void fill() {
    for (Index j = kept_; j < m_; ++j) {
      apply_(basis_.col(j), w_);
      ++applications_;
      const double before = static_cast<double>(w_.norm());
      auto column = h_.col(j);
      const double left = orthogonalise<S>(basis_, j + 1, w_, column);
      if (left > 10 * static_cast<double>(std::numeric_limits<S>::epsilon()) * before) {
        h_(j + 1, j) = left;
        basis_.col(j + 1) = w_ / static_cast<S>(left);
      } else if (j + 1 < n_) {
        new_direction(j + 1);  // the space is invariant: its eigenvalues are exact, others need another start
      }
    }
  }

  /// Keeps the invariant subspace of H spanned by the columns of q (orthonormal, real).
  void restart(const Dense& q) {
    kept_ = q.cols();
    const Dense t = q.transpose() * h_.topRows(m_) * q;
    const Eigen::RowVectorXd b = h_.row(m_) * q;
    const Basis<S> kept = basis_.leftCols(m_) * q.cast<S>();
    basis_.leftCols(kept_) = kept;
    basis_.col(kept_) = Vector<S>(basis_.col(m_));
    h_.setZero();
    h_.topLeftCorner(kept_, kept_) = t;
    h_.row(kept_).head(kept_) = b;
  }

  /// Residual ‖A x − λ x‖ / ‖x‖ from its definition, with two applications for a complex x.
  double residual(const Eigen::VectorXcd& y, std::complex<double> lambda) {
    const Vector<S> re = basis_.leftCols(m_) * Eigen::VectorXd(y.real()).cast<S>();
    const Vector<S> im = basis_.leftCols(m_) * Eigen::VectorXd(y.imag()).cast<S>();
    const auto a = static_cast<S>(lambda.real());
    const auto b = static_cast<S>(lambda.imag());
    apply_(re, w_);
    double sum = static_cast<double>((w_ - a * re + b * im).squaredNorm());
    ++applications_;
    if (lambda.imag() != 0) {
      apply_(im, w_);
      sum += static_cast<double>((w_ - a * im - b * re).squaredNorm());
      ++applications_;
    }
    return std::sqrt(sum / static_cast<double>(re.squaredNorm() + im.squaredNorm()));
  }

 private:
  /// A seeded random unit vector orthogonal to the first j basis vectors becomes basis vector j.
  void new_direction(Index j) {
    fill_normal<S>({seed_, Purpose::probe, 1}, static_cast<std::uint64_t>(starts_++), 0,
                   {w_.data(), static_cast<std::size_t>(w_.size())});
    if (moving_ != nullptr) w_.array() *= Eigen::Map<const Vector<S>>(moving_->data(), moving_->size()).array();
    Eigen::VectorXd unused = Eigen::VectorXd::Zero(m_ + 1);
    basis_.col(j) = w_ / static_cast<S>(orthogonalise<S>(basis_, j, w_, unused));
  }

  LinearOperator<S> apply_;
  std::uint64_t seed_;
  const Matrix<S>* moving_;
  Index n_, m_;
  Basis<S> basis_;
  Dense h_;
  Vector<S> w_;
  Index kept_ = 0;
  int applications_ = 0;
  int starts_ = 0;
};

/// Indices of the eigenvalues, largest real part first, of a complex pair the one with positive imaginary part first.
std::vector<Index> ranked(const Eigen::VectorXcd& values) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index(0));
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    if (values(a).real() != values(b).real()) return values(a).real() > values(b).real();
    if (std::abs(values(a).imag()) != std::abs(values(b).imag())) {
      return std::abs(values(a).imag()) > std::abs(values(b).imag());
    }
    return values(a).imag() > values(b).imag();
  });
  return order;
}

/// The first `count` of `order`, one more where that would split a complex pair.
Index whole_pairs(const Eigen::VectorXcd& values, const std::vector<Index>& order, Index count) {
  count = std::min(count, values.size());
  const bool split = values(order[static_cast<std::size_t>(count) - 1]).imag() > 0;
  return split ? std::min(count + 1, values.size()) : count;
}

/// An orthonormal real basis of the span of the chosen eigenvectors.
Dense wanted_subspace(const EigenPairs& eigen, const std::vector<Index>& order, Index count) {
  Dense span(eigen.values.size(), count);
  for (Index i = 0; i < count; ++i) {
    const Index k = order[static_cast<std::size_t>(i)];
    if (eigen.values(k).imag() < 0) {
      span.col(i) = eigen.vectors.col(k).imag();
    } else {
      span.col(i) = eigen.vectors.col(k).real();
    }
  }
  return orthonormal_basis(span);
}

}  // namespace

template <class S>
Spectrum leading_eigenvalues(Linearization<S>& linearization, Index rows, Index cols, const SpectrumOptions& options,
                             const Matrix<S>& moving) {
  NUDGE_EXPECT(options.count >= 1);
  if (moving.size() > 0 && !(moving.sum() > S(0))) return {};
  const LinearOperator<S> jacobian = [&](const Vector<S>& v, Vector<S>& out) {
    linearization.jvp(as_state(v, rows, cols), as_state(out, rows, cols));
  };
  const double tolerance = std::max(options.tolerance, 100 * static_cast<double>(std::numeric_limits<S>::epsilon()));
  ArnoldiSpace<S> space(jacobian, rows * cols, std::max(options.krylov, 2 * options.count + 8), options.seed,
                        moving.size() > 0 ? &moving : nullptr);
  while (true) {
    space.fill();
    const Dense h = space.h();
    if (!h.allFinite()) return {};
    const EigenPairs eigen = eigenpairs(h);
    const std::vector<Index> order = ranked(eigen.values);
    const double scale = eigen.values.cwiseAbs().maxCoeff();
    const Index count = whole_pairs(eigen.values, order, options.count);
    bool done = space.applications() >= options.max_applications;
    double worst = 0;
    for (Index i = 0; i < count; ++i) {
      worst = std::max(worst, space.estimate(eigen.vectors.col(order[static_cast<std::size_t>(i)])));
    }
    done = done || worst <= 0.5 * tolerance * scale || space.whole();
    if (!done) {
      // Keeping about half of the space besides the wanted ones is the usual choice for thick restarts.
      const Index keep = whole_pairs(eigen.values, order, (count + space.dimension()) / 2);
      space.restart(wanted_subspace(eigen, order, keep));
      continue;
    }
    Spectrum result;
    result.converged = true;
    for (Index i = 0; i < count; ++i) {
      const Index k = order[static_cast<std::size_t>(i)];
      Eigenvalue found{eigen.values(k), space.residual(eigen.vectors.col(k), eigen.values(k))};
      found.converged = found.residual <= tolerance * scale;
      result.converged = result.converged && found.converged;
      result.leading.push_back(found);
    }
    result.abscissa = result.leading.front().value.real();
    result.applications = space.applications();
    return result;
  }
}

template <class S>
double asymmetry(Linearization<S>& linearization, Index rows, Index cols, int probes, std::uint64_t seed) {
  NUDGE_EXPECT(probes >= 1);
  Matrix<S> v(rows, cols);
  Matrix<S> forward(rows, cols);
  Matrix<S> backward(rows, cols);
  double sum = 0;
  for (int probe = 0; probe < probes; ++probe) {
    fill_normal<S>({seed, Purpose::probe, 2}, static_cast<std::uint64_t>(probe), 0,
                   {v.data(), static_cast<std::size_t>(v.size())});
    linearization.jvp(v, forward);
    linearization.vjp(v, backward);
    const auto scale = static_cast<double>(forward.norm());
    if (scale > 0) sum += static_cast<double>((forward - backward).norm()) / scale;
  }
  return sum / probes;
}

#define NUDGE_SPECTRUM(S)                                                                                              \
  template Spectrum leading_eigenvalues<S>(Linearization<S>&, Index, Index, const SpectrumOptions&, const Matrix<S>&); \
  template double asymmetry<S>(Linearization<S>&, Index, Index, int, std::uint64_t);
NUDGE_BOTH_PRECISIONS(NUDGE_SPECTRUM)

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
