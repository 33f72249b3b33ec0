// SPDX-License-Identifier: Apache-2.0
#include "training/train/train_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Groups that hold columns, beside those that stand by themselves.
constexpr const char* kGroups[] = {"train", "weights", "device"};
constexpr const char* kSteps = "train/step";

/// What a column of a width has in an entry.
std::string numbers(Index width) { return width == 0 ? "single numbers" : fmt::format("rows of {}", width); }

}  // namespace

TrainLog::Column& TrainLog::column(const std::string& name, const std::string& unit, const std::string& description,
                                   Index width) {
  const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == name; });
  if (found != columns_.end()) {
    if (found->width == width) return *found;
    throw UserError(fmt::format("the log has a column {} of {} and cannot add {}: was the file edited?", name,
                                numbers(found->width), numbers(width)));
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
  column(name, unit, description, 0).values.push_back(value);
}

void TrainLog::add_row(const std::string& name, const std::vector<double>& row, const std::string& unit,
                       const std::string& description, const std::string& columns_label) {
  Column& c = column(name, unit, description, static_cast<Index>(row.size()));
  c.columns_label = columns_label;
  c.values.insert(c.values.end(), row.begin(), row.end());
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
  for (const auto* values : all_named(prefix, suffix)) sum += values->back() - values->front();
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

void TrainLog::event(std::uint64_t step, const std::string& text) {
  event_steps_.push_back(static_cast<double>(step));
  events_.push_back(text);
}

void TrainLog::write(H5Document& document, const std::string& prefix) const {
  for (const Column& c : columns_) {
    const auto n = static_cast<Index>(c.values.size());
    if (c.width == 0) {
      document.dataset(prefix + c.name, c.values, {n}, {c.unit, c.description, {"entry"}});
    } else {
      document.dataset(prefix + c.name, c.values, {n / c.width, c.width},
                       {c.unit, c.description, {"entry", c.columns_label}});
    }
    document.attribute("role", std::string(c.name == c.axis ? "axis" : "series"), prefix + c.name);
    document.attribute("x", prefix + c.axis, prefix + c.name);
  }
  document.column(prefix + "events/step", event_steps_, {"1", "training step of the event", {"event"}});
  document.column(prefix + "events/text", events_, {"1", "what happened", {"event"}});
}

void TrainLog::restore(const H5Reader& file, const std::string& prefix) {
  columns_.clear();
  for (const char* group : kGroups) {
    if (!file.has(prefix + group)) continue;
    for (const std::string& path : file.all_datasets(prefix + group)) restore_column(file, prefix, path);
  }
  for (const std::string& path : file.all_datasets(prefix.empty() ? "/" : prefix.substr(0, prefix.size() - 1))) {
    const bool direct = path.find('/', prefix.size()) == std::string::npos;
    if (direct && file.has_attribute("x", path)) restore_column(file, prefix, path);
  }
  const auto steps = static_cast<Index>(values(kSteps).size());
  for (const Column& c : columns_) {
    const Index rows = static_cast<Index>(c.values.size()) / std::max<Index>(1, c.width);
    if (c.axis == kSteps && rows > steps) {  // fewer: of what began later
      file.fail(prefix + c.name, fmt::format("{} rows, of {} steps", rows, steps));
    }
  }
  event_steps_ = file.reals<double>(prefix + "events/step", H5Shape{-1});
  events_ = file.texts(prefix + "events/text", H5Shape{static_cast<Index>(event_steps_.size())});
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
    if (!x.starts_with(prefix)) file.fail(path, fmt::format("attribute x: \"{}\" is none of its columns", x));
    c.axis = x.substr(prefix.size());
  }
  if (width > 0)
    c.columns_label = meaning.dimensions.size() == 2 ? meaning.dimensions[1] : "column";  // of an edited file
}

}  // namespace nudge
