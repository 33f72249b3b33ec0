// SPDX-License-Identifier: Apache-2.0
#include "apps/report/svg_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"

namespace nudge::report {
namespace {

constexpr double chart_width = 480, chart_height = 290;  // one drawing, in its own pixels
constexpr double right = 456, top = 28, bottom = 244;    // the frame within it

/// Left edge of the frame: behind the longest number of the axis, 8 pixels a character (on paper; a superscript counts,
/// too).
double frame_left(const Axis& y) {
  std::size_t longest = 0;
  for (const auto& tick : y.ticks()) {
    const auto characters =
        std::count_if(tick.label.begin(), tick.label.end(), [](char c) { return (c & 0xC0) != 0x80; });  // of UTF-8
    longest = std::max(longest, static_cast<std::size_t>(characters));
  }
  return std::max(58.0, 8 + 8.0 * static_cast<double>(longest));
}

void append(std::vector<double>& to, const std::vector<double>& from) { to.insert(to.end(), from.begin(), from.end()); }

/// Drops values that lie further above the 90 % quantile than four times the range between the 10 % and 90 % quantiles.
void drop_outliers(std::vector<double>& values) {
  std::vector<double> sorted;
  std::copy_if(values.begin(), values.end(), std::back_inserter(sorted), [](double v) { return std::isfinite(v); });
  if (sorted.size() < 10) return;
  std::sort(sorted.begin(), sorted.end());
  const double low = sorted[sorted.size() / 10], high = sorted[sorted.size() * 9 / 10];
  const double most = high + 4 * (high - low);
  values.erase(std::remove_if(values.begin(), values.end(), [most](double v) { return v > most; }), values.end());
}

std::vector<double> all_x(const Chart& chart) {
  std::vector<double> out;
  for (const auto& s : chart.series) append(out, s.x);
  return out;
}

std::vector<double> all_y(const Chart& chart) {
  std::vector<double> out;
  for (const auto& s : chart.series) {
    append(out, s.y);
    append(out, s.low);
    append(out, s.high);
  }
  if (chart.y_scale == Scale::logarithmic) {  // 0 has no place on a vertical logarithmic axis
    out.erase(std::remove(out.begin(), out.end(), 0.0), out.end());
  }
  if (chart.clip_outliers) drop_outliers(out);
  return out;
}

std::string frame(const Axis& x, const Axis& y, double left, const Chart& chart) {
  std::string out;
  for (const auto& tick : y.ticks()) {
    const double at = y.pixel(tick.at);
    out += line("grid", left, at, right, at) + label("tick", left - 7, at + 4, "end", tick.label);
  }
  for (const auto& tick : x.ticks()) {
    const double at = x.pixel(tick.at);
    out += line("axis", at, bottom, at, bottom + 4) + label("tick", at, bottom + 18, "middle", tick.label);
  }
  out += line("axis", left, bottom, right, bottom);
  if (x.has_gap()) out += line("gap", x.gap_pixel(), top, x.gap_pixel(), bottom + 4);
  out += label("name", 0, 13, "start", chart.y_label);
  return out + label("name", 0.5 * (left + right), bottom + 38, "middle", chart.x_label) + "\n";
}

std::string band(const Series& s, const Axis& x, const Axis& y) {
  std::string out;
  std::size_t i = 0;
  while (i < s.y.size()) {
    std::string up;
    std::vector<std::string> down;  // the lower edge, drawn back
    std::size_t n = 0;
    for (; i < s.y.size() && x.shows(s.x[i]) && y.shows(s.high[i]); ++i, ++n) {
      const double floor = y.shows(s.low[i]) ? y.pixel(s.low[i]) : bottom;
      up += fmt::format("{}{:.1f} {:.1f}", n == 0 ? "M" : "L", x.pixel(s.x[i]), y.pixel(s.high[i]));
      down.push_back(fmt::format("L{:.1f} {:.1f}", x.pixel(s.x[i]), floor));
    }
    if (n > 1)
      out += fmt::format(R"(<path class="band f{}" d="{}{}z"/>)", s.color % palette_size, up,
                         fmt::join(down.rbegin(), down.rend(), ""));
    ++i;
  }
  return out;
}

std::string whiskers(const Series& s, const Axis& x, const Axis& y) {
  std::string out;
  for (std::size_t i = 0; i < s.y.size(); ++i) {
    if (!x.shows(s.x[i]) || !y.shows(s.high[i])) continue;
    const double floor = y.shows(s.low[i]) ? y.pixel(s.low[i]) : bottom;
    out += line(fmt::format("whisker s{}", s.color % palette_size), x.pixel(s.x[i]), floor, x.pixel(s.x[i]),
                y.pixel(s.high[i]));
  }
  return out;
}

std::string curve(const Series& s, const Axis& x, const Axis& y) {
  std::string path, marks;
  bool pen_down = false;
  for (std::size_t i = 0; i < s.y.size(); ++i) {
    const bool shown = x.shows(s.x[i]) && y.shows(s.y[i]);
    if (shown) {
      const double px = x.pixel(s.x[i]), py = y.pixel(s.y[i]);
      path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", px, py);
      const bool alone = !pen_down && (i + 1 == s.y.size() || !y.shows(s.y[i + 1]));
      if (s.markers) {
        marks += marker(s.color, px, py);
      } else if (alone) {
        path += "h0.1";  // a lone point between gaps stays visible as a dot
      }
    }
    pen_down = shown;
  }
  const std::string css =
      fmt::format("curve s{}{}{}", s.color % palette_size, s.dashed ? " dashed" : "", s.thin ? " thin" : "");
  return (s.line && !path.empty() ? fmt::format(R"(<path class="{}" d="{}"/>)", css, path) : "") + marks + "\n";
}

}  // namespace

std::string chart_figure(const Chart& chart) {
  const Axis y(chart.y_scale, all_y(chart), bottom - 4, top + 4, 0.04, 5);
  const double left = frame_left(y);
  const Axis x = chart.x_names.empty() ? Axis(chart.x_scale, all_x(chart), left + 8, right - 8, 0, 6)
                                       : Axis(chart.x_names, left, right);
  if (x.empty() || y.empty()) {
    return figure(chart.title, "", chart_width, 60,
                  label("name", 0.5 * chart_width, 34, "middle", "no finite values to show"), chart.note, "");
  }
  std::string curves;
  std::vector<LegendEntry> entries;
  for (const auto& s : chart.series) {
    if (!s.high.empty()) curves += s.line && s.y.size() > 1 ? band(s, x, y) : whiskers(s, x, y);
  }
  for (const auto& s : chart.series) {
    curves += curve(s, x, y);
    if (!s.label.empty()) entries.push_back({s.label, s.color, s.line, s.markers, s.dashed});
  }
  // an inner svg clips at its border, which lies a marker's radius outside the frame
  const std::string clipped =
      fmt::format("<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\">{4}</svg>",
                  left - 6, top - 8, right - left + 12, bottom - top + 12, curves);
  return figure(chart.title, legend(entries), chart_width, chart_height, frame(x, y, left, chart) + clipped, chart.note,
                figure_csv(chart));
}

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
