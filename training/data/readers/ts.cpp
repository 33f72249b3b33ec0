// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <charconv>
#include <optional>
#include <span>

#include "sim/base/errors.hpp"
#include "sim/base/interrupts.hpp"
#include "training/data/raw_array.hpp"
#include "training/data/readers/readers.hpp"

namespace nudge {
namespace {

/// A text without the blanks around it.
std::string_view stripped(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// Parts of a text between a sign, without the blanks around them.
std::vector<std::string_view> split_at(std::string_view text, char sign) {
  std::vector<std::string_view> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(sign, begin), text.size());
    out.push_back(stripped(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return out;
}

/// Reader of a .ts file: what its header declares, then a case a line.
class SeriesFile {
 public:
  SeriesFile(std::string_view text, const std::string& name, Target target) : text_(text), name_(name) {
    read_header();
    const bool class_file = !classes_.empty();
    if (class_file != (target == Target::label)) {
      throw UserError(fmt::format("{}: declares {} (task.kind = {} needs {})", name_,
                                  class_file ? "classes" : "real targets", class_file ? "regression" : "classification",
                                  class_file ? "values" : "classes"));
    }
  }

  LabelledData read() {
    LabelledData out;
    std::vector<double> numbers, targets;
    while (const auto line = next()) {
      stop_point();
      auto parts = split_at(*line, ':');
      const std::string_view last = parts.back();
      parts.pop_back();
      add_case(parts, numbers);
      if (classes_.empty()) {
        targets.push_back(number(last, "the target"));
      } else {
        out.labels.push_back(class_number(last));
      }
    }
    if (length_ == 0) throw UserError(fmt::format("{}: has no case below @data", name_));
    const auto cases = static_cast<Index>(numbers.size() / (dimensions_ * length_));
    out.features = Eigen::Map<const Matrix<double>>(numbers.data(), cases, static_cast<Index>(dimensions_ * length_));
    if (classes_.empty()) out.values = Eigen::Map<const Matrix<double>>(targets.data(), cases, 1);
    out.shape = {static_cast<Index>(length_)};
    if (dimensions_ > 1) out.shape.push_back(static_cast<Index>(dimensions_));
    return out;
  }

 private:
  /// Next line with content; nothing at the end.
  std::optional<std::string_view> next() {
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      const std::string_view line = stripped(text_.substr(0, end));
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++line_;
      if (!line.empty() && line.front() != '#') return line;
    }
    return std::nullopt;
  }

  std::string place() const { return fmt::format("{}, line {}", name_, line_); }

  void read_header() {
    while (const auto line = next()) {
      const auto words = split_at(*line, ' ');
      const std::string key = boost::to_lower_copy(std::string(words.front()));
      if (key == "@data") return;
      const bool yes = words.size() > 1 && boost::iequals(words[1], "true");
      if (key == "@timestamps" && yes) {
        throw UserError(
            fmt::format("{}: @timeStamps true (the values of a case must be one list). Save the values "
                        "without their times",
                        place()));
      }
      if (key == "@classlabel" && yes) {
        for (const std::string_view one : std::span(words).subspan(2)) {
          if (!one.empty()) classes_.emplace_back(one);
        }
        if (classes_.empty()) throw UserError(fmt::format("{}: @classLabel true names no class", place()));
      }
    }
    throw UserError(fmt::format("{}: has no line @data", name_));
  }

  /// Adds the values of a case, all dimensions of one time after those of the other: data.frames may show them so.
  void add_case(std::span<const std::string_view> dimensions, std::vector<double>& numbers) {
    if (dimensions.empty()) {
      throw UserError(fmt::format("{}: has one part (must be its values, a colon, then its {})", place(),
                                  classes_.empty() ? "target" : "class"));
    }
    if (length_ == 0) {
      dimensions_ = dimensions.size();
      length_ = split_at(dimensions.front(), ',').size();
    }
    if (dimensions.size() != dimensions_) {
      throw UserError(fmt::format("{}: {} dimensions (must be {}, as the first case has)", place(), dimensions.size(),
                                  dimensions_));
    }
    const std::size_t begin = numbers.size();
    numbers.resize(begin + dimensions_ * length_);
    for (std::size_t d = 0; d < dimensions_; ++d) {
      const auto values = split_at(dimensions[d], ',');
      if (values.size() != length_) {
        throw UserError(
            fmt::format("{}: {} values (must be {}, as the first case has). Series of one length are read: the archive "
                        "has some sets a second time as NAME_eq_TRAIN.ts, with equal lengths",
                        place(), values.size(), length_));
      }
      for (std::size_t t = 0; t < length_; ++t) numbers[begin + t * dimensions_ + d] = number(values[t], "a value");
    }
  }

  double number(std::string_view text, const std::string& what) const {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
      throw UserError(fmt::format("{}: {} is \"{}\" (must be a number{})", place(), what, text,
                                  text == "?" ? "; missing values are not filled in" : ""));
    }
    return finite_number(value, place() + ": " + what);
  }

  int class_number(std::string_view text) const {
    const auto found = std::find(classes_.begin(), classes_.end(), text);
    if (found == classes_.end()) {
      throw UserError(fmt::format("{}: class \"{}\" (@classLabel names {})", place(), text, fmt::join(classes_, ", ")));
    }
    return static_cast<int>(found - classes_.begin());
  }

  std::string_view text_;
  std::string name_;
  std::size_t line_ = 0, dimensions_ = 0, length_ = 0;
  std::vector<std::string> classes_;
};

}  // namespace

bool is_ts(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = stripped(text.substr(0, end));
    if (!line.empty() && line.front() != '#') return line.front() == '@';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

LabelledData parse_ts(std::string_view text, const std::string& name, const DataSource& source, Target target) {
  for (const auto& [key, given] :
       {std::pair(source.labels_key, source.labels), {source.features_key, source.features}}) {
    if (!given.empty()) {
      throw UserError(fmt::format("{} = \"{}\": {} has its targets behind the values of each case. Leave {} empty", key,
                                  given, name, key));
    }
  }
  return SeriesFile(text, name, target).read();
}

}  // namespace nudge
