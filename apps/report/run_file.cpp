// SPDX-License-Identifier: Apache-2.0
#include "apps/report/run_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "apps/report/page_text.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/sweep/spread.hpp"
#include "training/sweep/sweep_file.hpp"
#include "training/train/null_runs.hpp"

namespace nudge::report {
namespace {

/// Reads numbers; integers are shown as reals.
std::vector<double> numbers(const H5Reader& file, const std::string& dataset) {
  if (file.type(dataset) != H5Type::integer) return file.reals<double>(dataset, H5Shape{-1});
  const std::vector<std::int64_t> values = file.integers(dataset, H5Shape{-1});
  return {values.begin(), values.end()};
}

bool is_real_or_integer(H5Type type) { return type != H5Type::text && type != H5Type::other; }

std::string text_of(const H5Attribute& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  return number(std::get<double>(value));
}

/// Finds the dataset with the x values of /train/NAME, as the file tells it (attribute x). Files of older versions do
/// not: there it is NAME_step, with the stems validation and cosine shared.
std::string steps_of(const H5Reader& file, const std::string& group, const std::string& name) {
  if (file.has_attribute("x", group + "/" + name)) return file.text_attribute("x", group + "/" + name);
  const std::string stem = name.substr(0, name.find('_'));
  for (const auto& candidate : {name + "_step", stem + "_step"}) {
    std::string path = fmt::format("{}/{}", group, candidate);
    if (file.has(path)) return path;
  }
  return group + "/step";
}

Lane load_trainee(const H5Reader& file, const std::string& group) {
  Lane trainee;
  trainee.estimator = file.has_attribute("estimator", group) ? file.text_attribute("estimator", group) : "";
  if (file.has_attribute("network", group)) trainee.network = file.text_attribute("network", group);
  if (file.has_attribute("weights", group)) trainee.size = file.integer_attribute("weights", group);
  for (const auto& name : file.datasets(group)) {
    const std::string path = fmt::format("{}/{}", group, name);
    const bool is_axis = file.has_attribute("role", path) && file.text_attribute("role", path) == "axis";
    const bool is_step =
        is_axis || name == "step" || (name.size() > 5 && name.compare(name.size() - 5, 5, "_step") == 0);
    if (is_step || name == "cosine" || name == "cosine_all" || !is_real_or_integer(file.type(path))) continue;
    if (file.shape(path).size() != 1) continue;  // not a series
    const H5Meaning meaning = file.meaning(path);
    TimeSeries series{numbers(file, steps_of(file, group, name)), numbers(file, path), meaning.unit,
                      meaning.description};
    if (series.x.size() != series.y.size()) {
      file.fail(path, fmt::format("length {} expected as in {}, found {}", series.x.size(), steps_of(file, group, name),
                                  series.y.size()));
    }
    trainee.series.emplace(name, std::move(series));
  }
  trainee.steps = trainee.of("loss").y.size();
  if (const std::string step = group + "/step"; file.has(step) && file.has_attribute("entries", step)) {
    trainee.steps = static_cast<std::size_t>(std::max<std::int64_t>(0, file.integer_attribute("entries", step)));
  }
  if (file.has(group + "/cosine")) {
    trainee.cosine_step = numbers(file, group + "/cosine_step");
    trainee.groups = file.texts(group + "/cosine_groups", H5Shape{-1});
    const H5Shape shape{static_cast<Index>(trainee.cosine_step.size()), static_cast<Index>(trainee.groups.size())};
    trainee.cosine = file.matrix<double>(group + "/cosine", shape);
    if (file.has(group + "/cosine_all")) {
      const std::vector<double> all = numbers(file, group + "/cosine_all");
      if (all.size() != trainee.cosine_step.size()) file.fail(group + "/cosine_all", "as long as cosine_step expected");
      const Matrix<double> groups = trainee.cosine;
      trainee.cosine.resize(groups.rows(), groups.cols() + 1);
      trainee.cosine << Eigen::Map<const Eigen::VectorXd>(all.data(), groups.rows()), groups;
      trainee.groups.insert(trainee.groups.begin(), "all");
    }
  }
  return trainee;
}

bool has_role(const H5Reader& file, const std::string& path, const std::string& role) {
  return file.has_attribute("role", path) && file.text_attribute("role", path) == role;
}

/// Reads the histogram ".../ARRAY/DEVICES/NAME" over the levels that it names.
Histogram histogram_of(const H5Reader& file, const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream in(path);
  for (std::string part; std::getline(in, part, '/');) parts.push_back(part);
  if (parts.size() < 3) file.fail(path, "a histogram stands at ARRAY/DEVICES/NAME");
  const std::string levels = file.text_attribute("x", path);
  Histogram one{parts[parts.size() - 3],        parts[parts.size() - 2], parts.back(),       file.meaning(levels).unit,
                file.meaning(path).description, numbers(file, levels),   numbers(file, path)};
  if (one.level.size() != one.count.size()) file.fail(path, "another length than its axis");
  return one;
}

/// Loads the readings of the arrays over the run, and their final contents.
void load_arrays(const H5Reader& file, const std::string& prefix, Lane& trainee) {
  if (!file.has(prefix + "device")) return;
  for (const std::string& array : file.groups(prefix + "device")) {
    const std::string group = fmt::format("{}device/{}", prefix, array);
    for (const std::string& name : file.datasets(group)) {
      const std::string path = fmt::format("{}/{}", group, name);
      if (!is_real_or_integer(file.type(path)) || file.shape(path).size() != 1 || !file.has_attribute("x", path))
        continue;
      const H5Meaning meaning = file.meaning(path);
      TimeSeries series{numbers(file, file.text_attribute("x", path)), numbers(file, path), meaning.unit,
                        meaning.description};
      if (series.x.size() != series.y.size()) file.fail(path, "another length than its axis");
      trainee.arrays[array].emplace(name, std::move(series));
    }
  }
  for (const auto& [array, readings] : trainee.arrays) {
    const std::string group = fmt::format("{}checkpoint/maps/{}", prefix, array);
    if (!file.has(group)) continue;
    for (const std::string& path : file.all_datasets(group)) {
      const H5Shape shape = file.shape(path);
      if (path.ends_with("g_plus") && shape.size() == 2)
        trainee.array_shapes[array] = {static_cast<Index>(shape[0]), static_cast<Index>(shape[1])};
    }
  }
  for (const std::string& name : file.datasets(prefix + "parameters")) {
    const std::string path = fmt::format("{}parameters/{}", prefix, name);
    const H5Shape shape = file.shape(path);
    const bool held = shape.size() == 2 && has_role(file, path, "array");
    if (held && is_real_or_integer(file.type(path))) trainee.weights.emplace(name, file.matrix<double>(path, shape));
  }
  if (!file.has(prefix + "conductance")) return;
  for (const std::string& path : file.all_datasets(prefix + "conductance")) {
    if (has_role(file, path, "histogram")) trainee.conductances.push_back(histogram_of(file, path));
  }
}

void load_events(const H5Reader& file, const std::string& group, std::size_t trainee, RunFile& run) {
  if (!file.has(group)) return;
  const std::vector<double> steps = numbers(file, group + "/step");
  const std::vector<std::string> texts = file.texts(group + "/text", H5Shape{static_cast<Index>(steps.size())});
  for (std::size_t i = 0; i < steps.size(); ++i) run.events.push_back({trainee, {steps[i], texts[i]}});
  if (!file.has_attribute("left_out", group)) return;
  const std::int64_t left_out = file.integer_attribute("left_out", group);
  run.events_left_out += static_cast<std::size_t>(std::max<std::int64_t>(0, left_out));
}

/// Splits "a, b" as written by a join.
std::vector<std::string> listed(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string one; std::getline(in, one, ',');) {
    const std::size_t begin = one.find_first_not_of(' ');
    if (begin != std::string::npos) out.push_back(one.substr(begin, one.find_last_not_of(' ') - begin + 1));
  }
  return out;
}

/// Lists the measured columns: as the file lists them (attribute results), otherwise every number that is neither key
/// nor seed.
std::vector<std::string> results_of(const H5Reader& file, const std::string& group, const Table& table) {
  const auto is_key = [&](const std::string& name) {
    return std::find(table.keys.begin(), table.keys.end(), name) != table.keys.end();
  };
  std::vector<std::string> names;
  if (file.has_attribute("results", group)) {
    for (const std::string& name : listed(file.text_attribute("results", group))) {
      if (table.numbers.count(name) > 0 && !is_key(name)) names.push_back(name);
    }
    return names;
  }
  for (const auto& [name, values] : table.numbers) {
    if (!is_key(name) && name != "seed") names.push_back(name);
  }
  return results_in_order(names);
}

Table load_table(const H5Reader& file, const std::string& group) {
  Table table;
  bool first = true;
  for (const auto& name : file.datasets(group)) {
    const std::string path = fmt::format("{}/{}", group, name);
    const H5Shape shape = file.shape(path);
    if (shape.size() != 1) continue;
    if (!first && static_cast<std::size_t>(shape[0]) != table.rows) {
      file.fail(path, fmt::format("length {} expected as in the other columns, found {}", table.rows, shape[0]));
    }
    first = false;
    table.rows = static_cast<std::size_t>(shape[0]);
    if (file.type(path) == H5Type::text) table.texts[name] = file.texts(path);
    if (is_real_or_integer(file.type(path))) table.numbers[name] = numbers(file, path);
    table.units[name] = file.meaning(path).unit;
  }
  const std::string owner = file.has_attribute("keys", group) ? group : "/";
  const std::string mode = file.has_attribute("mode", owner) ? file.text_attribute("mode", owner) : "";
  table.one_at_a_time = mode == "one_at_a_time";
  table.scattered = mode == "zip" || mode == "sobol" || mode == "random";
  if (file.has_attribute("keys", owner)) {
    for (const std::string& key : listed(file.text_attribute("keys", owner))) {
      if (table.numbers.count(key) + table.texts.count(key) == 0) file.fail(group, "column " + key + " is missing");
      table.keys.push_back(key);
      const auto texts = table.texts.find(key);
      if (texts == table.texts.end()) continue;
      for (std::string& value : texts->second) value = shown_value(value);
    }
  }
  table.results = results_of(file, group, table);
  return table;
}

using Names = std::vector<std::string>;

/// Loads the table of a group with what its figures are made of; empty where the file has no such group.
Table load_table_with(const H5Reader& file, const std::string& group, const Names& texts, const Names& numbers) {
  if (!file.has(group)) return {};
  Table table = load_table(file, group);
  for (const std::string& name : texts) {
    if (table.texts.count(name) == 0) file.fail(group, "column " + name + " of texts is missing");
  }
  for (const std::string& name : numbers) {
    if (table.numbers.count(name) == 0) file.fail(group, "column " + name + " of numbers is missing");
  }
  return table;
}

/// Of (…, sample, group, step), the curve of a group from the sample at `first` on, averaged.
std::vector<double> mean_curve(const std::vector<double>& values, const H5Shape& shape, Index first, Index group) {
  const Index samples = shape.end()[-3], groups = shape.end()[-2], steps = shape.end()[-1];
  std::vector<double> mean(static_cast<std::size_t>(steps), 0.0);
  for (Index s = 0; s < samples; ++s) {
    for (Index t = 0; t < steps; ++t) {
      const auto at = static_cast<std::size_t>(((first + s) * groups + group) * steps + t);
      mean[static_cast<std::size_t>(t)] += values[at] / static_cast<double>(samples);
    }
  }
  return mean;
}

std::vector<StepCurves> load_steps(const H5Reader& file) {
  std::vector<StepCurves> out;
  if (!file.has("record/update")) return out;
  const std::vector<std::string> estimators = file.texts("record/estimator"), groups = file.texts("record/group");
  const auto size = [](const auto& list) { return static_cast<Index>(list.size()); };
  const Index samples = file.shape("record/sample").at(0);
  const H5Shape shape{size(estimators), samples, size(groups), -1};
  const std::vector<double> update = file.reals<double>("record/update", shape);
  const H5Shape found = file.shape("record/update");
  const std::vector<double> bptt = file.reals<double>("record/bptt", H5Shape{samples, size(groups), found.back()});
  for (Index g = 0; g < size(groups); ++g) {
    StepCurves one{groups[static_cast<std::size_t>(g)], static_cast<std::size_t>(samples), {}};
    for (Index e = 0; e < size(estimators); ++e) {
      one.of_steps.emplace_back(estimators[static_cast<std::size_t>(e)], mean_curve(update, found, e * samples, g));
    }
    one.of_steps.emplace_back("bptt", mean_curve(bptt, found, 0, g));
    out.push_back(std::move(one));
  }
  return out;
}

void load_facts(const H5Reader& file, RunFile& run) {
  const std::vector<std::string> order{"nudge_version", "started", "wall_time_s", "seed",     "precision",
                                       "threads",       "machine", "compiler",    "libraries"};
  std::vector<std::string> names;
  for (const auto& name : order) {
    if (file.has_attribute(name)) names.push_back(name);
  }
  for (const auto& name : file.attributes()) {
    const bool known = std::find(order.begin(), order.end(), name) != order.end();
    if (!known && name != "kind" && name != "config" && name != "keys") names.push_back(name);
  }
  for (const auto& name : names) run.facts.emplace_back(name, text_of(file.attribute(name)));
}

}  // namespace

std::string Table::unit(const std::string& column) const {
  const auto unit = units.find(column);
  return unit == units.end() ? "" : unit->second;
}

std::string Table::label(const std::string& column) const { return words(column) + unit_in_brackets(unit(column)); }

std::string Table::text(const std::string& key, std::size_t row) const {
  const auto real = numbers.find(key);
  return real == numbers.end() ? texts.at(key)[row] : number(real->second[row]);
}

double TimeSeries::last_finite() const {
  for (std::size_t i = y.size(); i-- > 0;) {
    if (std::isfinite(y[i])) return y[i];
  }
  return std::numeric_limits<double>::quiet_NaN();
}

const TimeSeries& Lane::of(const std::string& name) const {
  static const TimeSeries none;
  const auto at = series.find(name);
  return at == series.end() ? none : at->second;
}

double Lane::count(const std::string& kind) const {
  if (const double all = of(kind + "_so_far").last_finite(); std::isfinite(all)) return all;
  double total = 0;  // of a file of an older version, which has every step
  for (const double v : of(kind).y) total += std::isfinite(v) ? v : 0;
  return total;
}

namespace {

std::optional<NullVerdict> load_null(const H5Reader& file) {
  if (!file.has("null") || !file.has_attribute("verdict", "null")) return std::nullopt;
  const bool known = file.has_attribute("devices_learnt", "null");
  return NullVerdict{file.text_attribute("verdict", "null"),
                     known ? std::optional(file.integer_attribute("devices_learnt", "null") != 0) : std::nullopt};
}

PlateauFacts load_plateau(const H5Reader& file) {
  const auto real = [&](const char* name) { return file.real_attribute(name, "train"); };
  PlateauFacts out{file.text_attribute("plateau_text", "train"),
                   real("plateau_slope"),
                   real("plateau_low"),
                   real("plateau_high"),
                   {}};
  if (file.has_attribute("plateau_reached", "train"))
    out.reached = file.integer_attribute("plateau_reached", "train") != 0;
  return out;
}

}  // namespace

RunFile load_run_file(const std::filesystem::path& path) {
  const H5Reader file(path);
  RunFile run;
  run.name = path.filename().string();
  run.path = path;
  run.kind = file.has_attribute("kind") ? file.text_attribute("kind") : "";
  const auto kinds = {"train", "gradcheck", "sweep", "spec", "compare", "crossbar", "test", "characterize"};
  if (std::find(kinds.begin(), kinds.end(), run.kind) == kinds.end()) {
    file.fail("/", fmt::format("is not a result file of nudge {} or devices characterize (attribute kind: {})",
                               fmt::join(kinds.begin(), kinds.end() - 1, ", "),
                               run.kind.empty() ? "missing" : "\"" + run.kind + "\""));
  }
  run.config = file.has_attribute("config") ? file.text_attribute("config") : "";
  load_facts(file, run);
  std::vector<std::string> lanes{"", "beside", "null"};
  for (const NullKind& null : null_kinds()) lanes.push_back(null.lane());
  for (const std::string& lane : lanes) {
    const std::string prefix = lane.empty() ? "" : lane + "/";
    if (!file.has(prefix + "train")) continue;
    run.trainees.push_back(load_trainee(file, prefix + "train"));
    run.trainees.back().lane = lane;
    load_arrays(file, prefix, run.trainees.back());
    load_events(file, prefix + "events", run.trainees.size() - 1, run);
    for (const std::string part : {"validation", "test"}) {
      if (const auto counts = ConfusionMatrix::read(fmt::format("{}confusion/{}", prefix, part), file))
        run.trainees.back().confusion.emplace(part, *counts);
    }
  }
  run.null = load_null(file);
  if (file.has("train") && file.has_attribute("plateau_text", "train")) run.plateau = load_plateau(file);
  run.stages = load_table_with(file, "stages", {"stage", "home", "how"}, {});
  if (file.has_attribute("failure")) run.failure = file.text_attribute("failure");
  if (file.has_attribute("ideal_parts")) run.ideal_parts = file.text_attribute("ideal_parts");
  run.rows = load_table_with(file, "rows", {}, {});
  run.points = load_table_with(file, "points", {}, {});
  run.steps = load_steps(file);
  run.equilibrium = equilibrium_of(file);
  run.reference_failure = reference_failure(file);
  if (run.kind == "gradcheck") run.errors = gradient_errors(file);
  run.arrays = load_table_with(file, "arrays", {}, {});
  run.tuning = load_table_with(file, "tuning", {"entrant", "status"}, {"seed", "validation_loss"});
  run.test = load_table_with(file, "test", {"entrant", "status"}, {"seed"});
  for (const char* table : {"points", "tuning", "test"}) {
    const std::string count = outside_count(outside_group(table));
    if (file.has_attribute(count))
      run.outside += static_cast<std::size_t>(std::max<std::int64_t>(0, file.integer_attribute(count)));
  }
  run.entrants =
      load_table_with(file, "entrants", {"name", "chosen", "edges"},
                      {"runs", "failed", "validation_mean", "validation_deviation", "test_mean", "test_deviation",
                       "difference_mean", "difference_low", "difference_high", "skipped", "nonfinite"});
  if (file.has("entrants") && file.has_attribute("intervals_hold", "entrants"))
    run.intervals_hold = file.text_attribute("intervals_hold", "entrants");
  run.lines = read_text_lines(file);
  run.references = read_reference_scores(file);
  if (run.kind == "characterize") run.device = load_device_pictures(file);
  const bool of_netlist = std::any_of(run.trainees.begin(), run.trainees.end(),
                                      [](const Lane& lane) { return lane.lane.empty() && lane.network == "netlist"; });
  if (run.kind == "train" && of_netlist) run.circuit = load_circuit(path);
  if (run.kind == "crossbar") run.arrays_read = load_array_pictures(file);
  return run;
}

}  // namespace nudge::report
