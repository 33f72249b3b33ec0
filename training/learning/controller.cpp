// SPDX-License-Identifier: Apache-2.0
#include "training/learning/controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

void check(bool holds, const char* key, double value, const std::string& rule) {
  if (!holds) throw UserError(fmt::format("damping controller: {} = {} (must be {})", key, value, rule));
}

}  // namespace

DampingController::DampingController(const DampingOptions& options) : options_(options), damping_(options.initial) {
  const DampingOptions& o = options;
  check(o.minimum >= 0 && std::isfinite(o.minimum), "minimum", o.minimum, ">= 0");
  check(o.maximum >= o.minimum && std::isfinite(o.maximum), "maximum", o.maximum,
        fmt::format("at least minimum = {}", o.minimum));
  check(o.initial >= o.minimum && o.initial <= o.maximum, "initial", o.initial,
        fmt::format("between minimum = {} and maximum = {}", o.minimum, o.maximum));
  check(o.high > 0, "high", o.high, "> 0");
  check(o.low >= 0 && o.low < o.high, "low", o.low, fmt::format(">= 0 and below high = {}", o.high));
  check(o.raise >= 1 && std::isfinite(o.raise), "raise", o.raise, "a factor of at least 1");
  check(o.lower > 0 && o.lower <= 1, "lower", o.lower, "a factor > 0 and <= 1");
  check(o.patience >= 1, "patience", o.patience, "at least 1");
}

std::optional<ControlEvent> DampingController::observe(const Observation& seen) {
  const double residual = seen.step_residual;
  const bool forced = seen.skipped && options_.raise_on_skip;
  if (forced || !(residual <= options_.high)) {  // also when not a number
    high_in_a_row_ += 1;
    if (high_in_a_row_ < options_.patience) return std::nullopt;
    high_in_a_row_ = 0;
    const std::string what = forced ? "step skipped"
                             : std::isnan(residual)
                                 ? "step residual not a number"
                                 : fmt::format("step residual {:.3g} > {:.3g}", residual, options_.high);
    return set(options_.raise * damping_, seen, fmt::format("{}, {} in a row", what, options_.patience));
  }
  high_in_a_row_ = 0;
  if (residual >= options_.low) return std::nullopt;
  return set(options_.lower * damping_, seen, fmt::format("step residual {:.3g} < {:.3g}", residual, options_.low));
}

std::optional<ControlEvent> DampingController::set(double damping, const Observation& seen, std::string reason) {
  const double before = damping_;
  damping_ = std::clamp(damping, options_.minimum, options_.maximum);
  if (damping_ == before) return std::nullopt;
  return ControlEvent{seen.step, "damping", before, damping_, std::move(reason)};
}

std::vector<ScalarState> DampingController::state() {
  return {
      {"damping_controller/damping", "1", "damping c", &damping_},
      {"damping_controller/high_in_a_row", "1", "steps in a row with a residual above the threshold", &high_in_a_row_}};
}

template <class S>
MemoryBound<S>::MemoryBound(Index channels, const MemoryBoundOptions& options, std::uint64_t seed,
                            Index return_memories)
    : options_(options), direction_(1, channels), return_direction_(1, return_memories) {
  NUDGE_EXPECT(channels >= 1);
  if (!(options.fraction > 0 && options.fraction < 1)) {
    throw UserError(fmt::format("memory bound: fraction = {} (must be > 0 and < 1)", options.fraction));
  }
  if (options.iterations < 1) {
    throw UserError(fmt::format("memory bound: iterations = {} (must be at least 1)", options.iterations));
  }
  fill_normal<S>({seed, Purpose::probe, 0}, 0, 0, std::span(direction_.data(), static_cast<std::size_t>(channels)));
  direction_.normalize();
  if (return_memories == 0) return_direction_.resize(0, 0);
  if (return_memories == 0) return;
  fill_normal<S>({seed, Purpose::probe, 0}, 0, 1,
                 std::span(return_direction_.data(), static_cast<std::size_t>(return_memories)));
  return_direction_.normalize();
}

/// Does some power iterations from `direction`, which moves on where the result is finite and not zero.
template <class S>
double MemoryBound<S>::spectral_norm(ConstMatrixRef<S> w, Matrix<S>& direction) {
  NUDGE_EXPECT(w.rows() == direction.cols());
  double norm = 0;
  image_.resize(1, w.cols());
  next_ = direction;
  for (int i = 0; i < options_.iterations; ++i) {
    multiply<S>(next_, w, image_);
    const S length = image_.norm();
    if (length == S(0)) return norm;  // w = 0 as far as u can see
    image_ /= length;
    multiply_transposed<S>(image_, w, next_);
    norm = static_cast<double>(next_.norm());
    if (!std::isfinite(norm)) return norm;
    next_ /= static_cast<S>(norm);
  }
  direction = next_;
  return norm;
}

template <class S>
MemoryBoundResult MemoryBound<S>::measure(ConstMatrixRef<S> w_m, const Matrix<S>* back, double feedback_scale,
                                          double damping) {
  NUDGE_EXPECT((back != nullptr) == (return_direction_.size() > 0));
  MemoryBoundResult result;
  result.limit = std::sqrt(options_.fraction * (1 + feedback_scale * damping) / 2);
  result.norm = spectral_norm(w_m, direction_);
  if (back != nullptr) result.norm = std::sqrt(result.norm * spectral_norm(*back, return_direction_));
  if (std::isfinite(result.norm) && result.norm > result.limit) {
    result.scale = result.limit / result.norm;
    result.bound = true;
  }
  return result;
}

template <class S>
std::vector<StateArray<S>> MemoryBound<S>::state() {
  std::vector<StateArray<S>> all = {
      {"memory_bound/direction", "1", "left singular vector of W_m followed by power iteration", &direction_}};
  if (return_direction_.size() > 0) {
    all.push_back({"memory_bound/return_direction", "1", "left singular vector of Wr", &return_direction_});
  }
  return all;
}

NUDGE_BOTH_PRECISIONS_OF(MemoryBound)

const Section<StabiliserOptions>& stabiliser_section() {
  using param::flag, param::integer, param::real, param::zero_is;
  static const std::string recipe = "recipe of the prototype, tuned by hand on one seed";
  static const Section<StabiliserOptions> section = [] {
    Section<StabiliserOptions> all = {
        field(flag("damping.control", "true", "Regulate the damping c by the residual of the free phase."),
              &StabiliserOptions::control),
        field(real("damping.high", "1.5e-2", above(0),
                   "Raise c when eps |F|/|z| after the free phase is above this. Keep it 2 to 3 times above the "
                   "noise floor.",
                   recipe),
              &StabiliserOptions::damping, &DampingOptions::high),
        field(real("damping.low", "5e-3", at_least(0), "Lower c when eps |F|/|z| is below this.", recipe),
              &StabiliserOptions::damping, &DampingOptions::low),
        field(real("damping.raise", "1.02", at_least(1), "Factor on c when raised.", recipe),
              &StabiliserOptions::damping, &DampingOptions::raise),
        field(real("damping.lower", "0.995", above_up_to(0, 1), "Factor on c when lowered.", recipe),
              &StabiliserOptions::damping, &DampingOptions::lower),
        field(real("damping.minimum", "0.05", at_least(0), "Floor of c.", recipe), &StabiliserOptions::damping,
              &DampingOptions::minimum),
        field(real("damping.maximum", "100", above(0), "Ceiling of c.",
                   "a diverging control reached 1000 with no signal left, measured"),
              &StabiliserOptions::damping, &DampingOptions::maximum),
        field(integer("damping.patience", "1", between(1, 1000000),
                      "Steps in a row above damping.high before c is raised."),
              &StabiliserOptions::damping, &DampingOptions::patience),
        field(flag("damping.raise_on_skip", "true", "A skipped step counts as one above damping.high."),
              &StabiliserOptions::damping, &DampingOptions::raise_on_skip),
        field(zero_is("off", real("memory_bound.fraction", "0.5", from_below(0, 1),
                                  "After each step W_m is scaled so that 2 |W_m|_2^2 <= fraction (1 + s c): above 1 "
                                  "the energy is unbounded below.",
                                  recipe)),
              &StabiliserOptions::memory, &MemoryBoundOptions::fraction),
        field(integer("memory_bound.iterations", "2", between(1, 1000),
                      "Power iterations for the spectral norm, warm started."),
              &StabiliserOptions::memory, &MemoryBoundOptions::iterations)};
    all.where(switched_on("damping.control"), {&StabiliserOptions::damping});
    all.where(above_zero("memory_bound.fraction"), {{&StabiliserOptions::memory, &MemoryBoundOptions::iterations}});
    return all;
  }();
  return section;
}

}  // namespace nudge
