// SPDX-License-Identifier: Apache-2.0
// HDF5 files that say anything: what every command makes of them that reads a file of another one. The first byte chooses one of the
// files of tests/fuzz/bases (or of the folder NUDGE_FUZZ_BASES), the second what reads it, the others are edits (memory_file.hpp).
// HDF5 itself is left out (memory_reader.cpp): this is the target that comes to millions of executions.
#include <set>
#include <sstream>

#include "apps/export/csv_export.hpp"
#include "apps/info/describe.hpp"
#include "apps/report/report.hpp"
#include "apps/watch/run_state.hpp"
#include "reference/case_kind.hpp"
#include "tests/fuzz/files.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/one_input.hpp"
#include "training/compare/merge.hpp"
#include "training/config/config_table.hpp"
#include "training/config/stored_config.hpp"
#include "training/data/readers/readers.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;

namespace {

struct Base {
  fuzz::MemoryFile file;
  std::optional<Config> config;  ///< that the file was made with
};

/// The lines of a dumped config that are none of the defaults': a tenth, as reading it takes a tenth.
std::string without_defaults(const std::string& dump) {
  const auto lines_of = [](const std::string& text) {
    std::vector<std::pair<std::string, std::string>> lines;  // section and line
    std::istringstream in(text);
    std::string section;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with('[')) section = line;
      if (line.find(" = ") != std::string::npos) lines.emplace_back(section, line);
    }
    return lines;
  };
  const auto all = lines_of(dump_toml(parse_program_config("defaults", ""), DumpComments::none));
  const std::set<std::pair<std::string, std::string>> defaults(all.begin(), all.end());
  std::string out, section;
  for (const auto& line : lines_of(dump)) {
    if (defaults.count(line) > 0) continue;
    if (line.first != section) out += line.first + "\n";
    section = line.first;
    out += line.second + "\n";
  }
  return out;
}

Base load(const std::filesystem::path& path) {
  Base base{fuzz::load_memory_file(path), std::nullopt};
  const auto& attributes = base.file.objects.at("/")->attributes;
  if (const auto at = attributes.find("config"); at != attributes.end()) {
    base.config = stored_program_config(path.string(), std::get<std::string>(at->second));
    fuzz::MemoryFile::Object root = *base.file.objects.at("/");
    root.attributes["config"] = without_defaults(std::get<std::string>(at->second));
    base.file.objects["/"] = std::make_shared<const fuzz::MemoryFile::Object>(std::move(root));
  }
  return base;
}

const std::vector<Base>& bases() {
  static const std::vector<Base> all = [] {
    std::vector<Base> out;
    for (const auto& path : fuzz::base_paths()) out.push_back(load(path));
    return out;
  }();
  return all;
}

/// As with `--resume`, of a run that is at its end: what differs from its config is refused, so that no edit makes work.
void resume_finished(const std::string& path, const Base& base) {
  if (base.config) resume(path, &*base.config, [](const TrainProgress&) { return false; });
}

/// What takes long is drawn less often.
void read(const std::string& path, const Base& base, std::size_t reader) {
  if (reader == 0xa7) return void(merge_sweeps({path, "base.h5"}, path + ".out", MissingPoints::accept));
  if (reader == 0xb3) return resume_finished(path, base);
  constexpr std::string_view all = "tjrrrrrr2cccccccwwwwwkkka";
  switch (all[reader % all.size()]) {
    case 't': describe_run_file(path); return;
    case 'j': describe_run_file(path, DescribeFormat::json); return;
    case 'r': report::report_html({path}); return;
    case '2': report::report_html({"base.h5", path}); return;
    case 'c': csv_of(path); return;
    case 'w': read_run_state(path); return;
    case 'k': run_case(path, std::nullopt); return;
    case 'a': hdf5_arrays(path, "parameters"); return;
    default: return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Drawn drawn(data, size);
  const Base& base = bases()[drawn.below(bases().size())];
  const std::size_t reader = drawn.byte();
  fuzz::MemoryFile file = base.file;
  fuzz::edit(file, drawn);
  static const std::string path = fuzz::file_of_process().string();  // for a lock beside it, and what is written
  fuzz::memory_files() = {{path, &file}, {"base.h5", &base.file}};
  fuzz::refused_or_read([&] { read(path, base, reader); });
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".out");
  return 0;
}
