// SPDX-License-Identifier: Apache-2.0
// A config file: TOML, keys, units, rules and checks; and what `nudge config dump` makes of it, which must read the same.
#include "sim/config/config.hpp"
#include "tests/fuzz/one_input.hpp"
#include "training/config/config_table.hpp"

using namespace nudge;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::refused_or_read([&] {
    const Config config = parse_program_config("fuzz.toml", fuzz::text_of(data, size));
    const std::string dump = dump_toml(config, DumpComments::none);
    if (!difference(config, parse_program_config("dump.toml", dump)).empty()) std::terminate();
  });
}
