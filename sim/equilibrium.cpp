// SPDX-License-Identifier: Apache-2.0
#include "sim/equilibrium.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sim/base/decompositions.hpp"
#include "sim/base/rng.hpp"
#include "sim/moving.hpp"
#include "sim/steady/krylov.hpp"
#include "sim/steady/monitor.hpp"

namespace nudge {
namespace {

/// Dimension of the Krylov spaces: eigenvalues outside of a cluster are found to per cents in some twenty products.
constexpr Index kKrylov = 24;
/// Most products with J of the solve for the distance, and its tolerance: a distance to a few per cent needs no more.
constexpr int kProducts = 60;
constexpr double kSolved = 0.01;
/// Steps of Newton's method from a state that has not settled to the equilibrium that it has left.
constexpr int kNewton = 6;

/// Largest real part of an eigenvalue, and whether it is one of a complex pair; largest |1 + ε λ|, by which Euler steps multiply a
/// distance.
struct Growth {
  double rate = Equilibrium::unknown;
  bool turns = false;
  double factor = 0;
};

/// Growth on every sample of a linearised system, from a Krylov space of its own; samples share the products with J. Less what the
/// residuals leave open, κ(λ) ‖J x − λ x‖: an estimate from below.
class Abscissas {
 public:
  Abscissas(Linearization<double>& at, const Matrix<double>& moving, Index rows, Index cols, bool coupled, double step)
      : at_(at),
        moving_(moving),
        step_(step),
        cols_(cols),
        size_(coupled ? rows * cols : cols),
        count_(coupled ? 1 : rows) {
    for (Index b = 0; b < count_; ++b) spaces_.emplace_back(Space{dimension_of(b)});
  }

  std::vector<Growth> find() {
    Matrix<double> v(rows(), cols_), jv(rows(), cols_);
    fill_normal<double>({0, Purpose::probe, 4}, 0, 0, {v.data(), static_cast<std::size_t>(v.size())});
    if (moving_.size() > 0) v.array() *= moving_.array();
    Index most = 0;
    for (Index b = 0; b < count_; ++b) {
      Space& space = spaces_[static_cast<std::size_t>(b)];
      begin(space, part(v, b));
      most = std::max(most, space.most);
    }
    for (Index j = 0; j < most; ++j) {
      for (Index b = 0; b < count_; ++b) {
        const Space& space = spaces_[static_cast<std::size_t>(b)];
        if (space.used == j && j < space.most) part(v, b) = space.basis.col(j);
      }
      at_.jvp(v, jv);
      for (Index b = 0; b < count_; ++b) extend(spaces_[static_cast<std::size_t>(b)], j, part(jv, b));
    }
    std::vector<Growth> out;
    for (const Space& space : spaces_) out.push_back(rightmost(space, step_));
    return out;
  }

 private:
  struct Space {
    Index most;  ///< dimension of the whole space, or kKrylov
    Index used = -1;
    Basis<double> basis = {};
    Eigen::MatrixXd h = {};
  };

  Index rows() const { return size_ * count_ / cols_; }
  Eigen::Map<Vector<double>> part(Matrix<double>& v, Index b) const { return {v.data() + b * size_, size_}; }
  Index dimension_of(Index b) const {
    if (moving_.size() == 0) return std::min(kKrylov, size_);
    return std::min(kKrylov,
                    static_cast<Index>(Eigen::Map<const Vector<double>>(moving_.data() + b * size_, size_).sum()));
  }

  void begin(Space& space, const Vector<double>& start) const {
    if (space.most == 0) return;
    space.basis.setZero(size_, space.most + 1);
    space.h.setZero(space.most + 1, space.most);
    space.basis.col(0) = start.normalized();
    space.used = 0;
  }

  static void extend(Space& space, Index j, const Vector<double>& product) {
    if (space.used != j || j >= space.most) return;
    if (!product.allFinite()) {
      space.most = 0;
      return;
    }
    Vector<double> w = product;
    const double before = w.norm();
    const double left = orthogonalise<double>(space.basis, j + 1, w, space.h.col(j));
    ++space.used;
    space.h(j + 1, j) = left;
    if (left > 1e-12 * before) {
      space.basis.col(j + 1) = w / left;
    } else {
      space.h(j + 1, j) = 0;
      space.most = j + 1;  // an invariant space: its eigenvalues are exact
    }
  }

  static Growth rightmost(const Space& space, double step) {
    if (space.most == 0) return {};
    const EigenPairs pairs = eigenpairs(Eigen::MatrixXd(space.h.topLeftCorner(space.used, space.used)));
    const double last = space.h(space.used, space.used - 1);
    const double rounding = 1e-9 * pairs.values.cwiseAbs().maxCoeff();  // of a neutral mode, whose eigenvalue is 0
    Growth best{-std::numeric_limits<double>::infinity()};
    const Eigen::MatrixXcd left =
        pairs.vectors.inverse();  // of a J that is not normal a residual moves λ by κ(λ) times itself
    for (Index i = 0; i < space.used; ++i) {
      const double off = last * std::abs(pairs.vectors(space.used - 1, i)) * left.row(i).norm();
      const double rate = pairs.values(i).real() - off - rounding;
      const double factor = std::max(best.factor, std::abs(1.0 + step * pairs.values(i)));
      if (rate > best.rate) best = {rate, std::abs(pairs.values(i).imag()) > off + rounding};
      best.factor = factor;
    }
    return best;
  }

  Linearization<double>& at_;
  const Matrix<double>& moving_;
  double step_;
  Index cols_, size_, count_;
  std::vector<Space> spaces_;
};

/// Sets d to the way from z to the nearest zero of F, forces to ‖F‖ of the samples, and `left` to J d + F.
void way_to_rest(Dynamics<double>& dynamics, const Matrix<double>& z, std::vector<double>& forces, Matrix<double>& d,
                 Matrix<double>& left) {
  Linearization<double>& at = dynamics.linearize(z);
  at.force(left);
  if (Direct<double>* direct = dynamics.direct()) {  // whose J may be too stiff for GMRES
    Matrix<double> rest = z;
    DirectLoad<double> nothing;
    nothing.settled = true;
    if (direct->solve(rest, nothing).status == Status::converged) {
      d = rest - z;
      left.setZero();
    } else {
      left.setConstant(Equilibrium::unknown);
    }
    return;
  }
  const Matrix<double> moving = moving_units<double>(dynamics, at, z);
  if (moving.size() > 0) left.array() *= moving.array();
  const Index rows = z.rows(), cols = z.cols(), each = rows / std::ssize(forces);
  // Every sample's force at norm 1, so that the solve is as good for each; J does not mix them.
  for (std::size_t i = 0; i < forces.size(); ++i) {
    auto own = left.middleRows(static_cast<Index>(i) * each, each);
    forces[i] = own.norm();
    if (forces[i] > 0) own /= forces[i];
  }
  if (left.allFinite()) {
    const LinearOperator<double> jacobian = [&](const Vector<double>& v, Vector<double>& out) {
      at.jvp(as_state(v, rows, cols), as_state(out, rows, cols));
    };
    Vector<double> way = Vector<double>::Zero(z.size()), moved(z.size());
    const Vector<double> b = -Eigen::Map<const Vector<double>>(left.data(), left.size());
    gmres<double>(jacobian, b, way, {.tolerance = kSolved, .krylov = kProducts / 2, .max_iterations = kProducts});
    jacobian(way, moved);
    moved -= b;
    d = as_state(way, rows, cols);
    left = as_state(moved, rows, cols);
  }
  for (std::size_t i = 0; i < forces.size(); ++i) {
    d.middleRows(static_cast<Index>(i) * each, each) *= forces[i];
    left.middleRows(static_cast<Index>(i) * each, each) *= forces[i];
  }
}

/// Samples of a state, one a row or, of coupled rows, all in one.
struct Samples {
  Index count, each;
  Samples(const Matrix<double>& z, bool coupled) : count(coupled ? 1 : z.rows()), each(z.rows() / count) {}
  template <class M>
  auto of(M& z, Index i) const {
    return z.middleRows(i * each, each);
  }
};

/// Distance of every sample of z from its equilibrium z + d, of the larger of the two; ∞: there is none. An equilibrium at 0 has no size to
/// compare with: 1e-4 of where the phase `ended` counts as one.
std::vector<double> distances(Dynamics<double>& dynamics, const Matrix<double>& z, const Matrix<double>& ended,
                              const Samples& samples, Matrix<double>& d) {
  d.setZero(z.rows(), z.cols());
  Matrix<double> left(z.rows(), z.cols());
  std::vector<double> forces(static_cast<std::size_t>(samples.count), 1.0), out;
  way_to_rest(dynamics, z, forces, d, left);
  for (Index i = 0; i < samples.count; ++i) {
    const double scale = std::max(
        {samples.of(z, i).norm(), (samples.of(z, i) + samples.of(d, i)).norm(), 1e-4 * samples.of(ended, i).norm()});
    const bool solved = samples.of(left, i).norm() <= 0.5 * forces[static_cast<std::size_t>(i)];
    out.push_back(!solved ? std::numeric_limits<double>::infinity() : scale > 0 ? samples.of(d, i).norm() / scale : 0);
  }
  return out;
}

/// Moves the samples of z that are off their equilibria by steps of Newton's method, which finds unstable ones too. `d`: their first
/// step. Sets `off` to how far they are then.
void seek(Dynamics<double>& dynamics, Matrix<double>& z, const Samples& samples, Matrix<double> d,
          std::vector<double>& off) {
  const auto moves = [](double one) { return one > Equilibrium::settled_within && std::isfinite(one); };
  const Matrix<double> ended = z;
  for (int step = 0; step < kNewton && std::any_of(off.begin(), off.end(), moves); ++step) {
    for (Index i = 0; i < samples.count; ++i) {
      if (moves(off[static_cast<std::size_t>(i)])) samples.of(z, i) += samples.of(d, i);
    }
    if (dynamics.box() != nullptr) dynamics.box()->project(z, {0, z.cols()});
    if (!z.allFinite()) break;
    off = distances(dynamics, z, ended, samples, d);
  }
}

/// Distance that is left by the phase's own contraction, where GMRES could not tell it: steps of ε |F| that shrink by ρ each add up to
/// ε |F|/(1 − ρ), over |z|. ∞ where the phase does not contract, and beyond lost_beyond: a force beside a state that runs away shrinks
/// too, as 1/k, and its sum stays near 1.
double left_to_go(const SettleResult& phase) {
  const double step = phase.steps > 0 ? phase.time / phase.steps : 0;
  if (!(step > 0 && phase.decay > 0 && phase.decay < 1)) return std::numeric_limits<double>::infinity();
  const double left = step * phase.residual / (1 - phase.decay);
  return left <= Equilibrium::lost_beyond ? left : std::numeric_limits<double>::infinity();
}

}  // namespace

void Equilibrium::add(const Equilibrium& other) {
  if (!other.known()) return;
  const auto mean = [&](double own, double its) {
    return known() ? (own * samples + its * other.samples) / (samples + other.samples) : its;
  };
  settled = mean(settled, other.settled);
  lost = mean(lost, other.lost);
  none = mean(none, other.none);
  distance = mean(distance, other.distance);
  unstable = mean(unstable, other.unstable);
  dead = std::isnan(dead) ? other.dead : std::isnan(other.dead) ? dead : mean(dead, other.dead);
  abscissa = std::isnan(abscissa) ? other.abscissa : std::max(abscissa, other.abscissa);
  if (!known() || !(other.residual <= residual)) ended = other.ended;
  residual = std::max(residual, other.residual);
  decay = std::max(decay, other.decay);
  steps = std::max(steps, other.steps);
  missing_steps = std::max(missing_steps, other.missing_steps);
  samples += other.samples;
}

Equilibrium judge_point(Dynamics<double>& dynamics, const Matrix<double>& z, bool coupled, const SettleResult& phase,
                        const Motion& motion, double step) {
  Equilibrium out;
  const Samples samples(z, coupled);
  out.samples = static_cast<int>(samples.count);
  out.residual = phase.residual;
  out.ended = phase.status;
  out.decay = phase.decay;
  out.steps = phase.steps;
  out.settled = out.unstable = 0;
  out.lost = out.none = out.distance = 1;
  if (!z.allFinite()) return out;
  if (!motion.first_order()) step = 0;
  Matrix<double> rest = z, d;
  std::vector<double> there = distances(dynamics, z, z, samples, d), off = there;
  for (double& one : off) one = std::isfinite(one) ? one : left_to_go(phase);
  const auto share = [&off](auto of) {
    return static_cast<double>(std::count_if(off.begin(), off.end(), of)) / static_cast<double>(off.size());
  };
  if (phase.status != Status::diverged) {
    out.settled = share([](double one) { return one <= Equilibrium::settled_within; });
    out.lost = share([](double one) { return !(one <= Equilibrium::lost_beyond); });
    out.none = share([](double one) { return !std::isfinite(one); });
    out.distance = 0;
    for (const double one : off) out.distance += std::min(one, 1.0) / static_cast<double>(off.size());
  }
  if (dynamics.traits().feed_forward) return out;
  seek(dynamics, rest, samples, d, there);
  Moving all(dynamics, motion);
  Linearization<double>& at = all.linearize(all.at_rest(rest));
  const Matrix<double> moving = all.moving();
  const std::vector<Growth> found = Abscissas(at, moving, all.rows(), all.cols(), coupled, step).find();
  double factor = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool settled = off[i] <= Equilibrium::settled_within;
    // A state that goes round an equilibrium has left it for good; one that goes straight may be on its way to another.
    // A stable one that a phase has not reached is what more steps lead to.
    const bool near = there[i] <= Equilibrium::settled_within && (found[i].rate < 0 || found[i].turns);
    if (std::isnan(found[i].rate) || !(settled || near)) continue;
    if (!settled) factor = std::max(factor, found[i].factor);
    out.abscissa = std::isnan(out.abscissa) ? found[i].rate : std::max(out.abscissa, found[i].rate);
    out.unstable += found[i].rate > 0 ? 1.0 / static_cast<double>(found.size()) : 0;
  }
  // What was measured is of few steps, on which a state may turn or grow.
  if (step > 0 && factor > 0) out.decay = factor;
  if (out.settled < 1 && step == 0 && out.stable() && !(out.decay < 1) && phase.steps > 0) {
    out.decay = std::exp(out.abscissa * phase.time / phase.steps);  // of small steps: no number of them is told
    return out;
  }
  // ‖F‖ shrinks by the decay, and ends beside the norm of the equilibrium.
  const double left = out.residual * z.norm() / rest.norm();
  if (out.settled < 1 && out.stable() && out.decay > 0 && out.decay < 1 && std::isfinite(left) && left > out.aim())
    out.missing_steps = static_cast<int>(std::ceil(std::log(out.aim() / left) / std::log(out.decay)));
  return out;
}

void confirm_steps(Equilibrium& e, const std::function<SettleResult(double, int)>& settled) {
  constexpr int kTimes = 3;    // of what is foretold
  constexpr int kMost = 2000;  // of some samples: as much as some steps of training
  if (e.missing_steps == 0) {
    // Where no stable equilibrium is known a contraction may be that of a state that never comes to rest.
    const bool hopes = e.settled < 1 && e.decay < 1 && !e.stable() && std::isfinite(e.residual);
    const int more = std::min(kTimes * e.steps, kMost);
    constexpr double falls = 0.5;  // of the residual, in twice the steps: on its way
    if (hopes && more > e.steps && !(settled(e.aim(), more).residual < std::max(falls * e.residual, e.aim())))
      e.decay = 1;
    return;
  }
  const int most = kTimes * (e.steps + e.missing_steps);
  if (most > kMost) {
    e.missing_steps = 0;
    return;
  }
  const SettleResult found = settled(e.aim(), most);
  e.missing_steps = found.residual <= e.aim() ? std::max(found.steps - e.steps, 1) : 0;
}

}  // namespace nudge
