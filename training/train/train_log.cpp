// SPDX-License-Identifier: Apache-2.0
#include "training/train/train_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Groups that hold columns, beside those that stand by themselves.
constexpr const char* kGroups[] = {"train", "weights", "device"};
constexpr const char* kSteps = "train/step";
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Text on an entry of a column of this width.
std::string numbers(Index width) { return width == 0 ? "single numbers" : fmt::format("rows of {}", width); }

/// Finds the axis of a column of an older file, which does not tell it.
std::string axis_of(const H5Reader& file, const std::string& prefix, const std::string& name) {
  const std::string stem = name.substr(0, name.find('_'));
  for (const std::string& axis : {name + "_step", stem + "_step"}) {
    if (name.starts_with("train/") && file.has(prefix + axis)) return axis;
  }
  return name.starts_with("train/") || !file.has(prefix + "train/validation_step") ? kSteps : "train/validation_step";
}

}  // namespace

TrainLog::TrainLog(std::size_t limit) : limit_(limit) { NUDGE_EXPECT(limit >= 2); }

std::size_t TrainLog::Table::rows() const {
  if (entries == 0) return 0;
  return static_cast<std::size_t>((entries - 1) / every + 1) + (last_may_stay() ? 0 : 1);
}

TrainLog::Column& TrainLog::column(const std::string& name, const std::string& unit, const std::string& description,
                                   Index width) {
  const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == name; });
  if (found != columns_.end()) {
    if (found->width != width) {
      throw UserError(fmt::format("the log has a column {} of {} and cannot add {}: was the file edited?", name,
                                  numbers(found->width), numbers(width)));
    }
    if (found->axis == axis_) return *found;
    throw UserError(fmt::format("the log draws its column {} over {} and cannot over {}: was the file edited?", name,
                                found->axis, axis_));
  }
  for (const Column& c : columns_) {
    if (c.name.starts_with(name + "/") || name.starts_with(c.name + "/")) {
      throw UserError(fmt::format("the log has a column {} and cannot have {}: was the file edited?", c.name, name));
    }
  }
  columns_.push_back({name, unit, description, "", axis_, width, {}});
  return columns_.back();
}

void TrainLog::add(const std::string& name, double value, const std::string& unit, const std::string& description) {
  put(column(name, unit, description, 0), &value, 1);
}

void TrainLog::add_row(const std::string& name, const std::vector<double>& row, const std::string& unit,
                       const std::string& description, const std::string& columns_label) {
  Column& c = column(name, unit, description, static_cast<Index>(row.size()));
  c.columns_label = columns_label;
  put(c, row.data(), row.size());
}

void TrainLog::put(Column& column, const double* row, std::size_t width) {
  if (column.name == axis_) begin_row();
  const std::size_t rows = tables_[axis_].rows();
  NUDGE_EXPECT(rows > 0);
  column.values.resize(rows * width, kNone);
  std::copy(row, row + width, column.values.end() - static_cast<std::ptrdiff_t>(width));
}

/// Begins a row of the table over the present axis.
void TrainLog::begin_row() {
  Table& table = tables_[axis_];
  set_rows(axis_, table.rows());
  if (!table.last_may_stay()) set_rows(axis_, table.rows() - 1);
  if (table.rows() - (table.last_may_stay() ? 0 : 1) >= limit_) {
    thin(axis_);
    if (!table.last_may_stay()) set_rows(axis_, table.rows() - 1);
  }
  ++table.entries;
}

/// Sets the number of rows of a table; new rows are NaN.
void TrainLog::set_rows(const std::string& axis, std::size_t rows) {
  for (Column& c : columns_) {
    if (c.axis == axis) c.values.resize(rows * std::max<std::size_t>(1, static_cast<std::size_t>(c.width)), kNone);
  }
}

/// Removes every second row; the last entry stays.
void TrainLog::thin(const std::string& axis) {
  Table& table = tables_[axis];
  const std::size_t rows = table.rows();
  for (Column& c : columns_) {
    if (c.axis != axis) continue;
    const auto width = std::max<std::size_t>(1, static_cast<std::size_t>(c.width));
    auto to = c.values.begin();
    for (std::size_t row = 0; row < rows; ++row) {
      if (row % 2 != 0 && row + 1 != rows) continue;
      const auto from = c.values.begin() + static_cast<std::ptrdiff_t>(row * width);
      to = std::copy(from, from + static_cast<std::ptrdiff_t>(width), to);
    }
    c.values.erase(to, c.values.end());
  }
  table.every *= 2;
}

double TrainLog::last(const std::string& name) const {
  const auto& all = values(name);
  return all.empty() ? std::numeric_limits<double>::quiet_NaN() : all.back();
}

std::vector<const std::vector<double>*> TrainLog::all_named(const std::string& prefix,
                                                            const std::string& suffix) const {
  std::vector<const std::vector<double>*> found;
  for (const Column& c : columns_) {
    const bool named =
        c.name.starts_with(prefix + "/") && (c.name.ends_with("/" + suffix) || c.name.ends_with("_" + suffix));
    if (named && !c.values.empty()) found.push_back(&c.values);
  }
  return found;
}

std::vector<double> TrainLog::all_last(const std::string& prefix, const std::string& suffix) const {
  std::vector<double> found;
  for (const auto* values : all_named(prefix, suffix)) found.push_back(values->back());
  return found;
}

double TrainLog::sum_growth(const std::string& prefix, const std::string& suffix) const {
  double sum = 0;
  for (const auto* values : all_named(prefix, suffix)) {
    const auto first = std::find_if(values->begin(), values->end(), [](double v) { return !std::isnan(v); });
    if (first != values->end()) sum += values->back() - *first;
  }
  return sum;
}

double TrainLog::sum_last(const std::string& prefix, const std::string& suffix) const {
  double sum = 0;
  for (const double value : all_last(prefix, suffix)) sum += value;
  return sum;
}

double TrainLog::largest_last(const std::string& prefix, const std::string& suffix) const {
  double largest = 0;
  for (const double value : all_last(prefix, suffix)) largest = std::max(largest, value);
  return largest;
}

const std::vector<double>& TrainLog::values(const std::string& name) const {
  static const std::vector<double> none;
  const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == name; });
  return found != columns_.end() ? found->values : none;
}

std::vector<std::string> TrainLog::names() const {
  std::vector<std::string> all;
  for (const Column& c : columns_) {
    if (c.width == 0) all.push_back(c.name);
  }
  return all;
}

void TrainLog::event(std::uint64_t step, const std::string& text) {
  shorten_events(limit_ - 1);
  event_steps_.push_back(static_cast<double>(step));
  events_.push_back(text);
}

void TrainLog::shorten_events(std::size_t most) {
  if (events_.size() <= most) return;
  const auto from = static_cast<std::ptrdiff_t>(limit_ / 2);
  const auto to = from + static_cast<std::ptrdiff_t>(events_.size() - most);
  event_steps_.erase(event_steps_.begin() + from, event_steps_.begin() + to);
  events_.erase(events_.begin() + from, events_.begin() + to);
  events_left_out_ += to - from;
}

void TrainLog::write(H5Document& document, const std::string& prefix) const {
  for (const Column& c : columns_) {
    const Table& table = tables_.at(c.axis);
    const auto n = static_cast<Index>(table.rows());
    std::vector<double> values = c.values;
    values.resize(static_cast<std::size_t>(n * std::max<Index>(1, c.width)), kNone);
    if (c.width == 0) {
      document.dataset(prefix + c.name, std::move(values), {n}, {c.unit, c.description, {"entry"}});
    } else {
      document.dataset(prefix + c.name, std::move(values), {n, c.width},
                       {c.unit, c.description, {"entry", c.columns_label}});
    }
    document.attribute("role", std::string(c.name == c.axis ? "axis" : "series"), prefix + c.name);
    document.attribute("x", prefix + c.axis, prefix + c.name);
    if (c.name != c.axis) continue;
    document.attribute("entries", static_cast<std::int64_t>(table.entries), prefix + c.name);
    document.attribute("every", static_cast<std::int64_t>(table.every), prefix + c.name);
  }
  document.column(prefix + "events/step", event_steps_, {"1", "training step of the event", {"event"}});
  document.column(prefix + "events/text", events_, {"1", "what happened", {"event"}});
  document.attribute("left_out", events_left_out_, prefix + "events");
}

Measured TrainLog::measured(const std::string& name) const {
  for (const Column& c : columns_) {
    if (c.name != name) continue;
    return {{name, c.unit, c.description}, c.values.empty() ? std::nullopt : std::optional(c.values.back())};
  }
  return {{name, "1", ""}, std::nullopt};
}

void TrainLog::restore(const H5Reader& file, const std::string& prefix) {
  columns_.clear();
  tables_.clear();
  for (const char* group : kGroups) {
    if (!file.has(prefix + group)) continue;
    for (const std::string& path : file.all_datasets(prefix + group)) restore_column(file, prefix, path);
  }
  for (const std::string& path : file.all_datasets(prefix.empty() ? "/" : prefix.substr(0, prefix.size() - 1))) {
    const bool direct = path.find('/', prefix.size()) == std::string::npos;
    if (direct && file.has_attribute("x", path)) restore_column(file, prefix, path);
  }
  for (const Column& c : columns_) {
    if (!tables_.contains(c.axis)) restore_table(file, prefix, c.axis);
  }
  event_steps_ = file.reals<double>(prefix + "events/step", H5Shape{-1});
  events_ = file.texts(prefix + "events/text", H5Shape{static_cast<Index>(event_steps_.size())});
  const std::string events = prefix + "events";
  events_left_out_ = file.has_attribute("left_out", events) ? file.integer_attribute("left_out", events) : 0;
  shorten_events(limit_);
}

void TrainLog::restore_table(const H5Reader& file, const std::string& prefix, const std::string& axis) {
  const std::string path = prefix + axis;
  const std::size_t found = values(axis).size();
  Table table{found, 1};  // older versions kept all
  if (file.has_attribute("every", path)) {
    const std::int64_t entries = file.integer_attribute("entries", path), every = file.integer_attribute("every", path);
    if (entries < 1 || every < 1) file.fail(path, fmt::format("{} entries, every {} of them", entries, every));
    table = {static_cast<std::uint64_t>(entries), static_cast<std::uint64_t>(every)};
    if (table.rows() != found) {
      file.fail(path, fmt::format("{} rows, of {} entries every {}", found, entries, every));
    }
  }
  for (Column& c : columns_) {
    if (c.axis != axis) continue;
    const std::size_t width = std::max<std::size_t>(1, static_cast<std::size_t>(c.width));
    const std::size_t rows = c.values.size() / width;
    if (rows > found) file.fail(prefix + c.name, fmt::format("{} rows, of {} steps", rows, found));
    c.values.insert(c.values.begin(), (found - rows) * width, kNone);  // of what began later
  }
  tables_[axis] = table;
  while (tables_[axis].rows() > limit_) thin(axis);
}

void TrainLog::restore_column(const H5Reader& file, const std::string& prefix, const std::string& path) {
  if (file.type(path) == H5Type::text) return;
  const H5Shape shape = file.shape(path);
  const H5Meaning meaning = file.meaning(path);
  const Index width = shape.size() == 2 ? shape[1] : 0;
  if (shape.empty() || shape.size() > 2 || (shape.size() == 2 && width < 1)) {
    file.fail(path, fmt::format("shape {} (must be a column, or rows of numbers)", to_string(shape)));
  }
  Column& c = column(path.substr(prefix.size()), meaning.unit, meaning.description, width);
  c.values = file.reals<double>(path);
  if (file.has_attribute("x", path)) {
    const std::string x = file.text_attribute("x", path);
    if (!x.starts_with(prefix)) file.fail(path, fmt::format("attribute x: \"{}\" is not one of its columns", x));
    c.axis = x.substr(prefix.size());
  } else {
    c.axis = axis_of(file, prefix, c.name);
  }
  if (width > 0)
    c.columns_label = meaning.dimensions.size() == 2 ? meaning.dimensions[1] : "column";  // of an edited file
}

}  // namespace nudge
