// SPDX-License-Identifier: Apache-2.0
#include "apps/export/csv_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <span>
#include <string_view>

#include "sim/base/errors.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/text.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/descriptor.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {
namespace {

template <class T>
std::vector<std::string> as_text(const std::vector<T>& values) {
  std::vector<std::string> out;
  out.reserve(values.size());
  for (const T value : values) {
    if constexpr (std::is_floating_point_v<T>) {
      out.push_back(std::isnan(value) ? "" : fmt::format("{}", value));
    } else {
      out.push_back(fmt::format("{}", value));
    }
  }
  return out;
}

/// Reads all values in the file's order.
std::vector<std::string> cells_of(const H5Reader& file, const std::string& dataset) {
  switch (file.type(dataset)) {
    case H5Type::integer: return as_text(file.integers(dataset));
    case H5Type::text: {
      std::vector<std::string> out = file.texts(dataset);
      std::transform(out.begin(), out.end(), out.begin(), csv_field);
      return out;
    }
    case H5Type::real32: return as_text(file.reals<float>(dataset));
    default: return as_text(file.reals<double>(dataset));
  }
}

std::string group_of(const std::string& dataset) {
  const std::size_t slash = dataset.rfind('/');
  return slash == std::string::npos ? "" : dataset.substr(0, slash);
}

std::string name_of(const std::string& dataset) {
  const std::size_t slash = dataset.rfind('/');
  return slash == std::string::npos ? dataset : dataset.substr(slash + 1);
}

bool only_for_resume(const std::string& dataset) {
  return dataset.starts_with("checkpoint") || dataset.find("/checkpoint/") != std::string::npos ||
         dataset.starts_with("underway");
}

/// Columns that stand side by side in one file.
struct CsvColumns {
  std::string name;
  std::string axis;  ///< path of the dataset that is their axis; empty: none is named
  Index rows = 0;
  std::vector<std::string> datasets;
};

/// Collects the tables of a file; `name` of a table gives its file's name.
std::vector<CsvColumns> tables_of(const H5Reader& file, const std::vector<std::string>& datasets) {
  std::map<std::string, std::vector<CsvColumns>> by_group;
  for (const std::string& path : datasets) {
    const H5Shape shape = file.shape(path);
    if (shape.size() != 1) continue;
    const std::string axis = file.has_attribute("x", path) ? file.text_attribute("x", path) : "";
    auto& tables = by_group[group_of(path)];
    const auto at = std::find_if(tables.begin(), tables.end(),
                                 [&](const CsvColumns& t) { return t.axis == axis && t.rows == shape[0]; });
    auto& table = at == tables.end() ? tables.emplace_back(CsvColumns{"", axis, shape[0], {}}) : *at;
    table.datasets.insert(path == axis ? table.datasets.begin() : table.datasets.end(), path);
  }
  std::vector<CsvColumns> out;
  for (auto& [group, tables] : by_group) {
    std::set<std::string> axes;
    for (CsvColumns& table : tables) {
      const bool main = tables.size() == 1 || table.axis == group + "/step";
      const std::string which = !table.axis.empty() ? name_of(table.axis) : name_of(table.datasets.front());
      if (!axes.insert(main ? "" : which).second)
        file.fail(table.datasets.front(), "its length differs from the columns over " + printable_line(which));
      const std::string shown = group.empty() ? "root" : group;
      table.name = main ? shown : shown + "/" + which;
      out.push_back(std::move(table));
    }
  }
  std::sort(out.begin(), out.end(), [](const CsvColumns& a, const CsvColumns& b) { return a.name < b.name; });
  return out;
}

/// List of file, column, unit and description of everything that is written.
class ColumnList {
 public:
  void add(const H5Reader& file, const std::string& csv, const std::string& dataset, const std::string& column) {
    const H5Meaning meaning = file.meaning(dataset);
    text_ += fmt::format("{},{},{},{}\n", csv_field(csv), csv_field(column), csv_field(meaning.unit),
                         csv_field(meaning.description));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_ = "file,column,unit,description\n";
};

CsvFile table_file(const H5Reader& file, const CsvColumns& table, FileNames& names, ColumnList& list) {
  std::vector<std::vector<std::string>> columns;
  const auto far = [&](const std::string& path) {
    return path == table.axis && group_of(path) != group_of(table.datasets.front());
  };
  std::vector<std::string> datasets = table.datasets;
  // weights/… lie over train/validation_step: the axis comes along
  if (!table.axis.empty() && file.has(table.axis) && far(table.axis)) datasets.insert(datasets.begin(), table.axis);
  CsvFile out{names.take(table.name, ".csv"), ""};
  for (const std::string& path : datasets) {
    columns.push_back(cells_of(file, path));
    if (static_cast<Index>(columns.back().size()) != table.rows) {
      file.fail(path, fmt::format("length {} expected as in the columns over it, found {}", table.rows,
                                  columns.back().size()));
    }
    out.text += fmt::format("{}{}", out.text.empty() ? "" : ",", csv_field(name_of(path)));
    list.add(file, out.name, path, name_of(path));
  }
  out.text += "\n";
  for (std::size_t row = 0; row < static_cast<std::size_t>(table.rows); ++row) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) out.text += ',';
      out.text += columns[c][row];
    }
    out.text += "\n";
  }
  return out;
}

CsvFile matrix_file(const H5Reader& file, const std::string& dataset, FileNames& names, ColumnList& list) {
  const H5Shape shape = file.shape(dataset);
  const std::vector<std::string> cells = cells_of(file, dataset);
  const auto width = static_cast<std::size_t>(shape.empty() ? 1 : shape.back());
  CsvFile out{names.take(dataset, ".csv"), ""};
  for (std::size_t c = 0; c < width; ++c) out.text += fmt::format("{}{}", c == 0 ? "" : ",", c);
  out.text += "\n";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out.text += cells[i];
    out.text += (i + 1) % width == 0 ? '\n' : ',';
  }
  list.add(file, out.name, dataset, fmt::format("0 to {}", width - 1));
  return out;
}

std::string shown(const H5Attribute& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  return fmt::format("{}", std::get<double>(value));
}

}  // namespace

std::vector<CsvFile> csv_of(const std::filesystem::path& path) {
  const H5Reader file(path);
  std::vector<std::string> datasets = file.all_datasets();
  datasets.erase(
      std::remove_if(datasets.begin(), datasets.end(),
                     [&](const std::string& d) { return only_for_resume(d) || file.type(d) == H5Type::other; }),
      datasets.end());
  ColumnList list;
  FileNames names;
  for (const char* ours : {"columns", "attributes"}) names.take(ours, ".csv");
  std::vector<CsvFile> out;
  for (const CsvColumns& table : tables_of(file, datasets)) out.push_back(table_file(file, table, names, list));
  for (const std::string& dataset : datasets) {
    if (file.shape(dataset).size() != 1) out.push_back(matrix_file(file, dataset, names, list));
  }
  out.push_back({"columns.csv", list.text()});
  CsvFile attributes{"attributes.csv", "attribute,value\n"};
  for (const std::string& name : file.attributes()) {
    if (name == "config") {
      out.push_back({"config.toml", file.text_attribute(name)});
    } else {
      attributes.text += csv_field(name) + "," + csv_field(shown(file.attribute(name))) + "\n";
    }
  }
  out.push_back(std::move(attributes));
  return out;
}

std::vector<std::filesystem::path> export_csv(const std::filesystem::path& file,
                                              const std::filesystem::path& directory) {
  const std::vector<CsvFile> files = csv_of(file);
  std::error_code problem;
  std::filesystem::create_directories(directory, problem);
  if (problem) throw UserError(fmt::format("{}: cannot make the directory: {}", directory.string(), problem.message()));
  for (const CsvFile& one : files) {
    check_output_path(directory / one.name, Overwrite::must_not_exist, Links::refused);
  }
  std::vector<std::filesystem::path> out;
  std::deque<RemovedOnInterrupt> whole_or_none;
  for (const CsvFile& one : files) {
    out.push_back(directory / one.name);
    const SignalsWait until_registered;
    write_atomically(out.back(), std::as_bytes(std::span(one.text)), Overwrite::must_not_exist, Links::refused);
    whole_or_none.emplace_back(out.back());
  }
  return out;
}

namespace {

constexpr std::size_t kLongest =
    200;  // file systems take 255 bytes; beside it stand a number, the ending and what a hidden name adds

/// Number of bytes of the first character: those of UTF-8, or one.
std::size_t first_length(std::string_view text) {
  std::size_t n = 1;
  while (n < text.size() && (static_cast<unsigned char>(text[n]) & 0xc0U) == 0x80U) ++n;
  return printable_line(text.substr(0, n)) == text.substr(0, n) ? n : 1;
}

std::string safe_name(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::string_view one = path.substr(0, first_length(path));
    const bool plain = printable_line(one) == one && one != "\\" && one != "%" && !(one == "." && out.empty());
    if (plain)
      out += one == "/" ? "." : one;
    else
      for (const char c : one) out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    path.remove_prefix(one.size());
  }
  if (out.size() <= kLongest) return out;
  std::size_t end = kLongest - 17;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0U) == 0x80U) --end;
  return fmt::format("{}~{:016x}", out.substr(0, end), fnv_1a(std::as_bytes(std::span(out))));
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return text;
}

}  // namespace

std::string FileNames::take(const std::string& path, const std::string& ending) {
  const std::string name = safe_name(path);
  std::string out = name + ending;
  for (int n = 2; !taken_.insert(lower(out)).second; ++n) out = fmt::format("{}~{}{}", name, n, ending);
  return out;
}

}  // namespace nudge
