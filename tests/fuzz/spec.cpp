// SPDX-License-Identifier: Apache-2.0
// Short texts of the command line: KEY=VALUE after --set (one a line), the part of a --shard, and quantities with units. The first
// byte chooses.
#include <sstream>

#include "sim/base/units.hpp"
#include "tests/fuzz/one_input.hpp"
#include "training/config/config_table.hpp"
#include "training/sweep/sweep_grid.hpp"

using namespace nudge;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; lines.size() < 8 && std::getline(in, line);) lines.push_back(line);
  return lines;
}

void read_shard_text(const std::string& text) {
  const Shard shard = read_shard(text);
  if (shard.index < 1 || shard.index > shard.count) std::terminate();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text = fuzz::text_of(data + 1, size - 1);
  return fuzz::refused_or_read([&] {
    if (data[0] % 8 == 0) return read_shard_text(text);
    parse_program_config("fuzz.toml", "", lines_of(text));
  });
}
