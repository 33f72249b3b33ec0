// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/rng.hpp"

namespace boost::numeric::odeint {
struct stepper_tag;  // its definition stays in the files that use odeint
}

namespace nudge {

/// Independent Wiener processes, one per component, as a pure function of (key, time): the path does not depend on the
/// step it is looked at with. On a grid of `base` it is made of independent increments; between the grid points it is
/// refined by Brownian bridges (Lévy's construction), so the same path can be followed with base · m or base / 2^L.
/// Another path: another key.entity or key.seed.
template <class S>
class WienerPath {
 public:
  /// base > 0: the time between grid points, in the unit of t.
  WienerPath(const RngKey& key, double base) : key_(key), base_(base) {}

  /// dw_i = W_i(t + dt) − W_i(t). dt is base · m or base / 2^L (L ≤ 30), t ≥ 0 a multiple of dt; anything else throws
  /// UserError: steps of other lengths would see another path.
  void increment(double t, double dt, std::vector<S>& dw);

 private:
  void bridge(std::uint64_t base_index, int level, std::uint32_t position, std::vector<S>& dw);

  RngKey key_;
  double base_;
  std::vector<S> normals_;
};

/// Euler–Maruyama for the Itô equation dx_i = a_i(x, t) dt + b_i(x, t) dW_i:  x ← x + a dt + b ΔW.
/// Strong order 0.5, and 1.0 for additive noise (b independent of x); weak order 1 (Kloeden & Platen, Numerical Solution
/// of SDEs, 1992, section 10.2). A stepper of Boost.odeint (integrate_const and others that keep the step): the system
/// is std::pair(drift, diffusion), both f(x, out, t).
template <class S>
class EulerMaruyama {
 public:
  using state_type = std::vector<S>;
  using deriv_type = std::vector<S>;
  using value_type = S;
  using time_type = double;
  using order_type = unsigned short;
  using stepper_category = boost::numeric::odeint::stepper_tag;
  static constexpr order_type order() { return 1; }

  explicit EulerMaruyama(WienerPath<S> path) : path_(std::move(path)) {}

  template <class System>
  void do_step(System system, state_type& x, time_type t, time_type dt) {
    a_.resize(x.size());
    b_.resize(x.size());
    dw_.resize(x.size());
    path_.increment(t, dt, dw_);
    system.first(x, a_, t);
    system.second(x, b_, t);
    const auto h = static_cast<S>(dt);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += a_[i] * h + b_[i] * dw_[i];
  }

 private:
  WienerPath<S> path_;
  std::vector<S> a_, b_, dw_;
};

/// Heun for the Stratonovich equation dx_i = a_i(x, t) dt + b_i(x, t) ∘ dW_i, b_i depending on x_i only (diagonal noise):
///   y = x + a(x) dt + b(x) ΔW,   x ← x + (a(x) + a(y)) dt/2 + (b(x) + b(y)) ΔW/2.
/// Strong order 1.0 for such commutative noise (Rümelin, SIAM J. Numer. Anal. 19 (1982) 604), deterministic order 2.
/// Multiplicative noise of a physical circuit, white as the limit of short correlation times, is of this kind
/// (Wong & Zakai 1965). Same stepper concept as EulerMaruyama.
template <class S>
class StochasticHeun {
 public:
  using state_type = std::vector<S>;
  using deriv_type = std::vector<S>;
  using value_type = S;
  using time_type = double;
  using order_type = unsigned short;
  using stepper_category = boost::numeric::odeint::stepper_tag;
  static constexpr order_type order() { return 1; }

  explicit StochasticHeun(WienerPath<S> path) : path_(std::move(path)) {}

  template <class System>
  void do_step(System system, state_type& x, time_type t, time_type dt) {
    for (auto* buffer : {&a_, &b_, &a_end_, &b_end_, &y_, &dw_}) buffer->resize(x.size());
    path_.increment(t, dt, dw_);
    system.first(x, a_, t);
    system.second(x, b_, t);
    const auto h = static_cast<S>(dt);
    for (std::size_t i = 0; i < x.size(); ++i) y_[i] = x[i] + a_[i] * h + b_[i] * dw_[i];
    system.first(y_, a_end_, t + dt);
    system.second(y_, b_end_, t + dt);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += S(0.5) * ((a_[i] + a_end_[i]) * h + (b_[i] + b_end_[i]) * dw_[i]);
    }
  }

 private:
  WienerPath<S> path_;
  std::vector<S> a_, b_, a_end_, b_end_, y_, dw_;
};

}  // namespace nudge
