// SPDX-License-Identifier: Apache-2.0
#include "training/benchmark/protocol.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>

#include "devices/presets.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/open_list.hpp"
#include "sim/config/suggest.hpp"
#include "sim/io/descriptor.hpp"
#include "training/config/config_table.hpp"

namespace nudge {

namespace benchmark_texts {
std::string_view hopfield();
std::string_view resistive();
std::string_view transformer();
}  // namespace benchmark_texts

const std::vector<BenchmarkNetwork>& benchmark_networks() {
  static const std::vector<BenchmarkNetwork> networks{
      {"hopfield", "Letter Recognition, 16-256-26", benchmark_texts::hopfield()},
      {"resistive", "Letter Recognition, 100 inner nodes", benchmark_texts::resistive()},
      {"transformer", "characters, one layer with four loops", benchmark_texts::transformer()}};
  return networks;
}

namespace {

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const BenchmarkNetwork& one : benchmark_networks()) names.push_back(one.name);
  return names;
}

std::string setting_key(const std::string& setting) { return setting.substr(0, setting.find('=')); }

/// True for keys that say where and how fast something runs, not what comes out.
bool leaves_results(const std::string& setting) {
  const std::string key = setting_key(setting);
  return key == "data.folder" || key == "threads" || key == "sweep.parallel" || key.starts_with("output.");
}

/// True for settings that a network reads: not those of another network, and data.folder where it has a file of samples.
bool is_of(const std::string& setting, const BenchmarkNetwork& network) {
  const std::string key = setting_key(setting), section = key.substr(0, key.find('.'));
  const std::vector<std::string> names = network_names();
  if (std::find(names.begin(), names.end(), section) != names.end()) return section == network.name;
  return key != "data.folder" ||
         !parse_program_config(network.name, std::string(network.config)).as_text("data.file").empty();
}

void expect_known(const std::string& what, const std::vector<std::string>& names,
                  const std::vector<std::string>& known) {
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw UserError(fmt::format("benchmark: {} {} ({})", what, name, did_you_mean(name, known)));
  }
}

}  // namespace

std::string BenchmarkProtocol::digest() const {
  std::string all = fmt::format("{}\n", fmt::join(rules, " "));
  for (const std::string& one : networks) all += fmt::format("{}\n{}", one, named(benchmark_networks(), one).config);
  for (const std::string& one : settings) all += leaves_results(one) ? "" : one + "\n";
  return fmt::format("{:016x}", fnv_1a(std::as_bytes(std::span(all))));
}

BenchmarkProtocol full_benchmark() {
  return {"full",
          network_names(),
          {"pulses", "write_verify", "accumulate", "residual", "tiki_taka", "ttv2", "c_ttv2", "agad"},
          {"compare.tuning_seeds=[1]", "compare.test_seeds=[11, 12, 13, 14, 15]",
           "compare.grid.train.learning_rate=[1e-3, 3e-3, 9e-3, 2.7e-2]"}};
}

BenchmarkProtocol short_benchmark() {
  return {"short",
          {"hopfield"},
          {"pulses", "write_verify"},
          {"compare.tuning_seeds=[1]", "compare.test_seeds=[11, 12, 13, 14, 15]",
           "compare.grid.train.learning_rate=[1e-3, 3e-3, 9e-3]", "hopfield.hidden=[128]", "train.steps=9000",
           "train.evaluate_every=180"}};
}

void choose_parts(BenchmarkProtocol& protocol, const std::vector<std::string>& networks,
                  const std::vector<std::string>& rules) {
  expect_known("--network", networks, network_names());
  expect_known("--rule", rules, all_rules());
  if (!networks.empty()) protocol.networks = networks;
  if (!rules.empty()) protocol.rules = rules;
}

void add_settings(BenchmarkProtocol& protocol, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const std::string key = setting_key(setting);
    if (key.starts_with("device.")) {
      throw UserError(
          fmt::format("benchmark: {} (--set): all devices would get it. Set it in the file of a device", key));
    }
    if (key == "crossbar.update") {
      throw UserError(
          fmt::format("benchmark: {} (--set): the benchmark tries the rules itself. Name them with --rule", key));
    }
    protocol.settings.push_back(setting);
  }
}

namespace {

bool is_preset(const std::string& name) {
  const auto& all = device_presets();
  return std::any_of(all.begin(), all.end(), [&](const DevicePreset& one) { return one.name == name; });
}

/// Settings of the keys that a file of a device sets.
std::vector<std::string> device_file_settings(const std::string& path) {
  const Config config = load_program_config(path);
  std::vector<std::string> settings;
  for (const std::string& key : config.keys()) {
    const Origin& origin = config.origin(key);
    if (origin.layer != Layer::file) continue;
    if (!key.starts_with("device.")) {
      throw UserError(
          fmt::format("{}: {} (a benchmark takes [device] alone from a file: all devices share the rest). Remove the "
                      "key, or set it for the whole benchmark with --set",
                      origin.where, key));
    }
    settings.push_back(fmt::format("{}={}", key, config.as_text(key)));
  }
  if (settings.empty()) throw UserError(path + ": no key of [device] is set, so there is no device to rank");
  return settings;
}

}  // namespace

BenchmarkDevice benchmark_device(const std::string& given) {
  if (is_preset(given)) return {given, {"device.preset=" + given}};
  if (!std::filesystem::exists(given)) {
    static_cast<void>(given.ends_with(".toml") || device_preset(given).name.empty());  // names the closest presets
    throw UserError(given + ": no such file. Name a file with [device], or a preset (nudge devices list)");
  }
  return {std::filesystem::path(given).stem().string(), device_file_settings(given)};
}

std::vector<BenchmarkDevice> benchmark_presets() {
  std::vector<BenchmarkDevice> all;
  for (const DevicePreset& one : device_presets()) all.push_back(benchmark_device(one.name));
  return all;
}

std::vector<BenchmarkPart> benchmark_parts(const BenchmarkProtocol& protocol, const BenchmarkDevice& device) {
  std::vector<BenchmarkPart> parts;
  for (const std::string& name : protocol.networks) {
    const BenchmarkNetwork& network = named(benchmark_networks(), name);
    ConfigSource source{"benchmark " + name, std::string(network.config), {}};
    std::copy_if(protocol.settings.begin(), protocol.settings.end(), std::back_inserter(source.settings),
                 [&](const std::string& setting) { return is_of(setting, network); });
    source.settings.insert(source.settings.end(), device.settings.begin(), device.settings.end());
    const DeviceMethods methods = device_methods(source, null_kinds(), protocol.rules);
    if (methods.rules.empty()) {
      std::string why;
      for (const RefusedRule& one : methods.refused) why += fmt::format("\n  {}: {}", one.rule, one.why);
      throw UserError(
          fmt::format("{} on {}: no update rule can be tried. Name others with --rule{}", device.name, name, why));
    }
    source.settings.push_back(methods.setting());
    parts.push_back({device, name, {std::move(source), methods.refused}, methods.rules});
  }
  return parts;
}

}  // namespace nudge
