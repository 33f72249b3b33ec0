// SPDX-License-Identifier: Apache-2.0
#include "training/config/input_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "sim/base/errors.hpp"
#include "sim/config/reading.hpp"
#include "sim/io/descriptor.hpp"
#include "training/config/hardware_aware.hpp"
#include "training/data/raw_array.hpp"

namespace nudge {
namespace {

constexpr const char* kInputs = "inputs";

/// Keys and paths of the files that the config names, or may name.
std::vector<std::pair<std::string, std::string>> named_inputs(const Config& config) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& key : config.keys()) {
    const bool path = find_row(config.table(), key)->kind == ParamKind::path;
    const bool other = section_of(key) == "output" || section_of(key) == "data" || section_of(key) == "series";
    if (path && !other && reads(config, key)) out.emplace_back(key, config.text(key));
  }
  out.emplace_back("hardware_aware.devices", hardware_aware_section().read(config).devices);
  for (const std::string& entry : config.texts("device.stuck_map")) {
    out.emplace_back("device.stuck_map", entry.substr(entry.find('=') + 1));  // npos + 1 is 0
  }
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// A line without its digest, and the digest.
std::pair<std::string, std::string> parted(const std::string& line) {
  const std::size_t space = line.rfind(' ');
  return {line.substr(0, space), space == std::string::npos ? "" : line.substr(space + 1)};
}

}  // namespace

std::string input_files(const Config& config) {
  std::string out;
  for (const auto& [key, path] : named_inputs(config)) {
    if (path.empty() || !std::filesystem::is_regular_file(path)) continue;
    const std::string bytes = read_file_bytes(path, key);
    out += fmt::format("{} = {} {:016x}\n", key, path, fnv_1a(std::as_bytes(std::span(bytes))));
  }
  return out;
}

void expect_same_inputs(const H5Reader& run, const Config& config) {
  if (!run.has_attribute(kInputs)) return;
  const std::vector<std::string> now = lines_of(input_files(config));
  std::string problems;
  for (const std::string& line : lines_of(run.text_attribute(kInputs))) {
    const auto [file, before] = parted(line);
    std::string found = "gone";
    for (const std::string& one : now) {
      if (parted(one).first == file) found = parted(one).second;
    }
    if (found != before) problems += fmt::format("\n  {}: {} when it began, {} now", file, before, found);
  }
  if (problems.empty()) return;
  throw UserError(fmt::format(
      "{}: files of its config have changed (FNV-1a of their bytes):{}\nRestore them, or start anew with --out",
      run.name(), problems));
}

}  // namespace nudge
