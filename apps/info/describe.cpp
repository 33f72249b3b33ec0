// SPDX-License-Identifier: Apache-2.0
#include "apps/info/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/info/gradient_errors.hpp"
#include "apps/report/run_file.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/config/toml_reader.hpp"
#include "sim/equilibrium.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/config/config_table.hpp"
#include "training/config/stored_config.hpp"

namespace nudge {

namespace {

using Json = nlohmann::ordered_json;

/// Keys that tell runs apart at a glance; `nudge report` and the attribute `config` have all.
constexpr std::array essentials{"network.kind",
                                "task.kind",
                                "estimator",
                                "beta",
                                "model.channels",
                                "model.tokens",
                                "model.memories",
                                "model.heads",
                                "hopfield.hidden",
                                "device.preset",
                                "device.model",
                                "hardware.level",
                                "data.text",
                                "data.file",
                                "train.steps",
                                "train.batch",
                                "seed"};

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// Those of a config's values that its own training reads: a default that nothing reads tells nothing of a run. Of a config that this
/// version cannot read, those that stand in it.
Json config_essentials(const std::string& name, const std::string& text) {
  Json out = Json::object();
  try {
    const Config config = stored_program_config(name, text);
    for (const char* key : essentials) {
      if (training_reads(config, key) && !config.as_text(key).empty()) out[key] = config.as_text(key);
    }
    return out;
  } catch (const UserError&) {
  }
  try {
    const std::vector<RawEntry> entries = read_toml(text, "config");
    for (const char* key : essentials) {
      for (const RawEntry& entry : entries) {
        if (entry.key != key) continue;
        out[key] = entry.value.kind == RawValue::Kind::text ? entry.value.text : show(entry.value);
      }
    }
  } catch (const UserError&) {
    out["error"] = "the stored config is not valid TOML";
  }
  return out;
}

/// Sum of the last values of a reading over all arrays, both arrays of a matrix ("fast_pulses_up"); nothing where no
/// file tells.
std::optional<double> sum_of_reading(const report::Lane& trainee, const std::string& reading) {
  std::optional<double> sum;
  for (const auto& [matrix, readings] : trainee.arrays) {
    for (const auto& [name, series] : readings) {
      if (name == reading || name == "slow_" + reading || name == "fast_" + reading)
        sum = sum.value_or(0) + series.last_finite();
    }
  }
  return sum;
}

/// Adds the pulses sent to the arrays to write them first, and to learn.
void add_writes(const report::Lane& trainee, Json& out) {
  const auto of = [&](const char* name) { return sum_of_reading(trainee, name); };
  const auto up = of("pulses_up"), down = of("pulses_down"), first = of("programming_pulses");
  const auto heat = of("write_energy"), first_heat = of("programming_energy");
  if (!up || !down || !first || !heat || !first_heat)
    return;  // no arrays, or of a version that did not tell them apart
  out["pulses"] = finite_or_null(*up + *down - *first);
  out["programming_pulses"] = finite_or_null(*first);
  const bool known = *up + *down == 0 || *heat > 0;  // else voltage and width of the device's pulses are not known
  out["write_energy_J"] = known ? finite_or_null(*heat - *first_heat) : Json();
  out["programming_energy_J"] = known ? finite_or_null(*first_heat) : Json();
}

Json trainee_facts(const report::Lane& trainee) {
  const report::TimeSeries& loss = trainee.of("loss");
  Json out;
  if (!trainee.lane.empty()) out["lane"] = trainee.lane;
  if (!trainee.network.empty()) out["network"] = trainee.network;
  if (trainee.size > 0) out["weights"] = trainee.size;
  out["estimator"] = trainee.estimator;
  out["steps"] = trainee.steps;
  out["last_step"] = finite_or_null(loss.x.empty() ? std::nan("") : loss.x.back());
  out["loss"] = finite_or_null(loss.last_finite());
  for (const char* name : {"validation_loss", "test_loss", "validation_accuracy", "test_accuracy", "validation_rmse",
                           "test_rmse", "residual", "damping"}) {
    if (!trainee.of(name).empty()) out[name] = finite_or_null(trainee.of(name).last_finite());
  }
  out["skipped"] = trainee.count("skipped");
  out["nonfinite"] = trainee.count("nonfinite");
  add_writes(trainee, out);
  return out;
}

Json plateau_facts(const report::PlateauFacts& plateau) {
  return {{"slope_per_1000_steps", finite_or_null(plateau.slope)},
          {"low", finite_or_null(plateau.low)},
          {"high", finite_or_null(plateau.high)},
          {"reached", plateau.reached ? Json(*plateau.reached) : Json(nullptr)},
          {"text", plateau.text}};
}

Json attribute_value(const H5Attribute& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

Json datasets_of(const H5Reader& file) {
  Json out = Json::array();
  for (const auto& path : file.all_datasets()) {
    const H5Meaning meaning = file.meaning(path);
    Json one;
    one["name"] = path;
    one["type"] = to_string(file.type(path));
    one["shape"] = file.shape(path);
    one["dimensions"] = meaning.dimensions;
    one["unit"] = meaning.unit;
    one["description"] = meaning.description;
    out.push_back(std::move(one));
  }
  return out;
}

/// Shares and sentence of the last verdict on the free phases (sim/equilibrium_json.hpp); null where a file has none.
Json equilibrium_facts(const H5Reader& file) {
  const std::string verdict = equilibrium_of(file);
  if (verdict.empty()) return nullptr;
  Json out;
  for (const char* share : {"settled", "lost", "unstable", "dead"}) {
    const std::string name = std::string("equilibrium_") + share;
    double value = Equilibrium::unknown;
    if (file.has("train/" + name)) {
      const std::vector<double> all = file.reals<double>("train/" + name);
      if (!all.empty()) value = all.back();
    } else if (file.has("diagnostics") && file.has_attribute(name, "diagnostics")) {
      value = file.real_attribute(name, "diagnostics");
    }
    out[share] = finite_or_null(value);
  }
  const std::string ended = "equilibrium_ended";
  if (file.has("train/" + ended)) {
    const std::vector<double> all = file.reals<double>("train/" + ended);
    if (!all.empty()) out["ended"] = to_string(static_cast<Status>(static_cast<int>(all.back())));
  } else if (file.has("diagnostics") && file.has_attribute(ended, "diagnostics")) {
    out["ended"] = file.text_attribute(ended, "diagnostics");
  }
  out["verdict"] = verdict;
  return out;
}

Json describe(const std::filesystem::path& path) {
  const H5Reader file(path);
  Json out;
  out["file"] = path.string();
  out["kind"] = file.has_attribute("kind") ? file.text_attribute("kind") : "unknown";
  out["attributes"] = Json::object();
  for (const auto& name : file.attributes()) {
    if (name != "kind" && name != "config" && name != "equilibrium")
      out["attributes"][name] = attribute_value(file.attribute(name));
  }
  const std::string kind = out["kind"];
  if (kind == "train" || kind == "gradcheck" || kind == "sweep" || kind == "spec" || kind == "compare") {
    const report::RunFile run = report::load_run_file(path);
    out["config"] = config_essentials(path.string(), run.config);
    if (kind == "train") {
      out["lanes"] = Json::array();
      for (const auto& trainee : run.trainees) out["lanes"].push_back(trainee_facts(trainee));
      if (run.null) {
        out["devices_learnt"] = run.null->learnt ? Json(*run.null->learnt) : Json(nullptr);
        out["verdict"] = run.null->text;
      }
      if (run.plateau) out["plateau"] = plateau_facts(*run.plateau);
      if (run.stages.rows > 0) {
        out["digital"] = Json::array();
        for (std::size_t i = 0; i < run.stages.rows; ++i) {
          if (run.stages.texts.at("home")[i] == "digital") out["digital"].push_back(run.stages.texts.at("stage")[i]);
        }
      }
      out["events"] = run.events.size() + run.events_left_out;
    }
    if (kind == "gradcheck") out["rows"] = run.rows.rows;
    if (kind == "compare")
      out["entrants"] = run.entrants.texts.count("name") > 0 ? Json(run.entrants.texts.at("name")) : Json::array();
    if (kind == "sweep" || kind == "spec") {
      out["keys"] = run.points.keys;
      out["points"] = run.points.rows;
    }
  }
  if (Json verdict = equilibrium_facts(file); !verdict.is_null()) out["equilibrium"] = std::move(verdict);
  out["datasets"] = datasets_of(file);
  return out;
}

/// Shows a value on one line, whatever the file says.
std::string plain(const Json& value) {
  if (value.is_string()) return printable_line(value.get<std::string>());
  if (value.is_null()) return "none";
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return json_text(value);
}

std::string section(const Json& values) {
  std::string out;
  for (const auto& [key, value] : values.items())
    out += fmt::format("  {:<20} {}\n", printable_line(key), plain(value));
  return out;
}

std::string as_text(const Json& all) {
  std::string out = fmt::format("{}: {}\n{}", plain(all["file"]), plain(all["kind"]), section(all["attributes"]));
  if (all.contains("config")) out += "config\n" + section(all["config"]);
  if (all.contains("lanes")) {
    for (const auto& trainee : all["lanes"]) out += "trained\n" + section(trainee);
  }
  if (all.contains("plateau")) out += "plateau\n" + section(all["plateau"]);
  if (all.contains("equilibrium")) out += "equilibrium\n" + section(all["equilibrium"]);
  for (const char* key : {"devices_learnt", "verdict", "digital", "events", "rows", "keys", "points", "entrants"}) {
    if (all.contains(key)) out += fmt::format("{}: {}\n", key, plain(all[key]));
  }
  out += "datasets\n";
  std::size_t width = 0;
  for (const auto& data : all["datasets"]) width = std::max(width, plain(data["name"]).size());
  for (const auto& data : all["datasets"]) {
    const std::string unit = plain(data["unit"]);
    out += fmt::format("  {:<{}}  {:<8} {:<14} {:<6} {}\n", plain(data["name"]), width, plain(data["type"]),
                       to_string(data["shape"].get<H5Shape>()), unit.empty() ? "-" : unit, plain(data["description"]));
  }
  return out;
}

}  // namespace

std::string describe_run_file(const std::filesystem::path& path, DescribeFormat format) {
  const Json all = describe(path);
  return format == DescribeFormat::json ? json_text(all, 2) + "\n" : as_text(all);
}

}  // namespace nudge
