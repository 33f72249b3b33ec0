// SPDX-License-Identifier: Apache-2.0
#include "training/config/set_by.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "devices/device_config.hpp"
#include "sim/base/product.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_options.hpp"
#include "training/config/stored_config.hpp"
#include "training/data/sample_task.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/models/hopfield/hopfield_config.hpp"
#include "training/models/model_options.hpp"
#include "training/models/netlist/netlist_plan.hpp"

namespace nudge {
namespace {

/// True if a study gives the key its values.
bool varies(const Config& config, const std::string& key) {
  const auto in = [&](const char* grid) { return config.find_origin(std::string(grid) + key) != nullptr; };
  return in("sweep.grid.") || in("compare.grid.") || in("spec.range.");
}

}  // namespace

std::string set_by(const Config& config, const std::string& key) {
  const Origin& origin = config.origin(key);
  if (origin.layer != Layer::preset) return origin.where;
  // The place in the text of a preset or level, ":16:1", which nobody sees.
  const std::string name = origin.where.substr(0, origin.where.find(':'));
  return find_row(config.table(), name) != nullptr ? fmt::format("{} = {}", name, config.as_text(name)) : name;
}

namespace {

std::string cost_of(const NodeReadout& readout) {
  if (readout.cost != nullptr) return "the network's own cost";
  return readout.parameter >= 0 ? "cross-entropy" : "half the squared error";
}

std::string output_activation(const Config& c) {
  const HopfieldOptions options = hopfield_section().read(c);
  return options.cost == "squared_error" ? "identity" : options.activation;
}

std::string beta_of(const Config& c) {
  const std::string& estimator = run_options(c).estimator;
  const bool wide = run_options(c).double_precision();
  return fmt::format("{:g}", wide ? default_beta<double>(estimator) : default_beta<float>(estimator));
}

/// Value of a key that is left open, where one value holds for the whole run; else empty.
std::string resolved_value(const Config& c, const std::string& key, const RunParts* parts) {
  const bool circuit = parts != nullptr && parts->plan != nullptr;
  if (key == "product.kernel") return product_kernel_name();
  if (key == "data.classes" && parts != nullptr) return std::to_string(parts->task->sizes().classes);
  if (key == "data.side_by_side") return std::to_string(samples_side_by_side(c));
  if (key == "network.cost" && circuit) return cost_of(parts->plan->readout());
  if (key == "hopfield.output_activation") return output_activation(c);
  if (key == "crossbar.w_max" && draws_memristors(c)) return "from the conductances that the netlist draws";
  if (key == "crossbar.verify_limit") return fmt::format("{:g}", 2 * device_spec(c).pulses);
  if (key == "relaxation.step") return fmt::format("{:g}", RelaxationStep(c).at(model_options(c).damping));
  if (key == "beta") {
    const bool measured = on_devices(c) && c.text("hardware.level") != "ideal";
    return measured && parts == nullptr ? "chosen by each run for its signal-to-noise" : beta_of(c);
  }
  return "";
}

/// The rule of auto as the documentation of the key has it: what stands behind "auto: ", up to the end of the clause.
std::string rule_of(const Config& config, const std::string& key) {
  const std::string& doc = find_row(config.table(), key)->doc;
  const std::string mark = "auto: ";
  const std::size_t at = doc.find(mark);
  if (at == std::string::npos) return "";
  const std::string rule = doc.substr(at + mark.size());
  const std::size_t end = std::min({rule.find("; "), rule.find(". "), rule.size()});
  return rule.substr(0, rule[end - 1] == '.' ? end - 1 : end);
}

/// True if no part of this run asks the key, though some training of the config may: what converters without bits,
/// nodes without amplifiers and runs outside a sweep have.
bool is_idle(const Config& c, const std::string& key) {
  const std::string range = "_range", bandwidth = "circuit.amplifier_bandwidth";
  if (key.ends_with(range)) {
    const std::string bits = key.substr(0, key.size() - range.size()) + "_bits";
    if (find_row(c.table(), bits) != nullptr && c.as_text(bits) == "ideal") return true;
  }
  if (key == bandwidth) return !leaves_bandwidth_open(c);
  if (key.starts_with("sweep.")) return c.grid("sweep.grid").empty();
  return !on_devices(c) && (key.starts_with("crossbar.") || key.starts_with("circuit.") || key == "train.null");
}

/// Value of a key that the program decides.
GivenValue decided(const Config& made, const Config& asked, const std::string& key, const RunParts* parts) {
  GivenValue one{"auto", key, made.as_text(key), ""};
  if (one.value != asked.as_text(key)) {
    const std::string& why = made.origin(key).where;
    one.measured = why != "--set";
    one.reason = one.measured ? why : rule_of(made, key);
    return one;
  }
  one.value = resolved_value(made, key, parts);
  const bool drawn = key == "crossbar.w_max" && !one.value.empty();  // the rule is that of arrays of weights
  one.reason = drawn ? "" : rule_of(made, key);
  if (one.value.empty()) std::swap(one.value, one.reason);
  if (one.value.empty()) one.value = "auto";
  return one;
}

}  // namespace

std::vector<GivenValue> given_values(const Config& asked, const Config& made, const RunParts* parts) {
  std::vector<GivenValue> given, open;
  for (const std::string& key : asked.keys()) {
    const Origin& origin = asked.origin(key);
    const bool is_learnt = origin.where.starts_with(learnt_damping_origin);
    const bool is_preset = is_learnt || (origin.layer == Layer::preset && !asked.at_default(key));
    const bool is_open = asked.as_text(key) != made.as_text(key) || asked.as_text(key) == "auto";
    if (!(is_preset || is_open) || varies(asked, key) || !training_reads(asked, key)) continue;
    const bool of_train_alone = key == "train.null" && parts == nullptr;  // studies have none
    if (is_open && (is_idle(asked, key) || of_train_alone)) continue;
    if (is_open) {
      open.push_back(decided(made, asked, key, parts));
    } else {
      given.push_back({set_by(asked, key), key, asked.as_text(key), ""});
    }
  }
  std::stable_sort(given.begin(), given.end(), [](const GivenValue& a, const GivenValue& b) { return a.by < b.by; });
  given.insert(given.end(), open.begin(), open.end());
  return given;
}

void write_given(const std::vector<GivenValue>& values, H5Document& document) {
  if (values.empty()) return;
  std::vector<std::string> key, value, by, reason;
  for (const GivenValue& one : values) {
    key.push_back(one.key);
    value.push_back(one.value);
    by.push_back(one.by);
    reason.push_back(one.reason);
  }
  document.column("given/key", key, {"1", "keys that the user did not set and the run reads", {"given"}});
  document.column("given/value", value, {"1", "their values", {"given"}});
  document.column("given/by", by, {"1", "source of the value: a preset, a level, or auto", {"given"}});
  document.column("given/reason", reason, {"1", "why auto has this value", {"given"}});
}

std::vector<GivenValue> read_given(const H5Reader& file) {
  std::vector<GivenValue> values;
  if (!file.has("given/key")) return values;
  const auto key = file.texts("given/key", H5Shape{-1});
  const H5Shape shape{static_cast<Index>(key.size())};
  const auto value = file.texts("given/value", shape), by = file.texts("given/by", shape);
  const auto reason = file.texts("given/reason", shape);
  for (std::size_t i = 0; i < key.size(); ++i) values.push_back({by[i], key[i], value[i], reason[i]});
  return values;
}

}  // namespace nudge
