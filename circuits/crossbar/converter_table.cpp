// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/converter_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "devices/fit/long_table.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

// Tables are printed in hundredths of an LSB: the widths of missing codes are then −0.01 to 0.01 LSB.
constexpr double kPrinted_LSB = 0.02;

// Two edges this near are one: k − ½ + INL is rounded.
constexpr double kSame_LSB = 1e-9;

enum TableColumn : std::size_t { code_at, inl_at, dnl_at };

double no_number() { return std::numeric_limits<double>::quiet_NaN(); }

/// Numbers of a file by code, counted from zero.
struct CodeNumbers {
  std::string file;
  int bits;
  std::string key;
  int lowest;                   ///< −2^(bits−1)
  std::vector<double> numbers;  ///< from the lowest code on; NaN: none
  std::vector<int> lines;       ///< line of each

  [[noreturn]] void fail(int line, const std::string& what) const {
    csv_fail(line > 0 ? fmt::format("{}:{}", file, line) : file, what);
  }
  std::size_t place(int code) const { return static_cast<std::size_t>(code - lowest); }

  void take(const LongTable& table, std::size_t column) {
    const std::vector<double>& codes = table.columns[code_at];
    const bool signed_codes = std::any_of(codes.begin(), codes.end(), [](double code) { return code < 0; });
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const int line = table.lines[i];
      const double code = signed_codes ? codes[i] : codes[i] + lowest;
      if (code != std::floor(code)) fail(line, fmt::format("code {:g} (must be a whole number)", codes[i]));
      if (code < lowest || code >= -lowest) {
        fail(line, fmt::format("code {:g}: a converter of {} bits ({}_bits) has the codes 0 to {}, or {} to {}",
                               codes[i], bits, key, -2 * lowest - 1, lowest, -lowest - 1));
      }
      const std::size_t at = place(static_cast<int>(code));
      if (lines[at] > 0) fail(line, fmt::format("code {:g} stands in line {} already", codes[i], lines[at]));
      lines[at] = line;
      numbers[at] = table.columns[column][i];
      if (std::abs(numbers[at]) > -lowest) {
        fail(line, fmt::format("{:g} LSB: more than half of the range (write INL and DNL in LSB)", numbers[at]));
      }
    }
  }

  /// Refuses a table in which a code from `first` to `last` has no number.
  void check_complete(int first, int last) const {
    int missing = 0, one = 0;
    for (int code = last; code >= first; --code) {
      if (lines[place(code)] > 0) continue;
      ++missing;
      one = code;
    }
    if (missing == 0) return;
    fail(0, fmt::format("{} of {} codes have no number, the first of them {} ({} from zero): a converter of {} bits "
                        "({}_bits) needs every code from {} to {}",
                        missing, last - first + 1, one - lowest, one, bits, key, first - lowest, last - lowest));
  }
};

/// INL of the codes −n … n from those of the file, or from its DNL: that of the first code is then 0.
std::vector<double> inl_of(const CodeNumbers& found, Conversion conversion, bool differential) {
  const int top = -found.lowest - 1;
  const bool edges = conversion == Conversion::from_analog;
  const int first = edges ? -top + 1 : -top;
  std::vector<double> inl(static_cast<std::size_t>(2 * top + 1), 0.0);
  const auto of = [&](int code) -> double& { return inl[static_cast<std::size_t>(code + top)]; };
  if (!differential) {
    found.check_complete(first, top);
    for (int code = first; code <= top; ++code) of(code) = found.numbers[found.place(code)];
    return inl;
  }
  // The width of code k lies above its edge e_k; the step to level l_k below it.
  found.check_complete(edges ? first : first + 1, edges ? top - 1 : top);
  for (int code = first + 1; code <= top; ++code) {
    of(code) = of(code - 1) + found.numbers[found.place(edges ? code - 1 : code)];
  }
  return inl;
}

}  // namespace

ConverterTable::ConverterTable(Conversion conversion, int bits, std::vector<double> inl_LSB)
    : conversion_(conversion), bits_(bits), top_((1 << (bits - 1)) - 1), places_(std::move(inl_LSB)) {
  NUDGE_EXPECT(bits > 1 && places_.size() == static_cast<std::size_t>(2 * top_ + 1));
  const double half = conversion == Conversion::from_analog ? 0.5 : 0;
  for (int k = -top_; k <= top_; ++k) places_[static_cast<std::size_t>(k + top_)] += k - half;
  if (conversion == Conversion::to_analog) return;
  places_.front() = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 1; k < places_.size(); ++k) {
    NUDGE_EXPECT(places_[k] >= places_[k - 1] - kSame_LSB);
    if (places_[k] < places_[k - 1] + kSame_LSB) places_[k] = places_[k - 1];
  }
}

int ConverterTable::code(double u) const {
  const auto passed = [&](int k) { return at(k) < u || (at(k) == u && u >= 0); };
  // Edges are near their ideal places, so that few steps are taken.
  int k = static_cast<int>(std::lround(std::clamp(u, -static_cast<double>(top_), static_cast<double>(top_))));
  while (k < top_ && passed(k + 1)) ++k;
  while (k > -top_ && !passed(k)) --k;
  return k;
}

double ConverterTable::mean(double u, double& slope) const {
  if (conversion_ == Conversion::to_analog) {
    const int k = std::clamp(static_cast<int>(std::floor(u)), -top_, top_ - 1);
    slope = at(k + 1) - at(k);
    return at(k) + (u - k) * slope;
  }
  // Between edges k and k + 1 from code k − ½ to k + ½; outside the first and the last with slope 1, to the end of the codes.
  const int k = code(u);
  const bool below = k == -top_, above = k == top_;
  slope = below || above ? 1 : 1 / (at(k + 1) - at(k));
  const double place = below ? -top_ + 0.5 + (u - at(k + 1)) : k - 0.5 + (u - at(k)) * slope;
  if (std::abs(place) > top_) slope = 0;
  return std::clamp(place, -static_cast<double>(top_), static_cast<double>(top_));
}

ConverterErrors ConverterTable::errors() const {
  ConverterErrors all;
  const bool edges = conversion_ == Conversion::from_analog;
  const int first = edges ? -top_ + 1 : -top_;
  for (int k = first; k <= top_; ++k) {
    const double inl = at(k) - (k - (edges ? 0.5 : 0.0));
    all.inl_low = k == first ? inl : std::min(all.inl_low, inl);
    all.inl_high = k == first ? inl : std::max(all.inl_high, inl);
    if (k == first) continue;
    const double dnl = at(k) - at(k - 1) - 1;
    all.dnl_low = k == first + 1 ? dnl : std::min(all.dnl_low, dnl);
    all.dnl_high = k == first + 1 ? dnl : std::max(all.dnl_high, dnl);
    if (edges && at(k) == at(k - 1)) ++all.missing;
    if (!edges && at(k) < at(k - 1)) ++all.backward;
  }
  return all;
}

std::shared_ptr<const ConverterTable> parse_converter_table(std::string_view text, const std::string& file,
                                                            Conversion conversion, int bits, const std::string& key) {
  if (bits < 2) {
    throw UserError(
        fmt::format("{0}_inl = \"{1}\" with {0}_bits = {2}: a table has the edges of 2 bits or more. A comparator has "
                    "one edge: set the "
                    "offset of its amplifier",
                    key, file, bits));
  }
  TableLook look;
  const LongTable table =
      parse_long_table(text, file, {{"code", Unit::none, true}, {"inl", Unit::none, false}, {"dnl", Unit::none, false}},
                       {"code", "inl"}, look);
  const bool differential = table.columns[inl_at].empty();
  if (differential && table.columns[dnl_at].empty()) csv_fail(file, "no column INL or DNL beside code, in LSB");
  const int lowest = -(1 << (bits - 1));
  const auto codes = static_cast<std::size_t>(-2 * lowest);
  CodeNumbers found{file, bits, key, lowest, std::vector<double>(codes, no_number()), std::vector<int>(codes, 0)};
  found.take(table, differential ? dnl_at : inl_at);
  std::vector<double> inl = inl_of(found, conversion, differential);
  const int top = -lowest - 1;
  for (int code = -top + 2; code <= top && conversion == Conversion::from_analog; ++code) {
    double& here = inl[static_cast<std::size_t>(code + top)];
    const double width = 1 + here - inl[static_cast<std::size_t>(code + top - 1)];
    if (width < -kPrinted_LSB) {
      found.fail(found.lines[found.place(code)],
                 fmt::format("the edge below this code lies {:.3g} LSB below the one before it (DNL {:.3g}): edges do "
                             "not cross, a missing code has the DNL -1",
                             -width, width - 1));
    }
    here -= std::min(width, 0.0);
  }
  return std::make_shared<const ConverterTable>(conversion, bits, std::move(inl));
}

std::shared_ptr<const ConverterTable> read_converter_table(const std::string& path, Conversion conversion, int bits,
                                                           const std::string& key) {
  return parse_converter_table(read_table_text(path), path, conversion, bits, key);
}

}  // namespace nudge
