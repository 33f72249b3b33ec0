// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/pulse_law.hpp"

#include "devices/fit/fit_numbers.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

constexpr double longest_step = 0.05;
constexpr int most_steps = 64;  // a pulse that crosses more than three windows has arrived

std::unique_ptr<Memristor> memristor_of(const DeviceSpec& spec) {
  if (spec.model == "vteam") return std::make_unique<Vteam>(vteam_of(spec));
  if (spec.model == "yakopcic") return std::make_unique<Yakopcic>(yakopcic_of(spec));
  return nullptr;
}

double run(const Memristor& memristor, double x, double volts, double width_s) {
  const auto rate = [&](double at) { return memristor.rate(std::clamp(at, 0.0, 1.0), volts); };
  const double way = std::abs(rate(x)) * width_s;
  const int steps = static_cast<int>(std::clamp(std::ceil(way / longest_step), 1.0, static_cast<double>(most_steps)));
  const double h = width_s / steps;
  for (int k = 0; k < steps; ++k) {
    const double a = rate(x), b = rate(x + h / 2 * a), c = rate(x + h / 2 * b), d = rate(x + h * c);
    x = std::clamp(x + h / 6 * (a + 2 * b + 2 * c + d), 0.0, 1.0);
  }
  return x;
}

}  // namespace

bool has_volts(const std::string& model) { return model == "vteam" || model == "yakopcic"; }

bool has_constant_noise(const std::string& model) { return model == "label_curve"; }

PulseLaw::PulseLaw(const DeviceSpec& spec, const DeviceModel& model)
    : lower_S_(spec.g_min_S),
      upper_S_(spec.g_max_S),
      constant_noise_(nudge::has_constant_noise(spec.model)),
      clips_noise_(constant_noise_ || (spec.update_noise_floor > 0 && !has_volts(spec.model))),
      memristor_(memristor_of(spec)),
      scale_(spec.model == "vteam" ? StateScale::resistance : StateScale::conductance),
      leak_time_s_(spec.retention.leak_time_s),
      rest_S_(spec.g_min_S + spec.retention.leak_rest * spec.window_S()) {
  if (memristor_ != nullptr) return;
  model_ = model.make(spec);
  steps_ = dynamic_cast<const SingleSteps*>(model_.get());
  NUDGE_EXPECT(steps_ != nullptr);
  const auto [up, down] = steps_of_spec(spec);
  const double width = spec.window_S(), reference = spec.g_reference_S();
  up_ = {0, upper_S_, reference, width, up * width, -1};
  down_ = {0, -lower_S_, -reference, width, down * width, -1};
  straight_up_ = steps_->straight_cells(up_, Direction::up);
  straight_down_ = steps_->straight_cells(down_, Direction::down);
  if (!clips_noise_) return;
  up_at_upper_S_ = pulse_at_bound_S(Direction::up);
  down_at_lower_S_ = pulse_at_bound_S(Direction::down);
}

double PulseLaw::pulse_at_bound_S(Direction direction) const {
  constexpr double inside = 1e-6;  // of the window: less than the part of a pulse that is sent from there
  constexpr double part = 1e-7;
  const Element<double>& along = direction == Direction::up ? up_ : down_;
  const double from = along.upper - inside * along.width;
  double change = 0;
  steps_->changes(along, direction, part, &from, &change, 1);
  return std::clamp(change, 0.0, inside * along.width) / part;
}

bool PulseLaw::cuts_pulses(Direction direction) const {
  constexpr double vanishes = 1e-5;  // of the mean pulse: pulse_at_bound_S() of soft bounds is 2e-6 of it
  if (memristor_ != nullptr) return false;
  return pulse_at_bound_S(direction) > vanishes * (direction == Direction::up ? up_ : down_).step;
}

void PulseLaw::move(const PulseRecord& record, std::size_t i, Places& places) const {
  if (memristor_ != nullptr) return move_by_volts(record.volts[i], record.width_s[i], places);
  const Direction direction = record.direction[i];
  const bool up = direction == Direction::up;
  const double sign = up ? 1 : -1;
  Places from{}, change{};
  bool straight = true;
  for (std::size_t k = 0; k < places.size() && straight; ++k) {
    const std::optional<double> known = straight_change(direction, sign * places[k]);
    straight = known.has_value();
    if (straight) change[k] = *known;
  }
  if (!straight) {
    for (std::size_t k = 0; k < places.size(); ++k) from[k] = sign * places[k];
    steps_->changes(up ? up_ : down_, direction, 1, from.data(), change.data(), static_cast<int>(from.size()));
  }
  for (std::size_t k = 0; k < places.size(); ++k) {
    places[k] = std::clamp(places[k] + sign * change[k], lower_S_, upper_S_);
  }
}

std::optional<double> PulseLaw::straight_change(Direction direction, double along_S) const {
  const bool up = direction == Direction::up;
  const std::vector<StraightCell>& cells = up ? straight_up_ : straight_down_;
  if (cells.empty()) return std::nullopt;
  const double width = upper_S_ - lower_S_, cell_S = width / static_cast<double>(cells.size());
  const double way = along_S - (up ? lower_S_ : -upper_S_);
  const auto cell = std::min(static_cast<std::size_t>(way / cell_S), cells.size() - 1);
  const double inside = way - static_cast<double>(cell) * cell_S;
  if (inside > cells[cell].until) return std::nullopt;
  return cells[cell].change + cells[cell].slope * inside;
}

std::optional<PlaceLine> PulseLaw::line(Direction direction) const {
  const bool up = direction == Direction::up;
  const std::vector<StraightCell>& cells = up ? straight_up_ : straight_down_;
  if (cells.size() != 1 || cells[0].until < upper_S_ - lower_S_) return std::nullopt;
  const auto [until, change, slope] = cells[0];
  return up ? PlaceLine{change - slope * lower_S_, 1 + slope} : PlaceLine{-change - slope * upper_S_, 1 + slope};
}

PlaceLine PulseLaw::leak(double seconds) const {
  if (leak_time_s_ == 0 || seconds == 0) return {};
  const double lost = -std::expm1(-seconds / leak_time_s_);
  return {lost * rest_S_, 1 - lost};
}

void PulseLaw::follow(const PulseRecord& record, std::size_t i, Places& places) const {
  const auto [a, b] = leak(record.pause(i));
  for (double& g : places) g = a + b * g;
  move(record, i, places);
}

void PulseLaw::move_by_volts(double volts, double width_s, Places& places) const {
  const double width = upper_S_ - lower_S_;
  for (double& g : places) {
    const double x = memristor_state(scale_, g, lower_S_, width);
    g += memristor_change(scale_, x, run(*memristor_, x, volts, width_s) - x, lower_S_, width);
  }
}

// Of pulses at a bound half the noise is lost there where it does not shrink with the pulse: taken for all of it, up to 15 % of it was missing in fits.
// Elsewhere few pulses end so, and a normal distribution of those that nearly always do would be too narrow for the rest.
PulseEnd PulseLaw::clipped_ends(Direction direction, double from, double to, double noise) const {
  constexpr double beyond = 2;  // deviations: from farther out one in fifty comes back
  const bool up = direction == Direction::up;
  if (up && to >= upper_S_) to = std::clamp(from + up_at_upper_S_, upper_S_, upper_S_ + beyond * noise);
  if (!up && to <= lower_S_) to = std::clamp(from - down_at_lower_S_, lower_S_ - beyond * noise, lower_S_);
  return clipped_normal(to, noise, lower_S_, upper_S_);
}

std::vector<double> replay(const DeviceSpec& spec, const PulseRecord& record, double first) {
  const PulseLaw law(spec);
  PulseLaw::Places places{};
  places.fill(std::clamp(first, law.lower_S(), law.upper_S()));
  std::vector<double> all{places[0]};
  for (std::size_t i = 1; i < record.conductance_S.size(); ++i) {
    law.follow(record, i, places);
    all.push_back(places[0]);
  }
  return all;
}

std::vector<double> replay(const DeviceSpec& spec, const PulseRecord& record) {
  const std::vector<double>& g = record.conductance_S;
  const auto off = [&](const std::vector<double>& at) {
    double sum = 0;
    for (std::size_t i = 0; i < at.size(); ++i) sum += (g[i] - at[i]) * (g[i] - at[i]);
    return sum;
  };
  double start = std::clamp(g[0], spec.g_min_S, spec.g_max_S);
  const double h = 1e-4 * spec.window_S();
  std::vector<double> best = replay(spec, record, start);
  for (int round = 0; round < 4; ++round) {  // Gauss–Newton in one number
    const double side = start + h > spec.g_max_S ? -h : h;
    const std::vector<double> moved = replay(spec, record, start + side);
    double slope = 0, curvature = 0;
    for (std::size_t i = 0; i < best.size(); ++i) {
      const double d = (moved[i] - best[i]) / side;
      slope += d * (g[i] - best[i]);
      curvature += d * d;
    }
    const double next = std::clamp(start + slope / curvature, spec.g_min_S, spec.g_max_S);
    std::vector<double> tried = replay(spec, record, next);
    if (!(off(tried) < off(best))) break;
    start = next;
    best = std::move(tried);
  }
  return best;
}

}  // namespace nudge
