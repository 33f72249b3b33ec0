// SPDX-License-Identifier: Apache-2.0
// HDF5: what `nudge info`, `report` and `case` make of a file. Mutated files have no valid seal, so that H5Reader reads each in a
// child process first (sim/io/h5_probe.hpp), where HDF5 1.10 may crash: only what gets past it counts.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "apps/cases/run_case.hpp"
#include "apps/info/describe.hpp"
#include "apps/report/report.hpp"
#include "tests/fuzz/one_input.hpp"

using namespace nudge;

namespace {

/// In memory where there is such a place.
std::filesystem::path place() {
  const std::filesystem::path memory = "/dev/shm";
  const auto folder = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  return folder / ("nudge_fuzz_" + std::to_string(::getpid()) + ".h5");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::filesystem::path path = place();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  fuzz::refused_or_read([&] { describe_run_file(path); });
  fuzz::refused_or_read([&] { describe_run_file(path, DescribeFormat::json); });
  fuzz::refused_or_read([&] { report::report_html({path}); });
  fuzz::refused_or_read([&] { run_case(path, std::nullopt); });
  std::filesystem::remove(path);
  return 0;
}
