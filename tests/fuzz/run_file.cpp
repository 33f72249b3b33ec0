// SPDX-License-Identifier: Apache-2.0
// HDF5 files: what `nudge info`, `report`, `export` and `case` make of them. An input that begins like one is a file without nudge's
// seal, so that H5Reader reads it in a child process first (sim/io/h5_foreign.hpp), where HDF5 1.10 may crash: only what gets past it
// counts. Any other input is a list of edits (h5_edits.hpp) of a base, whose first byte chooses it: a whole file with its seal.
#include <fstream>

#include "apps/export/csv_export.hpp"
#include "apps/info/describe.hpp"
#include "apps/report/report.hpp"
#include "reference/case_kind.hpp"
#include "tests/fuzz/files.hpp"
#include "tests/fuzz/h5_edits.hpp"
#include "tests/fuzz/one_input.hpp"

using namespace nudge;

namespace {

void write_file(const std::string& bytes, const std::filesystem::path& path) {
  if (bytes.starts_with("\x89HDF")) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return;
  }
  static const std::vector<fuzz::H5Base> bases = [] {
    std::vector<fuzz::H5Base> all;
    for (const auto& base : fuzz::base_paths()) all.emplace_back(base);
    return all;
  }();
  fuzz::Drawn drawn(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  fuzz::write_edited(bases[drawn.below(bases.size())], drawn, path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::filesystem::path path = fuzz::file_of_process();
  write_file(fuzz::text_of(data, size), path);
  fuzz::refused_or_read([&] { describe_run_file(path); });
  fuzz::refused_or_read([&] { describe_run_file(path, DescribeFormat::json); });
  fuzz::refused_or_read([&] { report::report_html({path}); });
  fuzz::refused_or_read([&] { csv_of(path); });
  fuzz::refused_or_read([&] { run_case(path, std::nullopt); });
  std::filesystem::remove(path);
  return 0;
}
