// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/device_fits.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <map>
#include <regex>
#include <span>

#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "devices/device_array.hpp"
#include "devices/device_config.hpp"
#include "devices/memristor/memristor.hpp"
#include "devices/memristor/pulsed_memristor.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/new_file.hpp"
#include "training/data/raw_array.hpp"

namespace nudge {
namespace {

/// Request for a table of a Verilog-A model.
struct ModelQuestion {
  std::string file;
  std::string module = {};  ///< name of the module; empty: the only one
  /// State: a node, or the parameter that the state begins with; empty: the only node with a charge.
  std::string state = {};
  std::map<std::string, double> parameters = {};  ///< parameters in place of their defaults
  std::vector<double> volts, states;              ///< voltages and states of the table, both ascending
  double step_s = 1e-12;                          ///< time step of a model that moves its state itself
  double temperature_K = 300, width_s = 1e-8;     ///< temperature of the device, width of a pulse
  std::string python = "python3";
  double wait_s = 120;  ///< longest silence of Python: its program says something at every voltage
};

/// Bounds on the output and the silence of another program.
struct ProcessBounds {
  std::size_t output = std::size_t{1} << 20;  ///< bytes of its standard output
  std::size_t errors = std::size_t{1} << 20;  ///< bytes of its standard error
  double silence_s = 120;                     ///< seconds without a byte of either
};

/// End of another program: its reason, status and output.
struct ProcessEnd {
  enum class Why { ended, too_much, silent };
  Why why = Why::ended;
  int status = 0;  ///< status of waitpid(), where it ended by itself
  std::string output, errors;
  /// True if it ended by itself, with the exit code 0.
  bool well() const { return why == Why::ended && WIFEXITED(status) && WEXITSTATUS(status) == 0; }
};

/// Pipe whose ends close themselves.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw UserError(fmt::format("another program cannot be started: {}", std::strerror(errno)));
    }
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_end(std::size_t k) {
    if (ends_[k] >= 0) ::close(ends_[k]);
    ends_[k] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// Becomes the program, between fork and exec: uses system calls alone, and resets the signals that this program has
/// changed.
[[noreturn]] void become(char** argv, const char* input, int output, int errors) {
  ::setpgid(0, 0);
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int in = ::open(input, O_RDONLY);
  if (in >= 0) ::dup2(in, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::execvp(argv[0], argv);
  const char* reason = std::strerror(errno);
  static_cast<void>(!::write(STDERR_FILENO, reason, std::strlen(reason)));
  ::_exit(127);
}

/// Takes the bytes that are there; false at the end of the stream. most: largest size of `to`; too_much: set when it is
/// reached.
bool take(int from, std::string& to, std::size_t most, bool& too_much) {
  std::array<char, 1 << 16> piece{};
  const ssize_t got = ::read(from, piece.data(), piece.size());
  if (got <= 0) return got < 0 && errno == EINTR;
  to.append(piece.data(), std::min(static_cast<std::size_t>(got), most - to.size()));
  too_much = too_much || to.size() == most;
  return true;
}

/// Runs a program, found in PATH, with the file `input` as its standard input, until it ends or exceeds a bound. Then
/// the rest of its process group is killed, and on Linux the program too when this process ends. Writes no file.
/// UserError where no process can be made; a program that is not there ends with the code 127 and the reason in
/// `errors`.
ProcessEnd run_bounded(const std::vector<std::string>& words, const std::filesystem::path& input,
                       const ProcessBounds& bounds) {
  Pipe output, errors;
  std::vector<std::string> kept = words;
  std::vector<char*> argv;
  for (std::string& word : kept) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string question = input.string();
  const pid_t child = ::fork();
  if (child < 0) throw UserError(fmt::format("{} cannot be started: {}", words.front(), std::strerror(errno)));
  if (child == 0) become(argv.data(), question.c_str(), output.writer(), errors.writer());
  ::setpgid(child, child);  // whichever of the two comes first
  output.close_end(1);
  errors.close_end(1);

  using Clock = std::chrono::steady_clock;
  ProcessEnd end;
  bool too_much = false, ended = false;
  std::array<pollfd, 2> streams{{{output.reader(), POLLIN, 0}, {errors.reader(), POLLIN, 0}}};
  for (auto heard = Clock::now(); end.why == ProcessEnd::Why::ended;) {
    ended = ended || ::waitpid(child, &end.status, WNOHANG) == child;
    const bool more = ::poll(streams.data(), streams.size(), ended ? 0 : 100) > 0;
    if (!more && ended) break;  // what it has started may keep the streams open
    if (more) {
      heard = Clock::now();
      if (streams[0].revents != 0 && !take(output.reader(), end.output, bounds.output, too_much)) streams[0].fd = -1;
      if (streams[1].revents != 0 && !take(errors.reader(), end.errors, bounds.errors, too_much)) streams[1].fd = -1;
    }
    const double silence = std::chrono::duration<double>(Clock::now() - heard).count();
    if (too_much) end.why = ProcessEnd::Why::too_much;
    if (!ended && silence > bounds.silence_s) end.why = ProcessEnd::Why::silent;
  }
  ::kill(-child, SIGKILL);
  while (!ended && ::waitpid(child, &end.status, 0) < 0 && errno == EINTR) {
  }
  return end;
}

/// Text without the escape sequences by which compilers colour it, ESC [ ... letter (ECMA-48, section 5.4).
std::string without_colours(const std::string& text) {
  static const std::regex sequence("\x1b\\[[0-?]*[ -/]*[@-~]");
  return std::regex_replace(text, sequence, "");
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

nlohmann::json ask(const ModelQuestion& question, const std::string& text) {
  const TemporaryDirectory folder;
  put(folder / "evaluate.py", evaluate_model_script());
  put(folder / "question.json", text);
  ProcessBounds bounds;
  bounds.output = most_bytes(question);
  bounds.silence_s = question.wait_s;
  ProcessEnd end = run_bounded({question.python, (folder / "evaluate.py").string()}, folder / "question.json", bounds);
  end.errors = without_colours(end.errors);
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

/// Table of a model, and the inner nodes with a charge that it holds at their steady state, with the longest time in
/// which they reach it.
struct ModelTable {
  StateTable table;
  std::vector<std::string> settled;
  double time_constant_s = 0;
};

/// Computes current and speed of the model at all these voltages and states. It runs the Python package openvaf-py (an
/// interpreter of what OpenVAF compiles) in a process of its own: apps/import/evaluate_model.py. UserError where Python
/// or the package is missing, answers more than the table can be, or says nothing for wait_s. UserError also for
/// unsupported models: random numbers, arrays of parameters, idt(), no state or several.
ModelTable model_table(const ModelQuestion& question) {
  read_file_bytes(question.file, "Verilog-A model");  // UserError where there is none
  const nlohmann::json wanted = {{"file", question.file},
                                 {"module", question.module},
                                 {"state", question.state},
                                 {"parameters", question.parameters},
                                 {"volts", question.volts},
                                 {"states", question.states},
                                 {"step_s", question.step_s},
                                 {"width_s", question.width_s},
                                 {"temperature_K", question.temperature_K}};
  const nlohmann::json answer = ask(question, json_text(wanted));
  if (answer.contains("problem")) {
    throw UserError(fmt::format("{}: {}{}", question.file, answer["problem"].get<std::string>(),
                                answer.contains("compiler") ? "\n" + answer["compiler"].get<std::string>() : ""));
  }
  return {{question.volts, question.states, numbers(answer.at("rate")), numbers(answer.at("current"))},
          answer.value("settled", std::vector<std::string>{}),
          answer.value("time_constant_s", 0.0)};
}

// Each brings the states nearer to equal steps of the conductance, by linear interpolation of the last table.
constexpr int refinements = 3;

/// Reads a range "LOW,HIGH".
std::pair<double, double> range_option(const char* option, const std::string& text, Unit unit) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) {
    throw UserError(fmt::format("{} \"{}\" (two numbers are needed, LOW,HIGH)", option, text));
  }
  const double low = quantity_option(option, text.substr(0, comma), unit);
  const double high = quantity_option(option, text.substr(comma + 1), unit);
  if (!(low < high)) throw UserError(fmt::format("{} \"{}\" (LOW must be below HIGH)", option, text));
  return {low, high};
}

std::vector<double> evenly(double low, double high, int points) {
  std::vector<double> out;
  for (int k = 0; k < points; ++k) out.push_back(low + (high - low) * k / (points - 1));
  return out;
}

std::map<std::string, double> parameters_of(const std::vector<std::string>& settings) {
  std::map<std::string, double> out;
  for (const std::string& one : settings) {
    const std::size_t equal = one.find('=');
    if (equal == std::string::npos || equal == 0) {
      throw UserError(fmt::format("devices import: --parameter \"{}\" (must be NAME=VALUE)", one));
    }
    out[one.substr(0, equal)] = quantity_option("devices import: --parameter", one.substr(equal + 1), Unit::none);
  }
  return out;
}

/// Sentence on inner nodes with a charge; empty where there is none.
std::string settled_text(const ModelTable& found) {
  if (found.settled.empty()) return {};
  return fmt::format("held where they settle, within {}: inner nodes {}",
                     format_quantity(found.time_constant_s, Unit::second, 3), fmt::join(found.settled, ", "));
}

/// Question that the options ask, with 0 V and the read voltage among its voltages.
ModelQuestion question_of(const ImportOptions& options, double read_V) {
  ModelQuestion question;
  question.file = options.file;
  question.module = options.module;
  question.state = options.state;
  question.python = options.python;
  question.wait_s = options.wait_s;
  question.parameters = parameters_of(options.parameters);
  question.step_s = quantity_option("devices import: --step", options.step, Unit::second);
  question.width_s = quantity_option("devices import: --width", options.width, Unit::second);
  question.temperature_K = quantity_option("devices import: --temperature", options.temperature, Unit::kelvin);
  if (!(question.temperature_K > 0)) {
    throw UserError(fmt::format("devices import: --temperature {} (must be above 0 K)", options.temperature));
  }
  const auto [low_V, high_V] = range_option("devices import: --volts", options.volts, Unit::volt);
  const auto [first, last] = range_option("devices import: --states", options.states, Unit::none);
  if (!(low_V < 0 && high_V > 0)) throw UserError("devices import: --volts must reach from below 0 V to above it");
  question.volts = evenly(low_V, high_V, options.points);
  for (const double exact : {0.0, read_V}) question.volts.push_back(exact);
  std::sort(question.volts.begin(), question.volts.end());
  const double closest = 1e-9 * (high_V - low_V);
  const auto same = [&](double a, double b) { return b - a < closest; };
  question.volts.erase(std::unique(question.volts.begin(), question.volts.end(), same), question.volts.end());
  question.states = evenly(first, last, options.levels);
  return question;
}

}  // namespace

ExitCode import_model(const ImportOptions& options) {
  if (!options.out.empty()) check_output_path(options.out, Overwrite::must_not_exist);
  const double read_V = quantity_option("devices import: --read", options.read, Unit::volt);
  const auto [low_V, high_V] = range_option("devices import: --volts", options.volts, Unit::volt);
  ModelQuestion question = question_of(options, read_V);
  ModelTable found = model_table(question);
  tabulated_device(found.table, read_V, options.levels);  // refuses conductances that do not tell the state
  for (int pass = 0; pass < refinements; ++pass) {
    question.states = even_states(found.table, read_V);
    found = model_table(question);
  }
  DeviceSpec spec = tabulated_device(found.table, read_V, options.levels);
  spec.shape = {{"pulse_up", high_V},
                {"pulse_down", low_V},
                {"pulse_width", question.width_s},
                {"temperature", question.temperature_K}};
  spec.temperature_K = question.temperature_K;
  spec.pulses = pulses_across(spec);
  spec.validate();
  const std::string held = settled_text(found);
  DeviceSpec written = spec;
  written.pulses = DeviceSpec().pulses;  // follows from the tables and the volts of a config (device.pulses)
  const std::string toml = fmt::format("# {} at {}{}\n{}[circuit]\ntemperature = '{} K'\n", options.file,
                                       format_quantity(question.temperature_K, Unit::kelvin, 6),
                                       held.empty() ? "" : "; " + held, device_toml(written), question.temperature_K);
  if (!options.out.empty()) write_atomically(options.out, std::as_bytes(std::span(toml)), Overwrite::must_not_exist);
  if (options.json) {
    answer("{}\n", json_text(nlohmann::json{{"model", spec.model},
                                            {"g_min_S", spec.g_min_S},
                                            {"g_max_S", spec.g_max_S},
                                            {"pulses", spec.pulses},
                                            {"temperature_K", question.temperature_K},
                                            {"settled", found.settled},
                                            {"time_constant_s", found.time_constant_s},
                                            {"voltages", question.volts.size()},
                                            {"states", options.levels}},
                             2));
  } else if (options.out.empty()) {
    answer("{}", toml);
  } else {
    answer("{}: {} to {} at {} and {}, {:.3g} pulses of {} and {} for {}{}\n", options.out,
           format_quantity(spec.g_min_S, Unit::siemens, 4), format_quantity(spec.g_max_S, Unit::siemens, 4),
           format_quantity(read_V, Unit::volt, 3), format_quantity(question.temperature_K, Unit::kelvin, 6),
           spec.pulses, format_quantity(high_V, Unit::volt, 3), format_quantity(low_V, Unit::volt, 3), options.width,
           held.empty() ? "" : "\n" + held);
  }
  return ExitCode::ok;
}

}  // namespace nudge
