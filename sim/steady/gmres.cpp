// SPDX-License-Identifier: Apache-2.0
#include "sim/steady/krylov.hpp"

#include <algorithm>
#include <limits>

namespace nudge {
namespace {

/// One cycle of GMRES: an Arnoldi basis V with A V_j = V_{j+1} H, whose H is made triangular by Givens rotations.
template <class S>
class Cycle {
 public:
  Cycle(Index n, Index krylov) : basis_(n, krylov + 1), h_(krylov + 1, krylov), w_(n) {
    rhs_.resize(krylov + 1);
    cosine_.resize(krylov);
    sine_.resize(krylov);
  }

  /// Adds to x the best correction for the residual r in at most `limit` products with A, or stops as soon as the recursion's
  /// residual is at most `target`. Returns the number of products.
  int run(const LinearOperator<S>& apply, const Vector<S>& r, Vector<S>& x, double target, int limit) {
    h_.setZero();
    rhs_.setZero();
    rhs_(0) = static_cast<double>(r.norm());
    basis_.col(0) = r / static_cast<S>(rhs_(0));
    Index used = 0;
    for (bool more = true; more && used < limit;) {
      more = extend(apply, used);
      if (!std::isfinite(rhs_(used + 1))) break;  // x keeps what the finite columns give
      ++used;
      more = more && std::abs(rhs_(used)) > target;
    }
    const Eigen::VectorXd y =
        h_.topLeftCorner(used, used).template triangularView<Eigen::Upper>().solve(rhs_.head(used));
    if (y.allFinite()) x += basis_.leftCols(used) * y.cast<S>();
    return static_cast<int>(used);
  }

 private:
  /// Column j of H and its rotation; false when the space is invariant (the solution lies in it).
  bool extend(const LinearOperator<S>& apply, Index j) {
    apply(basis_.col(j), w_);
    const double before = static_cast<double>(w_.norm());
    auto column = h_.col(j);
    const double left = orthogonalise<S>(basis_, j + 1, w_, column);
    const bool invariant = !(left > 10 * static_cast<double>(std::numeric_limits<S>::epsilon()) * before);
    column(j + 1) = left;
    if (!invariant) basis_.col(j + 1) = w_ / static_cast<S>(left);
    for (Index i = 0; i < j; ++i) rotate(cosine_(i), sine_(i), column(i), column(i + 1));
    const double radius = std::hypot(column(j), column(j + 1));
    cosine_(j) = radius > 0 ? column(j) / radius : 1.0;
    sine_(j) = radius > 0 ? column(j + 1) / radius : 0.0;
    rotate(cosine_(j), sine_(j), column(j), column(j + 1));
    rotate(cosine_(j), sine_(j), rhs_(j), rhs_(j + 1));
    return !invariant;
  }

  static void rotate(double c, double s, double& a, double& b) {
    const double rotated = c * a + s * b;
    b = c * b - s * a;
    a = rotated;
  }

  Basis<S> basis_;
  Eigen::MatrixXd h_;
  Vector<S> w_;
  Eigen::VectorXd rhs_, cosine_, sine_;
};

}  // namespace

template <class S>
GmresResult gmres(const LinearOperator<S>& apply, const Vector<S>& b, Vector<S>& x, const GmresOptions& options) {
  NUDGE_EXPECT(x.size() == b.size() && options.krylov >= 1);
  GmresResult result;
  const double scale = static_cast<double>(b.norm());
  if (!(scale > 0)) {
    result.status = scale == 0 ? Status::converged : Status::diverged;
    result.residual = 0;
    x.setZero();
    return result;
  }
  const int krylov = static_cast<int>(std::min<Index>(options.krylov, b.size()));
  Cycle<S> cycle(b.size(), krylov);
  Vector<S> r(b.size());
  Vector<S> last = x;
  for (double before = std::numeric_limits<double>::infinity();; before = result.residual) {
    apply(x, r);
    r = b - r;
    ++result.applications;
    const double residual = static_cast<double>(r.norm()) / scale;
    if (!std::isfinite(residual)) {
      x = last;
      result.status = Status::diverged;
      return result;
    }
    result.residual = residual;
    if (residual <= options.tolerance) {
      result.status = Status::converged;
    } else if (residual > 0.99 * before) {
      result.status = Status::stalled;
    }
    if (result.status != Status::max_steps || result.iterations >= options.max_iterations) return result;
    last = x;
    const int limit = std::min(options.max_iterations - result.iterations, krylov);
    const int used = cycle.run(apply, r, x, options.tolerance * scale, limit);
    result.iterations += used;
    result.applications += used;
  }
}

template <class S>
GmresResult adjoint_solve(Linearization<S>& linearization, ConstMatrixRef<S> g, MatrixRef<S> a,
                          const GmresOptions& options) {
  NUDGE_EXPECT(a.rows() == g.rows() && a.cols() == g.cols());
  const Index rows = g.rows();
  const Index cols = g.cols();
  Vector<S> b(g.size());
  Vector<S> x = Vector<S>::Zero(g.size());
  as_state(b, rows, cols) = -g;
  const LinearOperator<S> transposed = [&](const Vector<S>& u, Vector<S>& out) {
    linearization.vjp(as_state(u, rows, cols), as_state(out, rows, cols));
  };
  const GmresResult result = gmres<S>(transposed, b, x, options);
  a = as_state(x, rows, cols);
  return result;
}

#define NUDGE_GMRES(S)                                                                                        \
  template GmresResult gmres<S>(const LinearOperator<S>&, const Vector<S>&, Vector<S>&, const GmresOptions&); \
  template GmresResult adjoint_solve<S>(Linearization<S>&, ConstMatrixRef<S>, MatrixRef<S>, const GmresOptions&);
NUDGE_BOTH_PRECISIONS(NUDGE_GMRES)

}  // namespace nudge
