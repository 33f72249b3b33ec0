// SPDX-License-Identifier: Apache-2.0
#include "apps/import/model_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/import/bounded_process.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/new_file.hpp"
#include "training/data/raw_array.hpp"

namespace nudge {
namespace {

void put(const std::filesystem::path& path, std::string_view text) {
  write_atomically(path, std::as_bytes(std::span(text.data(), text.size())), Overwrite::must_not_exist);
}

std::vector<double> numbers(const nlohmann::json& list) {
  std::vector<double> out;
  for (const auto& value : list) {
    out.push_back(value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
  }
  return out;
}

/// Most bytes of an answer: a number has at most 24 digits and signs and a comma with a blank, and there are two for
/// every voltage and state; 64 kB for the rest.
std::size_t most_bytes(const ModelQuestion& question) {
  const std::size_t numbers =
      2 * question.volts.size() * question.states.size() + question.volts.size() + question.states.size();
  return (std::size_t{1} << 16) + 26 * numbers;
}

bool whole(const nlohmann::json& answer, std::size_t numbers) {
  if (!answer.is_object()) return false;
  if (answer.contains("problem")) return answer["problem"].is_string();
  for (const char* part : {"rate", "current"}) {
    if (!answer.contains(part) || !answer[part].is_array() || answer[part].size() != numbers) return false;
  }
  return true;
}

/// Asks the interpreter and returns its answer.
nlohmann::json ask(const ModelQuestion& question, const std::string& text) {
  const TemporaryDirectory folder;
  put(folder / "evaluate.py", evaluate_model_script());
  put(folder / "question.json", text);
  ProcessBounds bounds;
  bounds.output = most_bytes(question);
  bounds.silence_s = question.wait_s;
  const ProcessEnd end =
      run_bounded({question.python, (folder / "evaluate.py").string()}, folder / "question.json", bounds);
  const auto fail = [&question](const std::string& what) {
    throw UserError(fmt::format("devices import: --python = {}: {}", question.python, what));
  };
  if (end.why == ProcessEnd::Why::too_much) {
    fail(fmt::format(
        "has written more than the {} bytes that its answer can have, or {} bytes of messages. Name an interpreter "
        "of Python 3",
        bounds.output, bounds.errors));
  }
  if (end.why == ProcessEnd::Why::silent) {
    fail(fmt::format("has written nothing for {:g} s. Name an interpreter of Python 3, or wait longer (--wait)",
                     bounds.silence_s));
  }
  if (!end.well()) fail(fmt::format("does not run (--python names an interpreter of Python 3): {}", end.errors));
  nlohmann::json answer = nlohmann::json::parse(end.output, nullptr, false);
  if (!whole(answer, question.volts.size() * question.states.size())) {
    fail("has not answered with the table that was asked for. Name an interpreter of Python 3");
  }
  if (answer.contains("problem") && !end.errors.empty()) answer["compiler"] = end.errors;
  return answer;
}

}  // namespace

StateTable model_table(const ModelQuestion& question) {
  read_file_bytes(question.file, "Verilog-A model");  // UserError where there is none
  const nlohmann::json wanted = {{"file", question.file},    {"module", question.module},
                                 {"state", question.state},  {"parameters", question.parameters},
                                 {"volts", question.volts},  {"states", question.states},
                                 {"step_s", question.step_s}};
  const nlohmann::json answer = ask(question, json_text(wanted));
  if (answer.contains("problem")) {
    throw UserError(fmt::format("{}: {}{}", question.file, answer["problem"].get<std::string>(),
                                answer.contains("compiler") ? "\n" + answer["compiler"].get<std::string>() : ""));
  }
  return {question.volts, question.states, numbers(answer.at("rate")), numbers(answer.at("current"))};
}

}  // namespace nudge
