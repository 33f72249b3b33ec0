// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/pulse_law.hpp"

#include <algorithm>
#include <cmath>

#include "devices/device_array.hpp"
#include "devices/memristor/memristors.hpp"
#include "devices/registry.hpp"

namespace nudge {
namespace {

constexpr double longest_step = 0.05;
constexpr int most_steps = 64;  // a pulse that crosses more than three windows has arrived

std::unique_ptr<Memristor> memristor_of(const DeviceSpec& spec) {
  if (spec.model == "vteam") return std::make_unique<Vteam>(vteam_of(spec));
  if (spec.model == "yakopcic") return std::make_unique<Yakopcic>(yakopcic_of(spec));
  return nullptr;
}

DeviceSpec without_volts(DeviceSpec spec) {
  // Tables of the motion under one voltage take milliseconds and are of no use to pulses with volts of their own.
  if (has_volts(spec.model)) {
    spec.model = "ideal";
    spec.shape.clear();
  }
  return spec;
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

PulseLaw::PulseLaw(const DeviceSpec& spec)
    : lower_S_(spec.g_min_S),
      upper_S_(spec.g_max_S),
      constant_noise_(has_constant_noise(spec.model)),
      memristor_(memristor_of(spec)),
      scale_(spec.model == "vteam" ? StateScale::resistance : StateScale::conductance),
      one_(Matrix<double>::Ones(1, 3)) {
  const DeviceSpec own = without_volts(spec);
  model_ = device_model(own.model).make(own);
  cells_ = DeviceArray<double>(own, 1, 3, {}, 1).cells();
}

void PulseLaw::move(const PulseRecord& record, std::size_t i, Places& places) {
  if (memristor_ != nullptr) return move_by_volts(record.volts[i], record.width_s[i], places);
  std::copy(places.begin(), places.end(), cells_.g.data());
  UpdateRequest<double> request{one_};
  request.factor = record.direction[i] == Direction::up ? cells_.mean_step : -cells_.mean_step;
  model_->update(cells_, request);
  std::copy_n(cells_.g.data(), places.size(), places.begin());
}

void PulseLaw::move_by_volts(double volts, double width_s, Places& places) const {
  const double width = upper_S_ - lower_S_;
  for (double& g : places) {
    const double x = memristor_state(scale_, g, lower_S_, width);
    g += memristor_change(scale_, x, run(*memristor_, x, volts, width_s) - x, lower_S_, width);
  }
}

double PulseLaw::noise_S(const PulseRecord& record, std::size_t i, double change) const {
  if (!constant_noise_) return std::abs(change);
  return (record.direction[i] == Direction::up ? cells_.step_up : cells_.step_down)(0, 0);
}

std::vector<double> replay(const DeviceSpec& spec, const PulseRecord& record, double first) {
  PulseLaw law(spec);
  PulseLaw::Places places{};
  places.fill(std::clamp(first, law.lower_S(), law.upper_S()));
  std::vector<double> all{places[0]};
  for (std::size_t i = 1; i < record.conductance_S.size(); ++i) {
    law.move(record, i, places);
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
