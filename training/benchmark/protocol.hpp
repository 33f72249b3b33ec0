// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "training/compare/advice.hpp"

namespace nudge {

/// Network and task that every device is tried on. Its config is training/benchmark/NAME.toml, compiled into the
/// program.
struct BenchmarkNetwork {
  std::string name, summary;
  std::string_view config;
};
const std::vector<BenchmarkNetwork>& benchmark_networks();

/// Protocol that all devices of a benchmark share: networks, update rules, and the settings that follow the config of
/// each network (sizes, seeds, the rates to choose from). Results of two devices are ranked together only if their
/// protocols have one digest.
struct BenchmarkProtocol {
  std::string name;  ///< "full" or "short"
  std::vector<std::string> networks, rules, settings;

  /// Digest of the configs of the networks, the rules and the settings: 16 hexadecimal digits. Keys that change no
  /// result (data.folder, threads, sweep.parallel, output.*) do not count.
  std::string digest() const;
};

/// Five seeds, eight rules, all networks; four rates to choose from.
BenchmarkProtocol full_benchmark();
/// Five seeds, two rules, one small network; three rates to choose from.
BenchmarkProtocol short_benchmark();

/// Replaces networks and rules by those that are named; none: as they are. UserError with the known names.
void choose_parts(BenchmarkProtocol& protocol, const std::vector<std::string>& networks,
                  const std::vector<std::string>& rules);

/// Adds settings for all devices. UserError: a key of the device, or the update rule.
void add_settings(BenchmarkProtocol& protocol, const std::vector<std::string>& settings);

/// Device of a benchmark: a published one by its preset, or the user's by the settings of a file.
struct BenchmarkDevice {
  std::string name;                   ///< preset, or the file's name without folder and ".toml"
  std::vector<std::string> settings;  ///< "device.preset=ecram"
};

/// Device of a preset or a TOML file with [device]. UserError: no preset and no file, a file with errors, a file that
/// sets keys outside [device], which would change the benchmark, or none in it.
BenchmarkDevice benchmark_device(const std::string& preset_or_file);
/// Devices of all presets.
std::vector<BenchmarkDevice> benchmark_presets();

/// Comparison of one device on one network: what run_compare() takes, and the rules that the device cannot have.
struct BenchmarkPart {
  BenchmarkDevice device;
  std::string network;
  Advice comparison;
  std::vector<std::string> rules;  ///< rules that are tried
};

/// Parts of a device, one per network. UserError: a config is wrong, or the device can have none of the rules.
std::vector<BenchmarkPart> benchmark_parts(const BenchmarkProtocol& protocol, const BenchmarkDevice& device);

}  // namespace nudge
