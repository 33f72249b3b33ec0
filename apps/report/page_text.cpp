// SPDX-License-Identifier: Apache-2.0
#include "apps/report/page_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>

#include "apps/report/sections.hpp"

namespace nudge::report {
namespace {

std::string superscript(int value) {
  static constexpr std::array<const char*, 10> digits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out;
  for (const char c : std::to_string(value)) out += c == '-' ? "⁻" : digits[static_cast<std::size_t>(c - '0')];
  return out;
}

/// Returns the code point of a character that turns or hides the text around it (U+200B to 200F, 202A to 202E, 2066 to
/// 2069); 0: another.
int invisible(std::string_view text) {
  if (text.size() < 3 || text[0] != '\xE2') return 0;
  const int point = 0x2000 + ((text[1] & 0x3F) << 6) + (text[2] & 0x3F);
  const bool hides = (point >= 0x200B && point <= 0x200F) || (point >= 0x202A && point <= 0x202E) ||
                     (point >= 0x2066 && point <= 0x2069);
  return hides ? point : 0;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const int point = invisible(text.substr(i)); point != 0) {
      out += fmt::format("\\u{:04x}", point);
      i += 2;
      continue;
    }
    const char c = text[i];
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        out += byte < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
      }
    }
  }
  return out;
}

std::string number(double value) {
  if (!std::isfinite(value)) return "not finite";
  const std::string text = fmt::format("{:.4g}", value);
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text[0] == '-' ? "−" + text.substr(1) : text;
  const std::string mantissa = text.substr(0, e);
  return (mantissa[0] == '-' ? "−" + mantissa.substr(1) : mantissa) + "·10" +
         superscript(std::stoi(text.substr(e + 1)));
}

std::string with_deviation(double mean, double deviation) {
  if (!std::isfinite(mean) || !(deviation > 0)) return number(mean);
  const auto exponent = [](double value) { return static_cast<int>(std::floor(std::log10(std::abs(value)))); };
  const int power = mean == 0 ? exponent(deviation) : std::max(exponent(mean), exponent(deviation));
  const bool plain = power >= -4 && power <= 4;  // as number() has it
  const double unit = plain ? 1 : std::pow(10.0, power);
  const int digits = std::clamp(1 - exponent(deviation / unit), 0, 7);
  std::string text = fmt::format("{:.{}f} ± {:.{}f}", mean / unit, digits, deviation / unit, digits);
  if (text.starts_with('-')) text = "−" + text.substr(1);
  return plain ? text : "(" + text + ")·10" + superscript(power);
}

std::string power_of_ten(int exponent) {
  if (exponent == -1) return "0.1";
  if (exponent >= 0 && exponent <= 2) return fmt::format("{}", std::pow(10.0, exponent));
  return "10" + superscript(exponent);
}

std::string unit_behind(const std::string& unit) { return unit.empty() || unit == "1" ? "" : " " + unit; }

std::string unit_in_brackets(const std::string& unit) { return unit.empty() || unit == "1" ? "" : " (" + unit + ")"; }

std::string capitalised(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string grid(const std::string& figures) {
  return figures.empty() ? "" : "<div class=\"grid\">\n" + figures + "</div>\n";
}

FiniteRange finite_range(std::span<const double> values) {
  FiniteRange out;
  double sum = 0;
  int finite = 0;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    sum += v;
    ++finite;
    out.low = std::fmin(out.low, v);
    out.high = std::fmax(out.high, v);
  }
  if (finite > 0) out.mean = sum / finite;
  return out;
}

std::string count(std::size_t n, std::string_view singular) {
  return fmt::format("{} {}{}", n, singular, n == 1 ? "" : "s");
}

std::size_t place(std::vector<std::string>& names, const std::string& name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

std::string words(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

// What counting letters and pairs scores on the same text, in charts and tables of losses.

void add_text_lines(Chart& chart, const std::optional<TextEntropy>& line) {
  if (!line) return;
  std::vector<double> shown;
  int color = 0;
  for (const Series& series : chart.series) {
    color = std::max(color, series.color + 1);
    std::copy_if(series.x.begin(), series.x.end(), std::back_inserter(shown),
                 [&](double x) { return chart.x_scale == Scale::linear || x > 0; });
  }
  auto [mean, from, to] = finite_range(shown);
  if (!(from <= to)) return;
  if (from == to && chart.x_scale == Scale::linear) {
    from -= 0.5;
    to += 0.5;
  }
  const auto add = [&](const std::string& label, double value) {
    chart.series.push_back({label, {from, to}, {value, value}, {}, {}, color++, true, false, true, true});
  };
  add("unigram: letter frequencies", line->unigram);
  add("bigram: pairs of letters", line->bigram);
}

std::string marked_loss(double loss, const std::optional<TextEntropy>& line) {
  if (!std::isfinite(loss)) return "–";
  return fmt::format("{:.4f}{}", loss, line && loss >= line->unigram ? " !" : "");
}

std::string text_note(const std::optional<TextLines>& lines) {
  if (!lines) return "";
  const auto one = [](const TextEntropy& e, const char* part) {
    return fmt::format("{:.4f} (unigram, letter frequencies) and {:.4f} (bigram, pairs of letters) on the {} split",
                       e.unigram, e.bigram, part);
  };
  std::string out = fmt::format("n-gram baselines: {:.4f} (chance), ", lines->validation.chance) +
                    one(lines->validation, "validation");
  if (lines->test) out += ", " + one(*lines->test, "test");
  return "<p class=\"note\">" +
         escape(out + " nat. !: not below the unigram baseline, so the run learnt nothing beyond letter frequencies.") +
         "</p>\n";
}

}  // namespace nudge::report
