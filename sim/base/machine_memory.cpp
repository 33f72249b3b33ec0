// SPDX-License-Identifier: Apache-2.0
#include "sim/base/machine_memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace nudge {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

/// The number behind a word of a file of lines "word number …"; infinite where there is none ("max").
double number_in(const std::filesystem::path& file, const std::string& word) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first;
    double value = 0;
    if (words >> first && first == word && words >> value) return value;
  }
  return kUnknown;
}

double only_number(const std::filesystem::path& file) {
  std::ifstream in(file);
  double value = 0;
  return in >> value ? value : kUnknown;
}

double of_machine() {
  const double available = 1024 * number_in("/proc/meminfo", "MemAvailable:");
  const double swap = 1024 * number_in("/proc/meminfo", "SwapFree:");
  return swap < kUnknown ? available + swap : available;
}

double of_address_space() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnknown;
  const double pages = only_number("/proc/self/statm");
  const double mapped = pages < kUnknown ? pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) : 0;
  return std::max(0.0, static_cast<double>(limit.rlim_cur) - mapped);
}

/// Memory that the process's control group and its parent groups leave.
double of_control_groups() {
  std::ifstream in("/proc/self/cgroup");
  std::string own;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("0::/")) own = line.substr(4);
  }
  const std::filesystem::path root = "/sys/fs/cgroup";
  double least = kUnknown;
  for (std::filesystem::path group = own;; group = group.parent_path()) {
    const double most = only_number(root / group / "memory.max");
    if (most < kUnknown) {
      const double used = only_number(root / group / "memory.current");
      const double cached = number_in(root / group / "memory.stat", "inactive_file");
      const double held = used < kUnknown ? used - (cached < kUnknown ? cached : 0) : 0;
      least = std::min(least, std::max(0.0, most - held));
    }
    if (group.empty()) return least;
  }
}

}  // namespace

std::string bytes_text(double bytes) {
  if (bytes < 1e6) return fmt::format("{:.3g} kB", bytes / 1e3);
  return bytes < 1e9 ? fmt::format("{:.3g} MB", bytes / 1e6) : fmt::format("{:.3g} GB", bytes / 1e9);
}

std::string FreeMemory::text() const { return fmt::format("{}, which {}", bytes_text(bytes), where); }

FreeMemory free_memory() {
  FreeMemory least{of_machine(), "this machine has free"};
  if (const double own = of_address_space(); own < least.bytes) least = {own, "ulimit -v leaves"};
  if (const double own = of_control_groups(); own < least.bytes) {
    least = {own, "the control group of this process leaves"};
  }
  return least;
}

}  // namespace nudge
