// SPDX-License-Identifier: Apache-2.0
#include "apps/report/svg_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"

namespace nudge::report {

namespace {

constexpr double kLargest = 1e300;   // differences of such numbers, and margins beside them, are finite
constexpr double zero_width = 0.14;  // share of a logarithmic axis given to the value 0, chosen by eye

std::string tick_label(double value, double step) {
  if (std::abs(value) < 1e-9 * step) return "0";
  const double size = std::max(std::abs(value), step);
  if (size >= 1e6 || step < 1e-4) return number(value);
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 5);
  const std::string text = fmt::format("{:.{}f}", std::abs(value), decimals);
  return value < 0 ? "−" + text : text;
}

}  // namespace

Axis::Axis(Scale scale, const std::vector<double>& values, double pixel_begin, double pixel_end, double margin,
           int ticks)
    : scale_(scale), begin_(pixel_begin), end_(pixel_end) {
  const bool log = scale == Scale::logarithmic;
  std::vector<double> shown;
  for (const double v : values) {
    if (std::abs(v) <= kLargest && (!log || v > 0)) shown.push_back(v);
    zero_ = zero_ || (log && v == 0);
  }
  empty_ = shown.empty();
  if (empty_) return;
  low_ = position(*std::min_element(shown.begin(), shown.end()));
  high_ = position(*std::max_element(shown.begin(), shown.end()));
  if (high_ - low_ <= 1e-12 * std::abs(high_)) {  // a single value: a frame around it
    const double half = log ? 0.5 : (high_ == 0 ? 1 : 0.1 * std::abs(high_));
    low_ -= half;
    high_ += half;
  }
  const double pad = margin * (high_ - low_);
  low_ -= pad;
  high_ += pad;
  if (zero_) {
    zero_pixel_ = begin_ + 0.03 * (end_ - begin_);
    begin_ += zero_width * (end_ - begin_);
    gap_ = 0.5 * (zero_pixel_ + begin_);
  }
  log ? set_log_ticks(ticks) : set_linear_ticks(ticks);
  if (zero_) ticks_.insert(ticks_.begin(), {0, "0"});
}

Axis::Axis(const std::vector<std::string>& names, double pixel_begin, double pixel_end)
    : low_(-0.5),
      high_(static_cast<double>(names.size()) - 0.5),
      begin_(pixel_begin),
      end_(pixel_end),
      empty_(names.empty()) {
  for (std::size_t i = 0; i < names.size(); ++i) ticks_.push_back({static_cast<double>(i), names[i]});
}

double Axis::position(double value) const { return scale_ == Scale::logarithmic ? std::log10(value) : value; }

bool Axis::shows(double value) const {
  if (empty_ || !(std::abs(value) <= kLargest)) return false;
  return scale_ == Scale::linear || value > 0 || (zero_ && value == 0);
}

double Axis::pixel(double value) const {
  if (zero_ && value == 0) return zero_pixel_;
  const double at = begin_ + (position(value) - low_) / (high_ - low_) * (end_ - begin_);
  return std::clamp(at, -1e4, 1e4);
}

void Axis::set_linear_ticks(int wanted) {
  const double rough = (high_ - low_) / std::max(1, wanted);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= rough) step = factor * power;
  }
  const double first = std::ceil(low_ / step - 1e-9);
  const double count = std::floor(high_ / step + 1e-9) - first + 1;
  if (!(count <= 10.0 * (wanted + 1))) return;  // numbers at the ends of double, where a step is 0 or infinite
  for (int i = 0; i < static_cast<int>(count); ++i) {
    const double at = (first + i) * step;
    ticks_.push_back({at, tick_label(at, step)});
  }
}

void Axis::set_log_ticks(int wanted) {
  const int first = static_cast<int>(std::ceil(low_ - 1e-9)), last = static_cast<int>(std::floor(high_ + 1e-9));
  const int decades = last - first + 1;
  if (decades >= 2) {
    const int stride = std::max(1, (decades + wanted - 1) / std::max(1, wanted));
    for (int e = first; e <= last; e += stride) ticks_.push_back({std::pow(10.0, e), power_of_ten(e)});
    return;
  }
  for (int e = static_cast<int>(std::floor(low_)); e <= static_cast<int>(std::floor(high_)); ++e) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double at = std::log10(factor) + e;
      if (at >= low_ - 1e-9 && at <= high_ + 1e-9)
        ticks_.push_back({std::pow(10.0, at), number(factor * std::pow(10.0, e))});
    }
  }
  if (ticks_.empty())
    ticks_.push_back({std::pow(10.0, 0.5 * (low_ + high_)), number(std::pow(10.0, 0.5 * (low_ + high_)))});
}

bool spans_decades(const std::vector<double>& values) {
  double low = 0, high = 0;
  for (const double v : values) {
    if (!std::isfinite(v) || v <= 0) continue;
    low = low == 0 ? v : std::min(low, v);
    high = std::max(high, v);
  }
  return low > 0 && high >= 100 * low;
}

}  // namespace nudge::report
