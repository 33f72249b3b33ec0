// SPDX-License-Identifier: Apache-2.0
#include "sim/steady/continuation.hpp"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <optional>

#include "sim/base/errors.hpp"
#include "sim/steady/krylov.hpp"

namespace nudge {
namespace {

constexpr int kNewtonSteps = 12;
constexpr int kEasy = 4;  // Newton steps after which the next step may be longer
constexpr double kCorrected =
    1e-10;  // of a Newton step beside 1 + |x|: it converges quadratically, what is left is rounding
constexpr double kSmallest = 1.0 / 4096;
constexpr double kStraight = 0.9;  // cosine of two tangents: beyond it a step may have met another branch
constexpr double kCorner =
    1.0 / 64;  // share of the largest step below which a turn is one of F, whose J jumps (a ReLU)
constexpr double kDifference = 1e-6;  // of F_p; only the rate of Newton's method and dp/ds off a fold depend on it
constexpr double kLocated = 1e-10;
constexpr double kAtZero = 1e-6;  // share of the largest eigenvalue, whose rounding and the place found leave less
constexpr int kLocatingSteps = 60;
constexpr double kContinuous =
    1e-3;  // share of a change that must be left at its zero; more is a jump to another branch

using Unknowns = Vector<double>;  // z/scale, then the share of the range that p has come

/// A point of the branch with its unit tangent.
struct Place {
  Unknowns x, tangent;
  Spectrum spectrum;
  int newton_steps = 0;

  double share() const { return x(x.size() - 1); }
  double turn() const { return tangent(x.size() - 1); }  ///< dp/ds
  /// Number of eigenvalues whose real part is above `least` times the largest known |λ|.
  int unstable(double least = 0) const {
    double scale = 0;
    for (const Eigenvalue& e : spectrum.leading) scale = std::max(scale, std::abs(e.value));
    return static_cast<int>(std::count_if(spectrum.leading.begin(), spectrum.leading.end(),
                                          [=](const Eigenvalue& e) { return e.value.real() > least * scale; }));
  }
  /// Eigenvalue of that rank; for a rank that was not computed the last one, whose real part is above it.
  std::complex<double> eigenvalue(int rank) const {
    const auto at = std::min(static_cast<std::size_t>(rank), spectrum.leading.size() - 1);
    return spectrum.leading[at].value;
  }
};

struct Passing {
  double s = 0;
  BranchKind kind = BranchKind::regular;
  Place place;
  int rank = 0;
  bool continuous = true;
};

class BranchWalk {
 public:
  BranchWalk(const DynamicsAt& at, double from, double to, const Matrix<double>& start,
             const ContinuationOptions& options)
      : at_(at),
        from_(from),
        to_(to),
        rows_(start.rows()),
        cols_(start.cols()),
        n_(start.size()),
        unit_(std::max(std::sqrt(static_cast<double>(start.size())), start.norm())),
        options_(options) {}

  Branch walk(const Matrix<double>& start);

 private:
  double parameter(double share) const { return share == 1 ? to_ : from_ + share * (to_ - from_); }
  Dynamics<double>& system(double share) { return at_(parameter(share)); }
  Matrix<double> state(const Unknowns& x) const {
    return unit_ * Eigen::Map<const Matrix<double>>(x.data(), rows_, cols_);
  }
  Unknowns force(const Unknowns& x, double share) {
    Matrix<double> f(rows_, cols_);
    system(share).force(state(x), f);
    return Eigen::Map<const Unknowns>(f.data(), n_) / unit_;
  }
  /// F at a point, and F_p by a difference that stays within the range.
  struct Forces {
    Unknowns force, slope;
    bool finite() const { return force.allFinite() && slope.allFinite(); }
  };
  Forces forces(const Unknowns& x) {
    const double share = x(n_), h = share < 0.5 ? kDifference : -kDifference;
    const Unknowns beside = force(x, share + h);
    Forces out{force(x, share), {}};
    out.slope = (beside - out.force) / h;
    return out;
  }
  bool solve(Linearization<double>& here, const Unknowns& slope, const Unknowns& row, const Unknowns& right,
             Unknowns& out) const;
  std::optional<Place> correct(const Unknowns& guess, const Unknowns& row);
  bool finish(Linearization<double>& here, const Unknowns& slope, const Unknowns& row, Place& place);
  std::vector<Passing> passings(const Place& here, const Place& next, bool& continuous);
  template <class Value>
  Passing locate(const Place& here, const Place& next, BranchKind kind, int rank, Value value);
  BranchPoint point(const Place& place, BranchKind kind, int rank);

  const DynamicsAt& at_;
  double from_, to_;
  Index rows_, cols_, n_;
  double unit_;
  const ContinuationOptions& options_;
  bool converged_ = true;
};

/// Solves (J F_p; rowᵀ) out = right; `slope` is F_p.
bool BranchWalk::solve(Linearization<double>& here, const Unknowns& slope, const Unknowns& row, const Unknowns& right,
                       Unknowns& out) const {
  Matrix<double> v(rows_, cols_), jv(rows_, cols_);
  const LinearOperator<double> bordered = [&](const Unknowns& x, Unknowns& y) {
    v = Eigen::Map<const Matrix<double>>(x.data(), rows_, cols_);
    here.jvp(v, jv);
    y.head(n_) = Eigen::Map<const Unknowns>(jv.data(), n_) + x(n_) * slope;
    y(n_) = row.dot(x);
  };
  out = Unknowns::Zero(n_ + 1);
  const int krylov = static_cast<int>(std::min<Index>(n_ + 1, 100));
  const GmresResult solved =
      gmres<double>(bordered, right, out, {.tolerance = 1e-12, .krylov = krylov, .max_iterations = 10 * krylov});
  return out.allFinite() &&
         solved.residual <=
             1e-6;  // of a step of Newton's method, which has others; tangents are better, or a step back finds out
}

std::optional<Place> BranchWalk::correct(const Unknowns& guess, const Unknowns& row) {
  Place place;
  place.x = guess;
  Unknowns right(n_ + 1), move;
  for (; place.newton_steps < kNewtonSteps; ++place.newton_steps) {
    if (!(place.share() > -kDifference && place.share() < 1 + kDifference)) return std::nullopt;
    place.x(n_) = std::clamp(place.share(), 0.0, 1.0);
    const Forces now = forces(place.x);
    if (!now.finite()) return std::nullopt;
    Linearization<double>& here = system(place.share()).linearize(state(place.x));
    right << -now.force, row.dot(guess - place.x);
    const bool small = place.newton_steps > 0 && move.norm() <= kCorrected * (1 + place.x.norm());
    if (small || right.norm() == 0) {
      return finish(here, now.slope, row, place) ? std::optional<Place>(place) : std::nullopt;
    }
    if (!solve(here, now.slope, row, right, move)) return std::nullopt;
    place.x += move;
  }
  return std::nullopt;
}

/// Tangent and eigenvalues of a corrected point.
bool BranchWalk::finish(Linearization<double>& here, const Unknowns& slope, const Unknowns& row, Place& place) {
  if (!solve(here, slope, row, Unknowns::Unit(n_ + 1, n_), place.tangent)) return false;
  place.tangent.normalize();
  SpectrumOptions asked = options_.spectrum;
  int unstable = 0;
  do {
    place.spectrum = leading_eigenvalues<double>(here, rows_, cols_, asked);
    asked.count *= 2;
    unstable = place.unstable();
  } while (unstable > 0 && unstable < n_ && unstable == static_cast<int>(place.spectrum.leading.size()));
  converged_ = converged_ && place.spectrum.converged;
  return !place.spectrum.leading.empty();
}

/// Locates value(place) = 0 on the branch, over the line along the tangent of `here`; the value has two signs at the ends.
/// `kind` and `rank` describe the eigenvalue that passes.
template <class Value>
Passing BranchWalk::locate(const Place& here, const Place& next, BranchKind kind, int rank, Value value) {
  const double end = here.tangent.dot(next.x - here.x), first = value(here), last = value(next);
  Passing best{std::abs(first) < std::abs(last) ? 0 : end, kind, std::abs(first) < std::abs(last) ? here : next, rank};
  double least = std::min(std::abs(first), std::abs(last));
  if (least == 0) return best;
  const double change = std::abs(last - first);
  const auto at = [&](double s) {
    std::optional<Place> found = correct(here.x + s * here.tangent, here.tangent);
    if (!found) return 0.0;  // near a branching Newton's method finds no more: the best there is
    if (found->tangent.dot(here.tangent) < 0) found->tangent = -found->tangent;
    const double v = value(*found);
    if (std::abs(v) < least) {
      least = std::abs(v);
      best.s = s;
      best.place = *std::move(found);
    }
    return v;
  };
  std::uintmax_t steps = kLocatingSteps;
  boost::math::tools::toms748_solve(
      at, 0.0, end, first, last, [](double a, double b) { return b - a <= kLocated; }, steps);
  best.continuous = least <= kContinuous * change;
  return best;
}

/// Every passing of an eigenvalue between two points, in the order of the branch. `continuous`: false if one of them is not
/// of one branch with both points.
std::vector<Passing> BranchWalk::passings(const Place& here, const Place& next, bool& continuous) {
  std::vector<Passing> found;
  bool turned = here.turn() * next.turn() < 0;
  if (turned) found.push_back(locate(here, next, BranchKind::fold, 0, [](const Place& p) { return p.turn(); }));
  const int before = here.unstable(), after = next.unstable();
  for (int rank = std::min(before, after); rank < std::max(before, after); ++rank) {
    Passing one =
        locate(here, next, BranchKind::branching, rank, [rank](const Place& p) { return p.eigenvalue(rank).real(); });
    const std::complex<double> value = one.place.eigenvalue(rank);
    const double scale = std::abs(one.place.spectrum.leading.back().value);
    if (std::abs(value.imag()) > 1e-6 * scale) {  // below it a split pair of a double eigenvalue looks complex, too
      one.kind = BranchKind::hopf;
      ++rank;
    } else if (turned) {
      turned = false;  // the one that the fold is of
      found.front().rank = rank;
      continue;
    }
    found.push_back(std::move(one));
  }
  continuous = std::all_of(found.begin(), found.end(), [](const Passing& one) { return one.continuous; });
  std::sort(found.begin(), found.end(), [](const Passing& a, const Passing& b) { return a.s < b.s; });
  return found;
}

BranchPoint BranchWalk::point(const Place& place, BranchKind kind, int rank) {
  BranchPoint out;
  out.parameter = parameter(place.share());
  out.kind = kind;
  out.z = state(place.x);
  out.residual = force(place.x, place.share()).norm() / place.x.head(n_).norm();
  out.abscissa = place.spectrum.abscissa;
  out.unstable = place.unstable(kind == BranchKind::regular ? 0 : kAtZero);
  const std::complex<double> value = place.eigenvalue(out.kind == BranchKind::regular ? 0 : rank);
  const bool turns = kind == BranchKind::hopf || std::abs(value.imag()) > 1e-6 * std::abs(value);
  if (turns && kind != BranchKind::fold) out.frequency = std::abs(value.imag());
  if (kind == BranchKind::hopf && out.unstable == 0) out.hopf = hopf_normal_form(system(place.share()), out.z);
  return out;
}

Branch BranchWalk::walk(const Matrix<double>& start) {
  Branch out;
  Unknowns x(n_ + 1);
  x << Eigen::Map<const Unknowns>(start.data(), n_) / unit_, 0;
  const Unknowns forwards = Unknowns::Unit(n_ + 1, n_);
  std::optional<Place> here = correct(x, forwards);
  if (!here) return out;
  out.points.push_back(point(*here, BranchKind::regular, 0));
  double step = options_.step;
  for (int points = 1; points < options_.max_points;) {
    if (step < kSmallest * options_.step) return out;
    const double ahead = here->share() + step * here->turn();
    const bool landing = ahead >= 1 || ahead <= 0;
    const double length = landing ? ((ahead >= 1 ? 1 : 0) - here->share()) / here->turn() : step;
    std::optional<Place> next = correct(here->x + length * here->tangent, landing ? forwards : here->tangent);
    if (next && next->tangent.dot(here->tangent) < 0) next->tangent = -next->tangent;
    bool smooth = next && next->tangent.dot(here->tangent) >= kStraight;
    std::vector<Passing> between;
    if (next) {
      bool continuous = false;
      between = passings(*here, *next, continuous);
      smooth = smooth && continuous;
    }
    if (!next || (!smooth && step > kCorner * options_.step)) {
      step /= 2;
      continue;
    }
    for (const Passing& one : between) out.points.push_back(point(one.place, one.kind, one.rank));
    out.points.push_back(point(*next, BranchKind::regular, 0));
    out.converged = converged_;
    ++points;
    if (landing) {
      out.end = ahead >= 1 ? BranchEnd::reached : BranchEnd::returned;
      return out;
    }
    if (next->newton_steps <= kEasy) step = std::min(1.5 * step, options_.step);
    here = std::move(next);
  }
  out.end = BranchEnd::unfinished;
  return out;
}

}  // namespace

const char* to_string(BranchKind kind) {
  switch (kind) {
    case BranchKind::regular: return "regular";
    case BranchKind::fold: return "fold";
    case BranchKind::hopf: return "hopf";
    case BranchKind::branching: return "branching";
  }
  return "";
}

const char* to_string(BranchEnd end) {
  switch (end) {
    case BranchEnd::reached: return "reached";
    case BranchEnd::returned: return "returned";
    case BranchEnd::unfinished: return "unfinished";
    case BranchEnd::lost: return "lost";
  }
  return "";
}

Branch follow_equilibrium(const DynamicsAt& at, double from, double to, const Matrix<double>& start,
                          const ContinuationOptions& options) {
  NUDGE_EXPECT(std::isfinite(from) && std::isfinite(to) && from != to && start.size() > 0);
  NUDGE_EXPECT(options.step > 0 && options.max_points >= 1);
  return BranchWalk(at, from, to, start, options).walk(start);
}

}  // namespace nudge
