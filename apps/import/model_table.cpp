// SPDX-License-Identifier: Apache-2.0
#include "apps/import/model_table.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "sim/base/errors.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/json_text.hpp"
#include "sim/io/temporary_directory.hpp"
#include "training/data/file_bytes.hpp"

namespace nudge {
namespace {

std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

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

/// What the interpreter answers to the question.
nlohmann::json ask(const ModelQuestion& question, const std::string& text) {
  const TemporaryDirectory folder;
  put(folder / "evaluate.py", evaluate_model_script());
  put(folder / "question.json", text);
  const std::string command = fmt::format("{} {} < {} > {} 2> {}", shell_word(question.python),
                                          shell_word(folder / "evaluate.py"), shell_word(folder / "question.json"),
                                          shell_word(folder / "answer.json"), shell_word(folder / "errors"));
  const int status = std::system(command.c_str());
  const std::string errors = read_file_bytes(folder / "errors", "messages of Python");
  if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw UserError(fmt::format("devices import: {} does not run (--python names an interpreter of Python 3): {}",
                                question.python, errors));
  }
  nlohmann::json answer =
      nlohmann::json::parse(read_file_bytes(folder / "answer.json", "answer of Python"), nullptr, false);
  if (answer.is_discarded()) throw UserError(fmt::format("devices import: {} has answered nothing", question.python));
  if (answer.contains("problem") && !errors.empty()) answer["compiler"] = errors;
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
