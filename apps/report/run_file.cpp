// SPDX-License-Identifier: Apache-2.0
#include "apps/report/run_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "apps/report/page_text.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge::report {

namespace {

/// Integers are shown as reals.
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

/// The dataset with the x values of /train/NAME, as the file says (attribute x); files of older versions do not: NAME_step, with
/// the stems validation and cosine shared.
std::string steps_of(const H5Reader& file, const std::string& group, const std::string& name) {
  if (file.has_attribute("x", group + "/" + name)) return file.text_attribute("x", group + "/" + name);
  const std::string stem = name.substr(0, name.find('_'));
  for (const auto& candidate : {name + "_step", stem + "_step"}) {
    if (file.has(group + "/" + candidate)) return group + "/" + candidate;
  }
  return group + "/step";
}

Trainee load_trainee(const H5Reader& file, const std::string& group) {
  Trainee trainee;
  trainee.estimator = file.has_attribute("estimator", group) ? file.text_attribute("estimator", group) : "";
  for (const auto& name : file.datasets(group)) {
    const std::string path = group + "/" + name;
    const bool is_axis = file.has_attribute("role", path) && file.text_attribute("role", path) == "axis";
    const bool is_step =
        is_axis || name == "step" || (name.size() > 5 && name.compare(name.size() - 5, 5, "_step") == 0);
    if (is_step || name == "cosine" || name == "cosine_all" || !is_real_or_integer(file.type(path))) continue;
    if (file.shape(path).size() != 1) continue;  // not a series
    TimeSeries series{numbers(file, steps_of(file, group, name)), numbers(file, path)};
    if (series.x.size() != series.y.size()) {
      file.fail(path, fmt::format("length {} expected as in {}, found {}", series.x.size(), steps_of(file, group, name),
                                  series.y.size()));
    }
    trainee.series.emplace(name, std::move(series));
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

void load_events(const H5Reader& file, const std::string& group, std::size_t trainee, RunFile& run) {
  if (!file.has(group)) return;
  const std::vector<double> steps = numbers(file, group + "/step");
  const std::vector<std::string> texts = file.texts(group + "/text", H5Shape{static_cast<Index>(steps.size())});
  for (std::size_t i = 0; i < steps.size(); ++i) run.events.push_back({trainee, {steps[i], texts[i]}});
}

Table load_table(const H5Reader& file, const std::string& group) {
  Table table;
  bool first = true;
  for (const auto& name : file.datasets(group)) {
    const std::string path = group + "/" + name;
    const H5Shape shape = file.shape(path);
    if (shape.size() != 1) continue;
    if (!first && static_cast<std::size_t>(shape[0]) != table.rows) {
      file.fail(path, fmt::format("length {} expected as in the other columns, found {}", table.rows, shape[0]));
    }
    first = false;
    table.rows = static_cast<std::size_t>(shape[0]);
    if (file.type(path) == H5Type::text) table.texts[name] = file.texts(path);
    if (is_real_or_integer(file.type(path))) table.numbers[name] = numbers(file, path);
  }
  const std::string owner = file.has_attribute("keys", group) ? group : "/";
  const std::string mode = file.has_attribute("mode", owner) ? file.text_attribute("mode", owner) : "";
  table.one_at_a_time = mode == "one_at_a_time";
  table.scattered = mode == "zip" || mode == "sobol" || mode == "random";
  if (file.has_attribute("keys", owner)) {
    std::istringstream in(file.text_attribute("keys", owner));
    for (std::string key; std::getline(in, key, ',');) {
      const std::size_t begin = key.find_first_not_of(' ');
      if (begin == std::string::npos) continue;
      key = key.substr(begin, key.find_last_not_of(' ') - begin + 1);
      if (table.numbers.count(key) + table.texts.count(key) == 0) file.fail(group, "column " + key + " is missing");
      table.keys.push_back(key);
    }
  }
  return table;
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

double TimeSeries::last_finite() const {
  for (std::size_t i = y.size(); i-- > 0;) {
    if (std::isfinite(y[i])) return y[i];
  }
  return std::numeric_limits<double>::quiet_NaN();
}

const TimeSeries& Trainee::of(const std::string& name) const {
  static const TimeSeries none;
  const auto at = series.find(name);
  return at == series.end() ? none : at->second;
}

double Trainee::sum(const std::string& name) const {
  double total = 0;
  for (const double v : of(name).y) total += std::isfinite(v) ? v : 0;
  return total;
}

RunFile load_run_file(const std::filesystem::path& path) {
  const H5Reader file(path);
  RunFile run;
  run.name = path.filename().string();
  run.kind = file.has_attribute("kind") ? file.text_attribute("kind") : "";
  if (run.kind != "train" && run.kind != "gradcheck" && run.kind != "sweep" && run.kind != "compare") {
    file.fail("/", fmt::format("is not a result of nudge train, gradcheck, sweep or compare (attribute kind: {})",
                               run.kind.empty() ? "missing" : "\"" + run.kind + "\""));
  }
  run.config = file.has_attribute("config") ? file.text_attribute("config") : "";
  load_facts(file, run);
  for (const std::string prefix : {"", "beside/"}) {
    if (!file.has(prefix + "train")) continue;
    run.trainees.push_back(load_trainee(file, prefix + "train"));
    load_events(file, prefix + "events", run.trainees.size() - 1, run);
    for (const std::string part : {"validation", "test"}) {
      if (const auto counts = ConfusionMatrix::read(prefix + "confusion/" + part, file)) {
        run.trainees.back().confusion.emplace(part, *counts);
      }
    }
  }
  if (file.has("rows")) run.rows = load_table(file, "rows");
  if (file.has("points")) run.points = load_table(file, "points");
  for (const auto& [group, table] :
       {std::pair{"tuning", &run.tuning}, std::pair{"test", &run.test}, std::pair{"entrants", &run.entrants}}) {
    if (file.has(group)) *table = load_table(file, group);
  }
  run.lines = read_text_lines(file);
  run.references = read_reference_scores(file);
  return run;
}

}  // namespace nudge::report
