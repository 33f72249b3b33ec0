// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <memory>

#include "sim/base/errors.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/text.hpp"
#include "sim/config/suggest.hpp"
#include "training/data/readers/readers.hpp"

// R's serialization: R Internals, section 1.8 "Serialization Formats"; numbers of the types: section 1.1.
namespace nudge {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

struct RObject;
using RPointer = std::shared_ptr<RObject>;

/// A value of R: numbers, texts, or a list, with its attributes.
struct RObject {
  enum class Kind { none, numbers, texts, list, other } kind = Kind::none;
  std::vector<double> numbers = {};     ///< of integers, logicals and reals; NA: NaN
  std::vector<std::string> texts = {};  ///< of strings; a symbol has one
  std::vector<RPointer> items = {};     ///< of a list
  std::vector<std::string> names = {};  ///< tags of the items of a pairlist
  std::vector<std::pair<std::string, RPointer>> attributes = {};

  const RObject* attribute(std::string_view wanted) const {
    for (const auto& [name, value] : attributes) {
      if (name == wanted) return value.get();
    }
    return nullptr;
  }
  bool is(std::string_view class_name) const {
    const RObject* classes = attribute("class");
    return classes != nullptr && std::count(classes->texts.begin(), classes->texts.end(), class_name) > 0;
  }
};

/// Reads serialized values one after the other.
class RReader {
 public:
  RReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {
    at_ = bytes_.starts_with("RDX2\n") || bytes_.starts_with("RDX3\n")
              ? 5
              : 0;  // the line of an .rda before what an .rds has
    if (bytes_.substr(at_, 2) != "X\n") refuse("is not in R's binary format (save it by save(x, file = \"x.rda\"))");
    at_ += 2;
    const std::int32_t version = integer();
    if (version != 2 && version != 3) refuse(fmt::format("has version {} of R's format (must be 2 or 3)", version));
    at_ += 8;  // versions of R: of the writer, and the least that reads it
    if (version == 3) at_ += static_cast<std::size_t>(std::max<std::int32_t>(0, integer()));  // native encoding
  }

  RPointer value() {
    if (++depth_ > kDeepest) refuse("is nested too deeply");
    RPointer out = read();
    --depth_;
    return out;
  }

 private:
  static constexpr int kDeepest = 200;

  [[noreturn]] void refuse(const std::string& why) const {
    throw UserError(fmt::format("{}: {}, at byte {} of what is unpacked", name_, why, at_));
  }

  template <class T>
  T big_endian() {
    if (bytes_.size() < sizeof(T) || at_ > bytes_.size() - sizeof(T)) refuse("is truncated");
    T out = 0;
    for (std::size_t b = 0; b < sizeof(T); ++b) {
      out = static_cast<T>(out << 8U) | static_cast<unsigned char>(bytes_[at_ + b]);
    }
    at_ += sizeof(T);
    return out;
  }
  std::int32_t integer() { return static_cast<std::int32_t>(big_endian<std::uint32_t>()); }

  /// Number of elements, of `size` bytes each, that follow.
  std::size_t length(std::size_t size) {
    const std::int32_t n = integer();
    if (n < 0) refuse("has a vector of more than 2^31 elements");
    if (static_cast<std::size_t>(n) > (bytes_.size() - at_) / size) refuse("is truncated");
    return static_cast<std::size_t>(n);
  }

  RPointer read() {
    const std::uint32_t flags = big_endian<std::uint32_t>();
    const unsigned type = flags & 0xFFU;
    switch (type) {
      case 254:
      case 253:
      case 251:
      case 242:
      case 241:  // NULL, environments that every R has, no value
        return std::make_shared<RObject>();
      case 255: return referred(flags >> 8U);
      case 1: return symbol();
      case 2: return pairlist(flags);
      case 238: return compact();
      default: break;
    }
    auto out = std::make_shared<RObject>();
    switch (type) {
      case 9: return characters();
      case 10:
      case 13: integers(*out); break;
      case 14: reals(*out); break;
      case 16: strings(*out); break;
      case 19:
      case 20: items(*out); break;
      default:
        refuse(fmt::format("holds an R value of type {} (data frames of numbers, factors and strings are read)", type));
    }
    if ((flags & 0x200U) != 0) out->attributes = tagged(*value());
    return out;
  }

  RPointer referred(std::size_t index) {
    if (index == 0) index = big_endian<std::uint32_t>();
    if (index == 0 || index > symbols_.size()) refuse("refers to a symbol that is missing");
    return symbols_[index - 1];
  }
  RPointer symbol() {
    RPointer name = value();
    name->kind = RObject::Kind::other;
    symbols_.push_back(name);
    return name;
  }
  RPointer characters() {
    auto out = std::make_shared<RObject>();
    const std::int32_t n = integer();
    if (n > 0 && static_cast<std::size_t>(n) > bytes_.size() - at_) refuse("is truncated");
    out->texts.emplace_back(n > 0 ? bytes_.substr(at_, static_cast<std::size_t>(n)) : std::string_view());
    at_ += n > 0 ? static_cast<std::size_t>(n) : 0;
    return out;
  }
  void integers(RObject& out) {
    out.kind = RObject::Kind::numbers;
    const std::size_t n = length(4);
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t one = integer();
      out.numbers.push_back(one == std::numeric_limits<std::int32_t>::min() ? kMissing : one);
    }
  }
  void reals(RObject& out) {
    out.kind = RObject::Kind::numbers;
    const std::size_t n = length(8);
    for (std::size_t i = 0; i < n; ++i) out.numbers.push_back(std::bit_cast<double>(big_endian<std::uint64_t>()));
  }
  void strings(RObject& out) {
    out.kind = RObject::Kind::texts;
    const std::size_t n = length(8);
    for (std::size_t i = 0; i < n; ++i) {
      const RPointer one = value();
      if (one->texts.empty()) refuse("has a string that is none");
      out.texts.push_back(one->texts.front());
    }
  }
  void items(RObject& out) {
    out.kind = RObject::Kind::list;
    const std::size_t n = length(4);
    for (std::size_t i = 0; i < n; ++i) {
      stop_point();
      out.items.push_back(value());
    }
  }
  /// A pairlist is a chain of (attributes, tag, value, rest); it is read without recursion along the chain.
  RPointer pairlist(std::uint32_t flags) {
    auto out = std::make_shared<RObject>();
    out->kind = RObject::Kind::list;
    while (true) {
      if ((flags & 0x200U) != 0) value();
      const RPointer tag = (flags & 0x400U) != 0 ? value() : nullptr;
      out->names.push_back(tag == nullptr || tag->texts.empty() ? std::string() : tag->texts.front());
      out->items.push_back(value());
      flags = big_endian<std::uint32_t>();
      if ((flags & 0xFFU) == 254) return out;
      if ((flags & 0xFFU) != 2) refuse("has a list whose end is none");
    }
  }
  /// Compact forms of version 3 (ALTREP): wrappers around a value, and sequences 1, 2, 3, …, which are left aside.
  RPointer compact() {
    const RPointer info = value(), state = value(), attributes = value();
    const std::string kind = info->items.empty() || info->items[0]->texts.empty() ? "" : info->items[0]->texts[0];
    RPointer out;
    if (kind.starts_with("wrap_") && !state->items.empty()) {
      out = state->items[0];
    } else if (kind == "compact_intseq" || kind == "compact_realseq") {
      out = std::make_shared<RObject>();  // names of rows, or a count of them: no column of data
    } else {
      refuse(fmt::format("holds the compact R value \"{}\"", kind));
    }
    if (attributes->kind == RObject::Kind::list) out->attributes = tagged(*attributes);
    return out;
  }

  static std::vector<std::pair<std::string, RPointer>> tagged(const RObject& list) {
    std::vector<std::pair<std::string, RPointer>> out;
    for (std::size_t i = 0; i < list.names.size(); ++i) out.emplace_back(list.names[i], list.items[i]);
    return out;
  }

  std::string_view bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<RPointer> symbols_;
};

/// A column of a data frame as numbers: numbers as they are, a factor as its levels where all are numbers.
class Column {
 public:
  Column(const RObject& column, std::string where) : column_(column), where_(std::move(where)) {
    if (column.kind != RObject::Kind::numbers) {
      throw UserError(fmt::format("{} holds neither numbers nor a factor (leave it out of the data frame)", where_));
    }
    if (!column.is("factor")) return;
    const RObject* levels = column.attribute("levels");
    if (levels == nullptr) throw UserError(fmt::format("{} is a factor without levels", where_));
    levels_ = levels->texts;
  }

  std::size_t size() const { return column_.numbers.size(); }

  double feature(std::size_t i) const {
    const double number = column_.numbers[i];
    if (levels_.empty()) return finite_number(number, place(i));
    const std::string& level = levels_[level_of(i)];
    double value = 0;
    const auto [end, error] = std::from_chars(level.data(), level.data() + level.size(), value);
    if (error == std::errc() && end == level.data() + level.size()) return finite_number(value, place(i));
    throw UserError(
        fmt::format("{} is the level \"{}\" of a factor (must be a number: make columns of 0 and 1 of it, or "
                    "name it in data.labels)",
                    place(i), level));
  }

  /// The class of a label: the number of its level from 0 on, or the number itself.
  int label(std::size_t i) const {
    return levels_.empty() ? class_of(column_.numbers[i], place(i)) : static_cast<int>(level_of(i));
  }

 private:
  std::string place(std::size_t i) const { return fmt::format("{}, row {}", where_, i + 1); }

  std::size_t level_of(std::size_t i) const {
    const double code = column_.numbers[i];
    if (code >= 1 && code <= static_cast<double>(std::min<std::size_t>(levels_.size(), kMostClasses))) {
      return static_cast<std::size_t>(code) - 1;
    }
    throw UserError(fmt::format("{} is missing (NA)", place(i)));
  }

  const RObject& column_;
  std::string where_;
  std::vector<std::string> levels_;
};

/// The data frame that `wanted` names; the only one where it is empty.
const RObject& data_frame(const RObject& top, const DataSource& source, const std::string& name) {
  if (top.is("data.frame")) return top;
  std::vector<std::string> frames;
  const RObject* found = nullptr;
  for (std::size_t i = 0; i < top.names.size(); ++i) {
    if (!top.items[i]->is("data.frame")) continue;
    frames.push_back(top.names[i]);
    if (source.features.empty() || source.features == top.names[i]) found = top.items[i].get();
  }
  if (frames.empty()) throw UserError(fmt::format("{}: holds no data frame", name));
  if (found == nullptr || (frames.size() > 1 && source.features.empty())) {
    throw UserError(fmt::format("{}: name the data frame in {} ({})", name, source.features_key,
                                did_you_mean(source.features, frames)));
  }
  return *found;
}

/// Numbers of the columns that hold the targets.
std::vector<std::size_t> targets_of(const std::vector<std::string>& columns, const DataSource& source, Target target,
                                    const std::string& name) {
  std::vector<std::string> wanted = {source.labels};
  if (target == Target::value) {
    std::string_view list = source.labels;
    wanted = read_csv_record(list);
  }
  std::vector<std::size_t> out;
  for (const std::string& one : wanted) {
    const auto found = std::find(columns.begin(), columns.end(), one);
    if (found == columns.end()) {
      throw UserError(
          fmt::format("{}: has no column {} = \"{}\" ({})", name, source.labels_key, one, did_you_mean(one, columns)));
    }
    out.push_back(static_cast<std::size_t>(found - columns.begin()));
  }
  return out;
}

}  // namespace

bool is_rdata(std::string_view bytes) {
  return bytes.starts_with("RDX2\n") || bytes.starts_with("RDX3\n") || bytes.starts_with("X\n");
}

LabelledData parse_rdata(std::string_view bytes, const std::string& name, const DataSource& source, Target target) {
  const RPointer top = RReader(bytes, name).value();
  const RObject& frame = data_frame(*top, source, name);
  const RObject* names = frame.attribute("names");
  if (names == nullptr || names->texts.size() != frame.items.size() || frame.items.empty()) {
    throw UserError(fmt::format("{}: its data frame has no named columns", name));
  }
  const std::vector<std::size_t> targets = targets_of(names->texts, source, target, name);
  std::vector<Column> columns, wanted;
  for (std::size_t c = 0; c < frame.items.size(); ++c) {
    const bool is_target = std::find(targets.begin(), targets.end(), c) != targets.end();
    if (!is_target) columns.emplace_back(*frame.items[c], fmt::format("{}: column \"{}\"", name, names->texts[c]));
  }
  for (const std::size_t c : targets) {
    wanted.emplace_back(*frame.items[c], fmt::format("{}: column \"{}\"", name, names->texts[c]));
  }
  const std::size_t n = wanted.front().size();
  const auto same = [&](const Column& one) { return one.size() == n; };
  if (columns.empty() || n == 0 || !std::all_of(columns.begin(), columns.end(), same) ||
      !std::all_of(wanted.begin(), wanted.end(), same)) {
    throw UserError(fmt::format("{}: needs rows, a label and at least one feature, all columns as long", name));
  }
  LabelledData data;
  data.shape = {static_cast<Index>(columns.size())};
  data.features.resize(static_cast<Index>(n), data.shape.front());
  if (target == Target::value) data.values.resize(static_cast<Index>(n), static_cast<Index>(wanted.size()));
  for (std::size_t i = 0; i < n; ++i) {
    stop_point();
    const auto row = static_cast<Index>(i);
    for (std::size_t c = 0; c < columns.size(); ++c) data.features(row, static_cast<Index>(c)) = columns[c].feature(i);
    if (target == Target::label) data.labels.push_back(wanted.front().label(i));
    for (std::size_t c = 0; target == Target::value && c < wanted.size(); ++c) {
      data.values(row, static_cast<Index>(c)) = wanted[c].feature(i);
    }
  }
  return data;
}

}  // namespace nudge
