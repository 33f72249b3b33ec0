// SPDX-License-Identifier: Apache-2.0
#include "training/learning/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

template <class S>
std::vector<Matrix<S>> zeros(std::span<const ParameterShape> shapes) {
  std::vector<Matrix<S>> matrices;
  for (const ParameterShape& shape : shapes) matrices.push_back(Matrix<S>::Zero(shape.rows, shape.cols));
  return matrices;
}

template <class S>
void append_state(std::vector<StateArray<S>>& state, const std::string& name, const std::string& description,
                  std::vector<Matrix<S>>& matrices) {
  for (std::size_t p = 0; p < matrices.size(); ++p) {
    state.push_back(
        {fmt::format("{}/{}", name, p), "1", fmt::format("{} of parameter {}", description, p), &matrices[p]});
  }
}

void check(bool holds, const char* key, double value, const char* rule) {
  if (!holds) throw UserError(fmt::format("optimizer: {} = {} (must be {})", key, value, rule));
}

void check_fraction(const char* key, double value) { check(value >= 0 && value < 1, key, value, ">= 0 and < 1"); }

/// Gradient descent with momentum (the heavy ball of Polyak 1964, doi:10.1016/0041-5553(64)90137-5, with the rate taken
/// out of the velocity, so that a change of rate acts at once):  v ← μ v + g,  Δ = −η v. Without momentum v is g and not kept.
template <class S>
class Sgd final : public Optimizer<S> {
 public:
  Sgd(const OptimizerOptions& options, std::span<const ParameterShape> shapes)
      : momentum_(static_cast<S>(options.momentum)) {
    check_fraction("momentum", options.momentum);
    if (momentum_ > 0) velocity_ = zeros<S>(shapes);
  }

  void step(const std::vector<Matrix<S>>& gradient, double learning_rate, std::vector<Matrix<S>>& delta) override {
    NUDGE_EXPECT(velocity_.empty() || gradient.size() == velocity_.size());
    delta.resize(gradient.size());
    const S rate = static_cast<S>(-learning_rate);
    for (std::size_t p = 0; p < gradient.size(); ++p) {
      if (velocity_.empty()) {
        delta[p] = rate * gradient[p];
        continue;
      }
      delta[p].resizeLike(gradient[p]);
      const S* g = gradient[p].data();
      S* v = velocity_[p].data();
      S* d = delta[p].data();
      for (Index i = 0; i < gradient[p].size(); ++i) {
        const S next = momentum_ * v[i] + g[i];
        v[i] = next;
        d[i] = rate * next;
      }
    }
  }

  std::optional<S> factor(double learning_rate) const override {
    if (!velocity_.empty()) return std::nullopt;
    return static_cast<S>(-learning_rate);
  }

  std::vector<StateArray<S>> state() override {
    std::vector<StateArray<S>> all;
    append_state(all, "sgd/velocity", "velocity v", velocity_);
    return all;
  }

 private:
  S momentum_;
  std::vector<Matrix<S>> velocity_;
};

/// Adam (Kingma & Ba 2015, arXiv:1412.6980, algorithm 1), t = 1, 2, … counting the steps that were taken:
///   m ← β₁ m + (1 − β₁) g,  v ← β₂ v + (1 − β₂) g²,  Δ = −η m̂/(√v̂ + ε),  m̂ = m/(1 − β₁ᵗ),  v̂ = v/(1 − β₂ᵗ)
/// No weight decay.
template <class S>
class Adam final : public Optimizer<S> {
 public:
  Adam(const OptimizerOptions& options, std::span<const ParameterShape> shapes)
      : options_(options), first_(zeros<S>(shapes)), second_(zeros<S>(shapes)), count_(Matrix<S>::Zero(1, 1)) {
    check_fraction("beta1", options.beta1);
    check_fraction("beta2", options.beta2);
    check(options.epsilon > 0 && std::isfinite(options.epsilon), "epsilon", options.epsilon, "> 0 and finite");
  }

  void step(const std::vector<Matrix<S>>& gradient, double learning_rate, std::vector<Matrix<S>>& delta) override {
    NUDGE_EXPECT(gradient.size() == first_.size());
    delta.resize(gradient.size());
    // A float counts exactly to 2^24 and then stays, where β^t has long vanished.
    count_(0, 0) += S(1);
    const double t = static_cast<double>(count_(0, 0));
    const S beta1 = static_cast<S>(options_.beta1), beta2 = static_cast<S>(options_.beta2);
    const S rest1 = static_cast<S>(1 - options_.beta1), rest2 = static_cast<S>(1 - options_.beta2);
    const S rate = static_cast<S>(-learning_rate / (1 - std::pow(options_.beta1, t)));
    const S correction = static_cast<S>(1 / (1 - std::pow(options_.beta2, t)));
    const S epsilon = static_cast<S>(options_.epsilon);
    for (std::size_t p = 0; p < gradient.size(); ++p) {
      delta[p].resizeLike(gradient[p]);
      const S* g = gradient[p].data();
      S* m = first_[p].data();
      S* v = second_[p].data();
      S* d = delta[p].data();
      for (Index i = 0; i < gradient[p].size(); ++i) {  // one pass: five streams, no more
        const S mean = beta1 * m[i] + rest1 * g[i];
        const S square = beta2 * v[i] + rest2 * g[i] * g[i];
        m[i] = mean;
        v[i] = square;
        d[i] = rate * mean / (std::sqrt(square * correction) + epsilon);
      }
    }
  }

  std::vector<StateArray<S>> state() override {
    std::vector<StateArray<S>> all{{"adam/steps", "1", "number t of steps taken", &count_}};
    append_state(all, "adam/first_moment", "first moment m", first_);
    append_state(all, "adam/second_moment", "second moment v", second_);
    return all;
  }

 private:
  OptimizerOptions options_;
  std::vector<Matrix<S>> first_, second_;
  Matrix<S> count_;
};

/// Update rule of a self-adjusting comparator beside every element (self-adjusting resistors and transistors: Dillavou
/// et al. 2022, doi:10.1103/PhysRevApplied.18.014040). It sees g + o, o its static offset, and changes nothing where |g
/// + o| ≤ θ,
///     Δ = −η sgn(g + o), or −η (g + o)
template <class S>
class Comparator final : public Optimizer<S> {
 public:
  Comparator(const OptimizerOptions& options, std::span<const ParameterShape> shapes)
      : offsets_(zeros<S>(shapes)), threshold_(static_cast<S>(options.threshold)), sign_(options.sign) {
    check(options.offset >= 0 && std::isfinite(options.offset), "offset", options.offset, ">= 0 and finite");
    check(options.threshold >= 0, "threshold", options.threshold, ">= 0");
    if (options.offset == 0) return;
    for (std::size_t p = 0; p < offsets_.size(); ++p) {
      Matrix<double> drawn(offsets_[p].rows(), offsets_[p].cols());
      fill_normal<double>({options.seed, Purpose::amplifier, kFirstComparator + static_cast<std::uint32_t>(p)}, 0, 0,
                          std::span<double>(drawn.data(), static_cast<std::size_t>(drawn.size())));
      offsets_[p] = (options.offset * drawn).template cast<S>();
    }
  }

  void step(const std::vector<Matrix<S>>& gradient, double learning_rate, std::vector<Matrix<S>>& delta) override {
    NUDGE_EXPECT(gradient.size() == offsets_.size());
    delta.resize(gradient.size());
    const S rate = static_cast<S>(-learning_rate);
    for (std::size_t p = 0; p < gradient.size(); ++p) {
      const auto seen = (gradient[p] + offsets_[p]).array();
      const auto told = (seen.abs() > threshold_).template cast<S>();
      delta[p] = (rate * told * seen).matrix();
      if (sign_) delta[p] = (rate * told * seen.sign()).matrix();
    }
  }

  std::vector<StateArray<S>> state() override { return {}; }

 private:
  /// First number of a comparator in random streams, behind those of the amplifiers of arrays.
  static constexpr std::uint32_t kFirstComparator = 1U << 20U;
  std::vector<Matrix<S>> offsets_;
  S threshold_;
  bool sign_;
};

template <class S, template <class> class Rule>
std::unique_ptr<Optimizer<S>> make(const OptimizerOptions& options, std::span<const ParameterShape> shapes) {
  return std::make_unique<Rule<S>>(options, shapes);
}

}  // namespace

const std::vector<OptimizerKind>& optimizer_kinds() {
  using O = OptimizerOptions;
  static const std::vector<OptimizerKind> kinds{
      // m takes two products and an addition, v one product more, the change a product (correction of v), root,
      // addition, division and product.
      {"adam",
       "Adam (Kingma and Ba, arXiv:1412.6980)",
       12,
       {&O::beta1, &O::beta2, &O::epsilon},
       [](const O&) { return 2.0; },
       make<float, Adam>,
       make<double, Adam>},
      // mu v + g, -eta v
      {"sgd",
       "gradient descent with momentum (Polyak 1964)",
       3,
       {&O::momentum},
       [](const O& options) { return options.momentum > 0 ? 1.0 : 0.0; },
       make<float, Sgd>,
       make<double, Sgd>},
      // offset, comparison, product
      {"comparator",
       "a comparator at every element (Dillavou et al. 2022)",
       3,
       {&O::offset, &O::threshold, &O::sign},
       [](const O&) { return 0.0; },
       make<float, Comparator>,
       make<double, Comparator>}};
  return kinds;
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const OptimizerKind& kind : optimizer_kinds()) names.push_back(kind.name);
  return names;
}

const OptimizerKind& optimizer_kind(const std::string& name) {
  for (const OptimizerKind& kind : optimizer_kinds()) {
    if (kind.name == name) return kind;
  }
  throw UserError(fmt::format("unknown optimizer \"{}\" (known: {})", name, fmt::join(optimizer_names(), ", ")));
}

template <class S>
std::unique_ptr<Optimizer<S>> make_optimizer(const std::string& name, const OptimizerOptions& options,
                                             std::span<const ParameterShape> shapes) {
  const OptimizerKind& kind = optimizer_kind(name);
  if constexpr (std::is_same_v<S, float>) {
    return kind.make_float(options, shapes);
  } else {
    return kind.make_double(options, shapes);
  }
}

template <class S>
void add_with_decay(const std::vector<Matrix<S>>& delta, double decay, std::vector<Matrix<S>>& parameters) {
  NUDGE_EXPECT(delta.size() == parameters.size());
  const S kept = static_cast<S>(1 - decay);
  for (std::size_t p = 0; p < delta.size(); ++p) parameters[p] = kept * parameters[p] + delta[p];
}

#define NUDGE_OPTIMIZER(S)                                                                              \
  template std::unique_ptr<Optimizer<S>> make_optimizer<S>(const std::string&, const OptimizerOptions&, \
                                                           std::span<const ParameterShape>);            \
  template void add_with_decay<S>(const std::vector<Matrix<S>>&, double, std::vector<Matrix<S>>&);
NUDGE_BOTH_PRECISIONS(NUDGE_OPTIMIZER)

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names{"constant", "cosine"};
  return names;
}

void check(const Schedule& schedule) {
  const auto& names = schedule_names();
  if (std::find(names.begin(), names.end(), schedule.shape) == names.end()) {
    throw UserError(fmt::format("unknown schedule \"{}\" (known: {})", schedule.shape, fmt::join(names, ", ")));
  }
  if (!(schedule.learning_rate >= 0 && std::isfinite(schedule.learning_rate))) {
    throw UserError(fmt::format("schedule: learning rate = {} (must be >= 0 and finite)", schedule.learning_rate));
  }
  if (!(schedule.final_fraction >= 0 && schedule.final_fraction <= 1)) {
    throw UserError(fmt::format("schedule: final fraction = {} (must be >= 0 and <= 1)", schedule.final_fraction));
  }
  if (schedule.steps < 1) throw UserError("schedule: steps = 0 (must be at least 1)");
}

double learning_rate_at(const Schedule& schedule, std::uint64_t step) {
  const auto k = static_cast<double>(step), warmup_steps = static_cast<double>(schedule.warmup_steps);
  const double warmup = step < schedule.warmup_steps ? (k + 1) / warmup_steps : 1.0;
  if (schedule.shape == "constant") return schedule.learning_rate * warmup;
  const double length = static_cast<double>(schedule.steps) - warmup_steps;
  const double done = step < schedule.warmup_steps ? 0.0 : step >= schedule.steps ? 1.0 : (k - warmup_steps) / length;
  const double half_cosine = (1 + std::cos(std::numbers::pi * done)) / 2;
  return schedule.learning_rate * warmup * (schedule.final_fraction + (1 - schedule.final_fraction) * half_cosine);
}

}  // namespace nudge
