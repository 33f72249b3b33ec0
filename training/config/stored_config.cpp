// SPDX-License-Identifier: Apache-2.0
#include "training/config/stored_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "devices/device_config.hpp"
#include "sim/base/errors.hpp"
#include "training/config/config_table.hpp"
#include "training/config/hardware.hpp"
#include "training/config/input_files.hpp"
#include "training/learning/controller.hpp"
#include "training/models/model_options.hpp"

namespace nudge {
namespace {

/// What no file's kind reads any more: keys of the command `experiment`, which every file of its time holds.
std::string without_experiment(std::string text) {
  const std::string header = "\n[experiment]\n";
  const std::size_t begin = text.find(header);
  if (begin == std::string::npos) return text;
  const std::size_t end = text.find("\n[", begin + header.size());
  return text.erase(begin, end == std::string::npos ? end : end - begin);
}

/// Nor keys that had a value of the same meaning before rules were values of crossbar.update.
std::string without_scheme(std::string text) {
  for (const std::string line : {"\nscheme = \"single\"", "\nfast_share = 0"}) {
    const std::size_t begin = text.find(line);
    if (begin == std::string::npos) continue;
    const std::size_t end = text.find('\n', begin + 1);
    text.erase(begin, end == std::string::npos ? end : end - begin);
  }
  return text;
}

/// The value of a key of a section, as it is written; empty: it is not there.
std::string written(const std::string& text, const std::string& section, const std::string& key) {
  const std::size_t begin = text.find("[" + section + "]\n");
  if (begin == std::string::npos) return "";
  const std::size_t end = text.find("\n[", begin), at = text.find("\n" + key + " = ", begin);
  if (at == std::string::npos || at > end) return "";
  const std::size_t value = at + key.size() + 4;
  return text.substr(value, text.find('\n', value) - value);
}

/// A cost of the program that ran it had no key of its own while systems of that program alone could have one.
bool has_own_cost(const std::string& text) {
  const std::string cost = written(text, "own", "cost");
  return !cost.empty() && cost != "\"\"" && written(text, "network", "cost").empty();
}

/// The text with the first `old` in it written as `now`.
std::string renamed(std::string text, const std::string& old, const std::string& now) {
  const std::size_t begin = text.find(old);
  return begin == std::string::npos ? text : text.replace(begin, old.size(), now);
}

/// True if it was written before the test part had a seed, the last layer an auto and amplifiers a name.
bool of_one_seed(const std::string& text) { return written(text, "data", "test_seed").empty(); }

/// The text of a file of_one_seed() with the words that its values have now. identity was what auto is, but of the layer that a read-out
/// reads.
std::string in_new_words(std::string text) {
  text = renamed(std::move(text), "\namplifier_bandwidth = \"infinite\"", "\namplifier_bandwidth = \"auto\"");
  if (written(text, "hopfield", "cost") == "\"cross_entropy\"") return text;
  return renamed(std::move(text), "\noutput_activation = \"identity\"", "\noutput_activation = \"auto\"");
}

/// Gives the keys that such a file has not the values that its run had: the test part was drawn with the rest, amplifiers had no name.
void fill_in(Config& config, const std::string& split) {
  if (!split.empty()) config.set_from_text("data.test_seed", split == "\"seed\"" ? config.as_text("seed") : split);
  config.set_from_text("circuit.amplifier", "none");
  config.set_from_text("circuit.gain_bandwidth", "infinite");
  config.set_from_text("circuit.auto_zero", "false");
}

/// The section [cost] of a file that was written before chips were described, as [chip], which has its keys. Digital weights had none.
std::string with_chip(std::string text) {
  const std::string header = "\n[cost]\n";
  const std::size_t begin = text.find(header);
  if (begin == std::string::npos) return text;
  const std::string model = written(text, "device", "model");
  if (!model.empty() && model != "\"digital\"") return text.replace(begin, header.size(), "\n[chip]\n");
  const std::size_t end = text.find("\n[", begin + header.size());
  return text.erase(begin, end == std::string::npos ? end : end - begin);
}

}  // namespace

Config stored_program_config(const H5Reader& file) {
  return stored_program_config(file.name(), file.text_attribute("config"));
}

Config stored_program_config(const std::string& name, const std::string& stored) {
  const bool older = of_one_seed(stored);
  std::string text = with_chip(without_scheme(without_experiment(stored)));
  text = renamed(std::move(text), "[hardware]\nlevel = \"physical\"", "[hardware]\nlevel = \"mixed\"");
  text = renamed(std::move(text), "\nnull = \"none\"", "\nnull = \"off\"");
  if (older) text = in_new_words(std::move(text));
  std::vector<std::string> settings;
  if (text.find("[hardware]") == std::string::npos) settings.emplace_back("hardware.level=ideal");
  if (has_own_cost(text)) settings.emplace_back("network.cost=own");
  Config config = parse_config(program_schema(), name + " (stored config)", text, settings);
  if (older) fill_in(config, written(text, "data", "split_seed"));
  return config;
}

Config config_on_top(const Config& stored, const std::string& name, const std::vector<std::string>& settings) {
  const bool digital = !on_devices(stored);
  const bool other_devices = std::any_of(settings.begin(), settings.end(), [](const std::string& setting) {
    return setting.starts_with("device.preset=") || setting.starts_with("device.model=");
  });
  const auto sets = [&settings](const std::string& key) {
    return std::any_of(settings.begin(), settings.end(),
                       [&](const std::string& s) { return s.starts_with(key + "="); });
  };
  // Other volts of a tabulated device cross its window in another number of pulses.
  const bool tables = std::any_of(settings.begin(), settings.end(), [](const std::string& setting) {
    return setting.starts_with("device.memristor_table.");
  });
  // Another amplifier brings its own values, another gain-bandwidth another bandwidth.
  const bool amplifier = sets("circuit.amplifier");
  const std::vector<std::string> given = amplifier_keys();
  const auto follows = [&](const std::string& key) {
    if (key == "device.pulses") return tables && !sets("device.pulses");
    if (key == "circuit.amplifier_bandwidth") return amplifier || sets("circuit.gain_bandwidth");
    return amplifier && std::find(given.begin(), given.end(), key) != given.end();
  };
  std::string text;
  for (const std::string& key : stored.keys()) {
    if (follows(key)) continue;
    if (find_row(stored.table(), key)->kind == ParamKind::grid) continue;
    const bool kept = digital ? !stored.at_default(key) : true;
    if (kept && !(other_devices && key.starts_with("device."))) {
      text += fmt::format("{} = {}\n", key, stored.as_toml(key));
    }
  }
  // Choices behind the record: what they left idle in it stays there.
  std::vector<std::string> all = settings;
  all.insert(all.end(), {"network.kind=" + stored.text("network.kind"), "task.kind=" + stored.text("task.kind")});
  return parse_program_config(name + " (stored config)", text, all);
}

namespace {

/// Damping that control had come to in the run of a weights file; nothing where the file is of no such run.
std::optional<double> learnt_damping(const std::string& weights) {
  const bool other = weights.ends_with(".npz") || weights.ends_with(".safetensors");
  if (weights.empty() || other || !std::filesystem::exists(weights)) return std::nullopt;  // or what reads them says so
  const H5Reader run(weights);
  if (!run.has("train/damping") || !run.has_attribute("config")) return std::nullopt;
  const std::vector<double> damping = run.reals<double>("train/damping");
  if (damping.empty() || !stabiliser_section().read(stored_program_config(run)).control) return std::nullopt;
  return damping.back();
}

}  // namespace

Config with_learnt_damping(Config config) {
  const std::string key = "model.damping", weights = model_options(config).weights;
  if (config.origin(key).layer == Layer::option || !network_reads(config, key)) return config;
  const std::optional<double> damping = learnt_damping(weights);
  if (!damping) return config;
  config.set_from_text(key, fmt::format("{}", *damping), learnt_damping_origin + weights);
  if (const auto broken = broken_rules(program_schema(), config); !broken.empty())
    throw UserError(fmt::format("{}", fmt::join(broken, "\n")));
  return config;
}

std::vector<std::string> trained_settings(const Config& stored, const std::string& weights) {
  std::vector<std::string> settings = {"model.weights=" + weights};
  if (stabiliser_section().read(stored).control) settings.emplace_back("damping.control=false");
  return settings;
}

void expect_kind(const H5Reader& file, const std::string& kind, const std::string& use) {
  if (const std::string stored = file.text_attribute("kind"); stored != kind) {
    file.fail("attribute kind", fmt::format("\"{}\" (only a file of kind \"{}\" {})", stored, kind, use));
  }
}

void expect_stored_config(const H5Reader& file, const std::string& kind, const Config& config,
                          const std::function<bool(const std::string& key)>& may_differ) {
  expect_kind(file, kind, "can be resumed by nudge " + kind);
  expect_same_inputs(file, config);
  const Config stored = stored_program_config(file);
  std::string problems;
  for (const auto& d : difference(stored, config)) {
    if (d.key == "threads" || d.key.starts_with("output.") || may_differ(d.key)) continue;
    problems += fmt::format("\n  {}: {} in the file, {} in the config", d.key, d.first, d.second);
  }
  if (problems.empty()) return;
  throw UserError(
      fmt::format("{}: the {} has another config:{}\n"
                  "Resume it with its own config, or start a new one with --out",
                  file.name(), kind, problems));
}

}  // namespace nudge
