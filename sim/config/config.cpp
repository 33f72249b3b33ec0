// SPDX-License-Identifier: Apache-2.0
#include "sim/config/config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// "run.toml:3:7", or just the name where there is no position (--set).
std::string place(const std::string& name, const TextPosition& at) {
  return at.line == 0 ? name : fmt::format("{}:{}:{}", name, at.line, at.column);
}

void report(const std::string& key, const std::string& name, const std::vector<ValueProblem>& found,
            std::vector<std::string>& problems) {
  for (const ValueProblem& problem : found) {
    problems.push_back(
        fmt::format("{}: {}{} = {} ({})", place(name, problem.at), key, problem.element, problem.shown, problem.rule));
  }
}

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

/// The grid row that `key` lies under ("sweep.grid" of "sweep.grid.device.read_noise"), or nullptr.
const ParamRow* grid_above(const ParamTable& table, const std::string& key) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const ParamRow& row) {
    return row.kind == ParamKind::grid && starts_with(key, row.key + ".");
  });
  return found == table.end() ? nullptr : &*found;
}

std::string axis_key(const ParamRow& grid, const std::string& key) { return key.substr(grid.key.size() + 1); }

/// Whether keys lie under this name: it is written as a table.
bool is_section(const ParamTable& table, const std::string& name) {
  return std::any_of(table.begin(), table.end(), [&](const ParamRow& row) {
    return starts_with(row.key, name + ".") || (row.kind == ParamKind::grid && row.key == name);
  });
}

ParamValue default_of(const ParamRow& row) {
  std::vector<ValueProblem> found;
  const auto value = convert(row, raw_from_text(row, row.default_text), found);
  if (!value) throw ContractViolation(fmt::format("default of config key {}: {}", row.key, found.front().rule));
  return *value;
}

}  // namespace

Config::Config(const ParamTable& table) : table_(&table) {
  for (const ParamRow& row : table) {
    Entry entry{&row, std::vector<GridAxis>{}, {}};
    if (row.kind != ParamKind::grid) entry.value = default_of(row);
    if (!entries_.emplace(row.key, std::move(entry)).second) {
      throw ContractViolation(fmt::format("config key {} stands twice in the table", row.key));
    }
  }
}

const Config::Entry& Config::entry(std::string_view key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) throw ContractViolation(fmt::format("config key {} is not in the table", key));
  return found->second;
}

template <class T>
const T& Config::get(std::string_view key) const {
  const T* value = std::get_if<T>(&entry(key).value);
  if (value == nullptr) throw ContractViolation(fmt::format("config key {} is read as another kind", key));
  return *value;
}
template const std::int64_t& Config::get(std::string_view) const;
template const double& Config::get(std::string_view) const;
template const bool& Config::get(std::string_view) const;
template const std::string& Config::get(std::string_view) const;
template const std::vector<std::int64_t>& Config::get(std::string_view) const;
template const std::vector<double>& Config::get(std::string_view) const;
template const std::vector<std::string>& Config::get(std::string_view) const;
template const std::vector<GridAxis>& Config::get(std::string_view) const;

bool Config::at_default(std::string_view key) const {
  const Entry& of_key = entry(key);
  return to_text(*of_key.row, of_key.value) == to_text(*of_key.row, default_of(*of_key.row));
}

std::string Config::as_text(std::string_view key) const {
  const Entry& found = entry(key);
  const auto* axes = std::get_if<std::vector<GridAxis>>(&found.value);
  if (axes == nullptr) return to_text(*found.row, found.value);
  std::vector<std::string> parts;
  for (const GridAxis& axis : *axes) parts.push_back(fmt::format("{} = {}", axis.key, axis_to_toml(*table_, axis)));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

const Origin* Config::find_origin(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found != entries_.end()) return &found->second.origin;
  const ParamRow* grid = grid_above(*table_, name);
  if (grid == nullptr) return nullptr;
  const auto& axes = entry(grid->key).axes;
  const auto axis = axes.find(axis_key(*grid, name));
  return axis == axes.end() ? nullptr : &axis->second;
}

std::vector<std::string> Config::keys() const {
  std::vector<std::string> keys;
  for (const ParamRow& row : *table_) keys.push_back(row.key);
  return keys;
}

void Config::set_from_text(std::string_view key, std::string_view text, const std::string& where) {
  RawEntry entry{std::string(key), {}, {}};
  if (const ParamRow* row = find_row(*table_, key)) {
    entry.value = raw_from_text(*row, text);
  } else if (const ParamRow* grid = grid_above(*table_, entry.key)) {
    entry.value = raw_from_text(param::texts(entry.key, "", {}, ""), text);
    const ParamRow* axis = find_row(*table_, axis_key(*grid, entry.key));
    for (RawValue& element : entry.value.list) {
      if (axis != nullptr) element = raw_from_text(*axis, element.text);
    }
  }
  std::vector<std::string> problems;
  set(entry, Layer::option, where, problems);
  if (!problems.empty()) throw UserError(fmt::format("{}", fmt::join(problems, "\n")));
}

void Config::set(const RawEntry& written, Layer layer, const std::string& name, std::vector<std::string>& problems) {
  const std::string& key = written.key;
  const Origin origin{layer, place(name, written.at), layer == Layer::option ? ++options_ : 0};
  const bool empty_table = written.value.kind == RawValue::Kind::table;
  std::vector<ValueProblem> wrong;
  const auto found = entries_.find(key);
  if (found != entries_.end() && found->second.row->kind != ParamKind::grid) {
    if (auto value = convert(*found->second.row, written.value, wrong)) {
      found->second.value = std::move(*value);
      found->second.origin = origin;
    }
  } else if (is_section(*table_, key)) {
    if (empty_table) return;
    wrong.push_back({"", show(written.value), written.value.at, fmt::format("{} is a section: write [{}]", key, key)});
  } else if (const ParamRow* grid = grid_above(*table_, key)) {
    if (auto axis = convert_axis(*table_, *grid, axis_key(*grid, key), written.value, wrong)) {
      Entry& target = entries_.find(grid->key)->second;
      auto& axes = std::get<std::vector<GridAxis>>(target.value);
      const auto old = std::find_if(axes.begin(), axes.end(), [&](const GridAxis& a) { return a.key == axis->key; });
      old == axes.end() ? axes.push_back(*axis) : void(*old = *axis);
      target.origin = target.axes[axis->key] = origin;
    }
  } else {
    const char* what = empty_table ? "section" : "key";
    problems.push_back(fmt::format("{}: unknown {} {} ({})", origin.where, what, key, key_hint(*table_, key)));
  }
  report(key, name, wrong, problems);
}

namespace {

std::string comment(const ParamRow& row) { return fmt::format("# {} ({})\n", row.doc, describe_values(row)); }

/// The rows of one section, without its [header].
std::string dump_section(const Config& config, std::string_view section, DumpComments comments) {
  std::string out;
  for (const ParamRow& row : config.table()) {
    if (section_of(row.key) != section || row.kind == ParamKind::grid) continue;
    if (comments == DumpComments::documented) out += comment(row);
    out += fmt::format("{} = {}\n", name_of(row.key), config.as_toml(row.key));
  }
  return out;
}

std::string dump_grid(const Config& config, const ParamRow& row, DumpComments comments) {
  std::string out = fmt::format("\n[{}]\n", row.key);
  if (comments == DumpComments::documented) out += comment(row);
  for (const GridAxis& axis : config.grid(row.key)) {
    out += fmt::format("\"{}\" = {}\n", axis.key, axis_to_toml(config.table(), axis));
  }
  return out;
}

}  // namespace

std::string dump_toml(const Config& config, DumpComments comments) {
  std::string out = dump_section(config, "", comments);
  std::vector<std::string_view> done = {""};
  for (const ParamRow& row : config.table()) {
    const std::string_view section = section_of(row.key);
    if (std::find(done.begin(), done.end(), section) == done.end()) {
      done.push_back(section);
      out += fmt::format("\n[{}]\n", section) + dump_section(config, section, comments);
    }
    if (row.kind == ParamKind::grid) out += dump_grid(config, row, comments);
  }
  return out;
}

std::vector<ConfigDifference> difference(const Config& first, const Config& second) {
  std::vector<ConfigDifference> differences;
  for (const std::string& key : first.keys()) {
    const std::string a = first.as_text(key);
    const std::string b = second.as_text(key);
    if (a != b) differences.push_back({key, a, b});
  }
  return differences;
}

}  // namespace nudge
