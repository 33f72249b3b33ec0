// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands.hpp"
#include "apps/commands/text_lines.hpp"
#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/equilibrium_json.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"
#include "sim/io/run_record.hpp"
#include "training/sweep/spread.hpp"
#include "training/train/aged_test.hpp"

namespace nudge {
namespace {

struct TestArguments {
  std::string file;
  std::vector<std::string> ages = {"0 s"};
  std::string temperature = {}, refresh = {}, out = {};  ///< values of the options; empty: not given
  AgedTestOptions options;
  bool json = false;
};

std::ptrdiff_t not_finite(const std::vector<double>& values) {
  return std::count_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
}

/// Text "0.0612 ± 0.003": mean and half of the 95 % interval of Student's t over the seeds; no mean if a seed failed.
std::string interval_text(const std::vector<double>& values, const std::function<std::string(double)>& text) {
  if (const auto lost = not_finite(values); lost > 0) return fmt::format("{} of {} not finite", lost, values.size());
  const Spread spread = spread_of_finite(values);
  if (values.size() < 2) return text(spread.mean);
  return fmt::format("{} ± {}", text(spread.mean),
                     text(student_t_half_width(spread.deviation, static_cast<int>(values.size()))));
}

std::string table_of(const AgedTest& test) {
  std::map<double, std::pair<std::vector<double>, std::vector<double>>> by_age;
  for (const AgedTestRow& row : test.rows) {
    by_age[row.age_s].first.push_back(row.loss);
    by_age[row.age_s].second.push_back(row.score);
  }
  std::vector<std::vector<std::string>> cells = {{"age", "loss"}};
  if (!test.metric.empty()) cells.front().push_back(test.metric);
  for (const auto& [age, values] : by_age) {
    cells.push_back({format_quantity(age, Unit::second, 3),
                     interval_text(values.first, [](double x) { return fmt::format("{:.4f}", x); })});
    if (test.metric.empty()) continue;
    cells.back().push_back(interval_text(values.second, [&](double x) { return score_text(test.metric, x); }));
  }
  return text_table(cells, 0);
}

nlohmann::json json_of(const AgedTest& test) {
  nlohmann::json rows = nlohmann::json::array();
  for (const AgedTestRow& row : test.rows) {
    nlohmann::json one = {{"age_s", row.age_s}, {"seed", row.seed}, {"loss", row.loss}, {"residual", row.residual}};
    if (!test.metric.empty()) one[test.metric] = row.score;
    rows.push_back(std::move(one));
  }
  return {{"reprogrammed", test.reprogrammed},        {"refresh_s", test.refresh_s},
          {"temperature_K", test.temperature_K},      {"acceleration", test.acceleration},
          {"equilibrium", json_of(test.equilibrium)}, {"rows", std::move(rows)}};
}

/// Writes the rows to a file that nudge report draws.
void write_file(const TestArguments& arguments, const AgedTest& test, const std::string& started, double wall_s) {
  H5Document file;
  const std::string config = H5Reader(arguments.file).text_attribute("config");
  add_run_record(file, {"test", config, 0, "as the run", 1, started, wall_s});
  file.attribute("run", arguments.file);
  file.attribute("metric", test.metric);
  if (test.equilibrium.known()) file.attribute("equilibrium", sentence(test.equilibrium));
  const auto column = [&](const std::string& name, auto member, const char* unit, const char* description) {
    std::vector<double> values;
    for (const AgedTestRow& row : test.rows) values.push_back(row.*member);
    file.column("rows/" + name, values, {unit, description, {"row"}});
  };
  file.group("rows", "accuracy and loss of the network after a wait, a row per age and seed");
  file.attribute("refresh_s", test.refresh_s, "rows");
  file.attribute("temperature_K", test.temperature_K, "rows");
  column("age", &AgedTestRow::age_s, "s", "time since the devices were first written");
  column("seed", &AgedTestRow::seed, "1", "of devices and noise");
  column("loss", &AgedTestRow::loss, "nat", "mean cost");
  column("residual", &AgedTestRow::residual, "1", "mean |F|/|z| of the states that were read");
  if (!test.metric.empty()) column(test.metric, &AgedTestRow::score, "1", "metric of the task");
  file.write(arguments.out, Overwrite::must_not_exist);
}

ExitCode run_test(TestArguments arguments) {
  const auto start = std::chrono::steady_clock::now();
  const std::string started = now_utc();
  if (!arguments.out.empty()) check_output_path(arguments.out, Overwrite::must_not_exist);
  if (!arguments.refresh.empty()) {
    const Quantity q = read_quantity(arguments.refresh, Unit::second);
    if (!q.problem.empty()) throw UserError(fmt::format("--refresh {}: {}", arguments.refresh, q.problem));
    if (!(q.value > 0)) throw UserError(fmt::format("--refresh {} (must be > 0 s)", arguments.refresh));
    arguments.options.refresh_s = q.value;
  }
  arguments.options.ages_s.clear();
  for (const std::string& age : arguments.ages) {
    try {
      arguments.options.ages_s.push_back(parse_quantity(age, Unit::second));
    } catch (const UserError& error) {
      throw UserError(fmt::format("--age {}: {}", age, error.what()));
    }
  }
  if (!arguments.temperature.empty()) {
    const Quantity q = read_quantity(arguments.temperature, Unit::kelvin);
    if (!q.problem.empty()) throw UserError(fmt::format("--temperature {}: {}", arguments.temperature, q.problem));
    arguments.options.temperature_K = q.value;
  }
  ProgressLine progress;
  const AgedTest test =
      aged_test(arguments.file, arguments.options, [&](const std::string& what) { progress.show(what); });
  if (!arguments.out.empty()) {
    write_file(arguments, test, started,
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::vector<double> losses;
  for (const AgedTestRow& row : test.rows) losses.push_back(row.loss);
  if (!test.equilibrium.clean()) say("nudge: warning: {}\n", sentence(test.equilibrium));
  const ExitCode code = not_finite(losses) > 0 ? ExitCode::numerical_failure : ExitCode::ok;
  if (arguments.json) {
    answer("{}\n", json_text(json_of(test), 2));
    return code;
  }
  answer("{}{}: {} split, {} seed{}\n", table_of(test),
         test.reprogrammed ? "new devices for every seed" : "the devices of the file", arguments.options.part,
         arguments.options.seeds, arguments.options.seeds > 1 ? "s; ± half of the 95 % interval over them" : "");
  if (test.refresh_s > 0) answer("written anew every {}\n", format_quantity(test.refresh_s, Unit::second, 3));
  if (!arguments.out.empty()) answer("written: {}\n", arguments.out);
  if (test.acceleration != 1) {
    answer("{:g} K: devices relax {:.3g} times as fast as at the temperature of their numbers\n", test.temperature_K,
           test.acceleration);
  }
  return code;
}

std::function<ExitCode()> add_test(CLI::App& app) {
  const auto arguments = std::make_shared<TestArguments>();
  AgedTestOptions& options = arguments->options;
  app.add_option("file", arguments->file, "HDF5 file of nudge train on devices")->required();
  app.add_option("--age", arguments->ages,
                 "Wait after the last write, as in \"1e5 s\"; several: --age \"1 s\" "
                 "--age \"1 d\"")
      ->capture_default_str();
  app.add_option(
      "--temperature", arguments->temperature,
      "Temperature of the wait and of the reads, as in \"85 C\" or \"358 K\" (default: circuit.temperature of the "
      "run)");
  app.add_option("--refresh", arguments->refresh,
                 "Interval at which devices are rewritten, as in \"1 h\", with the weights that were read at age 0");
  app.add_option("--out", arguments->out, "New HDF5 file to write; nudge report draws it");
  app.add_option("--seeds", options.seeds,
                 "Number of repetitions, each with new noise, or with --reprogram new "
                 "devices")
      ->capture_default_str();
  app.add_flag("--reprogram", options.reprogram,
               "Write the weights of the file into new devices for every seed. Resistors use the whole window "
               "(crossbar.headroom = 1, or as --set says)");
  app.add_option("--weights", options.weights, "Weights of another file (run file, .npz, .safetensors); reprograms");
  app.add_option("--set", options.settings,
                 "KEY=VALUE: devices, circuits or mitigations other than those of the run; reprograms");
  app.add_option("--part", options.part, "Split of the data: test or validation")->capture_default_str();
  app.add_flag("--json", arguments->json, "Print JSON");
  return [arguments] { return run_test(*arguments); };
}

}  // namespace

Command test_command() {
  return {"test", "Read a trained network after a wait: how accurate is it after a day?",
          "nudge test run.h5 --age \"1 s\" --age \"1e5 s\" --seeds 5 --json", add_test};
}

}  // namespace nudge
