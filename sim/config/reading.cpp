// SPDX-License-Identifier: Apache-2.0
#include "sim/config/reading.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {

std::string alternatives_text(const std::vector<std::string>& names) {
  std::vector<std::string> each;
  for (const std::string& name : names) {
    if (std::find(each.begin(), each.end(), name) == each.end()) each.push_back(name);
  }
  if (each.empty()) return "";
  const std::string last = each.back();
  each.pop_back();
  return each.empty() ? last : fmt::format("{} or {}", fmt::join(each, ", "), last);
}

Condition chosen(std::string key, std::vector<std::string> values) {
  std::string needs = alternatives_text(values);
  return {key,
          [key, values = std::move(values)](const Config& c) {
            return std::find(values.begin(), values.end(), c.text(key)) != values.end();
          },
          std::move(needs)};
}

Condition above_zero(std::string key) {
  return {key, [key](const Config& c) { return c.real(key) != 0; }, "a value above 0"};
}

Condition switched_on(std::string key) {
  return {key, [key](const Config& c) { return c.flag(key); }, "true"};
}

Condition any_changed(std::vector<std::string> keys) {
  std::string needs = "another value";
  if (keys.size() > 1) needs += fmt::format(", or of {}", fmt::join(keys.begin() + 1, keys.end(), ", "));
  std::string first = keys.front();
  return {std::move(first),
          [keys = std::move(keys)](const Config& c) {
            return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) { return !c.at_default(key); });
          },
          std::move(needs)};
}

namespace {

void condition_row(const std::shared_ptr<const Condition>& condition, ParamRow& row) {
  if (row.read_when.empty()) row.read_when.emplace_back();
  for (Conditions& all : row.read_when) all.insert(all.begin(), condition);
}

}  // namespace

ParamRow read_with(const Condition& condition, ParamRow row) {
  condition_row(std::make_shared<const Condition>(condition), row);
  return row;
}

ParamTable read_with(const Condition& condition, ParamTable table) {
  const auto shared = std::make_shared<const Condition>(condition);
  for (ParamRow& row : table) condition_row(shared, row);
  return table;
}

void add_rows(ParamTable& table, const ParamTable& more) {
  for (const ParamRow& row : more) {
    const auto same = std::find_if(table.begin(), table.end(), [&](const ParamRow& one) { return one.key == row.key; });
    if (same == table.end()) {
      const auto of_section = std::find_if(table.rbegin(), table.rend(), [&](const ParamRow& one) {
        return section_of(one.key) == section_of(row.key);
      });
      table.insert(of_section == table.rend() ? table.end() : of_section.base(), row);
    } else if (same->read_when.empty() || row.read_when.empty()) {
      same->read_when.clear();
    } else {
      same->read_when.insert(same->read_when.end(), row.read_when.begin(), row.read_when.end());
    }
  }
}

ParamTable rows_beside(const ParamTable& table, const ParamTable& other) {
  ParamTable rest;
  for (const ParamRow& row : table) {
    if (find_row(other, row.key) == nullptr) rest.push_back(row);
  }
  return rest;
}

std::string why_unread(const Config& config, const std::string& key,
                       const std::function<bool(const Condition&)>& excused) {
  const ParamRow& row = *find_row(config.table(), key);
  std::size_t deepest = 0;
  std::string deciding;
  std::vector<std::string> needs;
  for (const Conditions& all : row.read_when) {
    const auto failing = std::find_if(all.begin(), all.end(), [&](const auto& one) {
      return one->unread != Unread::warned && !(excused && excused(*one)) && !one->holds(config);
    });
    if (failing == all.end()) return "";
    const auto depth = static_cast<std::size_t>(failing - all.begin());
    if (deciding.empty() || depth > deepest) {
      deepest = depth;
      deciding = (*failing)->key;
      needs.clear();
    }
    if (depth == deepest && (*failing)->key == deciding) needs.push_back((*failing)->needs);
  }
  if (deciding.empty()) return "";
  return fmt::format("{} = {}; {} would", deciding, config.as_text(deciding), alternatives_text(needs));
}

namespace {

/// Whether a file says most keys, as `nudge config dump` and the files of runs do: a record of what was, not what somebody asks for.
bool is_record(const Config& config) {
  const std::vector<std::string> keys = config.keys();
  const auto said = std::count_if(keys.begin(), keys.end(),
                                  [&](const std::string& key) { return config.origin(key).layer == Layer::file; });
  return static_cast<std::size_t>(said) > keys.size() / 2;
}

}  // namespace

void expect_keys_read(const Config& config, const std::function<bool(const std::string&)>& varies) {
  const bool record = is_record(config);
  std::vector<std::string> problems;
  for (const std::string& key : config.keys()) {
    if (find_row(config.table(), key)->read_when.empty() || config.at_default(key)) continue;
    const Origin& origin = config.origin(key);
    const bool asked = origin.layer == Layer::option || (origin.layer == Layer::file && !record);
    const std::string why = why_unread(config, key, [&](const Condition& one) {
      const bool set_for_it = asked && origin.not_before(config.origin(one.key));
      return one.key != key && ((one.unread != Unread::refused_always && !set_for_it) || varies(one.key));
    });
    if (!why.empty()) problems.push_back(fmt::format("{} = {} (nothing reads it: {})", key, config.as_text(key), why));
  }
  if (!problems.empty()) throw UserError(fmt::format("{}", fmt::join(problems, "\n")));
}

std::vector<std::string> idle_keys(const Config& config, const std::function<bool(const std::string&)>& varies) {
  std::vector<std::string> idle;
  const auto waits = [&](const Conditions& all) {
    return std::any_of(all.begin(), all.end(), [&](const auto& one) {
      return one->unread == Unread::warned && !one->holds(config) && !varies(one->key);
    });
  };
  for (const ParamRow& row : config.table()) {
    if (row.read_when.empty() || !std::all_of(row.read_when.begin(), row.read_when.end(), waits)) continue;
    if (!config.at_default(row.key) || varies(row.key)) idle.push_back(row.key);
  }
  return idle;
}

}  // namespace nudge
