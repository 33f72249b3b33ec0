// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/param_value.hpp"

namespace nudge {

/// Origin of a value; a later layer wins.
enum class Layer { standard, preset, file, option };

struct Origin {
  Layer layer = Layer::standard;
  std::string where = "default";  ///< "run.toml:12:9", "--set"
  int turn = 0;                   ///< number of the option, from 1

  /// True if this value was set after the other, or with it (two lines of one file).
  bool not_before(const Origin& other) const { return layer != other.layer ? layer > other.layer : turn >= other.turn; }
};

/// The resolved values of every key of a table. Reads are typed; a key that is not in the table, or of another kind, is
/// a ContractViolation (our bug). The table must outlive the Config.
class Config {
 public:
  /// Every key at its default; a default that breaks its own row is a ContractViolation.
  explicit Config(const ParamTable& table);

  std::int64_t integer(std::string_view key) const { return get<std::int64_t>(key); }
  double real(std::string_view key) const { return get<double>(key); }  ///< in SI units
  bool flag(std::string_view key) const { return get<bool>(key); }
  const std::string& text(std::string_view key) const { return get<std::string>(key); }  ///< text, path or choice
  const std::vector<std::int64_t>& integers(std::string_view key) const { return get<std::vector<std::int64_t>>(key); }
  const std::vector<double>& reals(std::string_view key) const { return get<std::vector<double>>(key); }
  const std::vector<std::string>& texts(std::string_view key) const { return get<std::vector<std::string>>(key); }
  const std::vector<GridAxis>& grid(std::string_view key) const { return get<std::vector<GridAxis>>(key); }

  /// Any value as text: "25 uS", [1, 2]; set_from_text takes it back (not a grid: set its axes).
  std::string as_text(std::string_view key) const;
  std::string as_toml(std::string_view key) const { return to_toml(*entry(key).row, entry(key).value); }

  /// True if a key has the value of its row, whoever set it; not for a grid.
  bool at_default(std::string_view key) const;

  /// Sets a key from text (--set, a sweep), or an axis of a grid ("sweep.grid.device.read_noise"), with the checks of the
  /// table. Throws UserError with a line for every rule broken, each starting with `where`.
  void set_from_text(std::string_view key, std::string_view text, const std::string& where = "--set");

  /// Sets what a file or --set named `name` wrote; adds "name:line:column: key = value (rule)" for each problem.
  void set(const RawEntry& entry, Layer layer, const std::string& name, std::vector<std::string>& problems);

  const Origin& origin(std::string_view key) const { return entry(key).origin; }
  /// Place where a key, or an axis of a grid ("sweep.grid.device.read_noise"), was set; null for other names.
  const Origin* find_origin(const std::string& name) const;
  std::vector<std::string> keys() const;  ///< in the order of the table
  const ParamTable& table() const { return *table_; }

 private:
  struct Entry {
    const ParamRow* row;
    ParamValue value;
    Origin origin;
    std::map<std::string, Origin> axes = {};  ///< of a grid, by their keys
  };

  const Entry& entry(std::string_view key) const;
  template <class T>
  const T& get(std::string_view key) const;

  const ParamTable* table_;
  int options_ = 0;  ///< that were set
  std::map<std::string, Entry, std::less<>> entries_;
};

/// The configuration as TOML, every key, sections in the order of the table; read back it gives the same values. With
/// comments: the meaning, unit and range of each key.
enum class DumpComments { none, documented };
std::string dump_toml(const Config& config, DumpComments comments = DumpComments::documented);

/// A key whose value differs, with both values as text.
struct ConfigDifference {
  std::string key, first, second;
};
std::vector<ConfigDifference> difference(const Config& first, const Config& second);

/// A rule between keys. `broken` returns the mistake of keys.front(), or an empty text. It is reported at the most
/// specific place (latest layer) that set one of the keys. It is not reported if one of them has a problem of its own.
struct ConfigRule {
  std::vector<std::string> keys;
  std::function<std::string(const Config&)> broken;
};

/// A check of several keys together, run when each key and every rule holds. Throws UserError with one line per problem. A line
/// names keys, or axes of a grid, in full ("device.pulses = 1e8 (must be ...)"). It is reported at the most specific place that set
/// one of them.
using ConfigCheck = std::function<void(const Config&)>;

/// A text key of the table whose value, when not empty, names a preset: `text` gives its TOML, or throws UserError.
struct PresetKey {
  std::string key;
  std::function<std::string(const std::string& name)> text;
};

/// Everything a configuration is checked against. Presets are taken in order, before the file; one may name the next.
struct ConfigSchema {
  ParamTable table;
  std::vector<ConfigRule> rules = {};
  std::vector<PresetKey> presets = {};
  std::vector<ConfigCheck> checks = {};
  /// Values that follow from all that presets, text and settings ask for, as TOML; they stand below all of these. `derived_name` says
  /// where they are from.
  std::function<std::string(const Config& asked)> derived = {};
  std::string derived_name = {};
  /// Returns a kept Config(table), so that a long table is read once.
  std::function<const Config&()> standard = {};
};

/// Defaults < derived values < preset < text < settings ("key=value", what follows --set). All problems are thrown at once in one
/// UserError, a line each: "name:line:column: key = value (rule)". Used with a dump to resume a checkpoint.
Config parse_config(const ConfigSchema& schema, const std::string& name, const std::string& text,
                    const std::vector<std::string>& settings = {});

/// Reads a file as parse_config() does a text.
Config load_config(const ConfigSchema& schema, const std::string& path, const std::vector<std::string>& settings = {});

/// Runs a check on a configuration that was read: its UserError has each line placed, as the checks of a schema have.
void check_placed(const Config& config, const ConfigCheck& check);

/// Every broken rule as "where: key = value (rule)"; for configurations changed by set_from_text (sweeps).
std::vector<std::string> broken_rules(const ConfigSchema& schema, const Config& config);

}  // namespace nudge
