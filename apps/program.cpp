// SPDX-License-Identifier: Apache-2.0
#include "apps/program.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/commands.hpp"
#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "sim/base/build_info.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/open_list.hpp"
#include "sim/base/out_of_memory.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/ranks.hpp"
#include "sim/config/suggest.hpp"
#include "sim/io/h5_handle.hpp"

// In the order of --help; each is defined in a file of apps/commands/ as <name>_command().
#define NUDGE_COMMANDS(X) \
  X(train)                \
  X(gradcheck)            \
  X(stability)            \
  X(sweep)                \
  X(merge)                \
  X(compare)              \
  X(advise)               \
  X(benchmark)            \
  X(spec)                 \
  X(energy)               \
  X(case)                 \
  X(devices)              \
  X(crossbar)             \
  X(netlist)              \
  X(report)               \
  X(info)                 \
  X(export)               \
  X(watch)                \
  X(generate)             \
  X(test)                 \
  X(config)

namespace nudge {

#define NUDGE_DECLARE(name) Command name##_command();
NUDGE_COMMANDS(NUDGE_DECLARE)
#undef NUDGE_DECLARE

namespace {

OpenList<Command>& list() {
#define NUDGE_LIST(name) name##_command(),
  static OpenList<Command> commands({NUDGE_COMMANDS(NUDGE_LIST)});
#undef NUDGE_LIST
  return commands;
}

}  // namespace

const std::vector<Command>& all_commands() { return list().all(); }

void add_command(Command command) { list().add(std::move(command)); }

namespace {

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* find(const std::vector<const CLI::App*>& apps, const std::string& name) {
  const auto found =
      std::find_if(apps.begin(), apps.end(), [&](const CLI::App* app) { return app->get_name() == name; });
  return found == apps.end() ? nullptr : *found;
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

/// Finds the innermost subcommand that the leading words name; `used` of them.
const CLI::App& innermost(const CLI::App& app, const std::vector<std::string>& words, std::size_t& used) {
  const CLI::App* current = &app;
  for (used = 0; used < words.size(); ++used) {
    const CLI::App* next = find(subcommands(*current), words[used]);
    if (next == nullptr) break;
    current = next;
  }
  return *current;
}

/// Error text "unknown command trian (did you mean train?)" when a word stands where a subcommand must and names none;
/// else "".
std::string unknown_command(const CLI::App& app, const std::vector<std::string>& words) {
  std::size_t used = 0;
  const CLI::App& inner = innermost(app, words, used);
  const auto known = subcommands(inner);
  if (known.empty() || used == words.size() || is_option(words[used])) return {};
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const CLI::App* sub : known) names.push_back(sub->get_name());
  if (used == 0 && words[0] == "experiment") {
    return "nudge experiment is now nudge sweep, of networks like any other: sequence_model, free_transformer and "
           "argmax_read "
           "(examples/argmax.toml, characters.toml, latent.toml, mad.toml, memorization.toml; results/experiments.md)";
  }
  const std::string before = used == 0 ? "" : inner.get_name() + " ";
  return fmt::format("unknown command {}{} ({})", before, words[used], did_you_mean(words[used], names));
}

/// Error text "unknown option --sett (did you mean --set?)" for the first option that the chosen subcommand does not
/// have; else "".
std::string unknown_option_hint(const CLI::App& app, const std::vector<std::string>& words) {
  std::size_t used = 0;
  const CLI::App& inner = innermost(app, words, used);
  std::vector<std::string> names;
  for (const CLI::Option* option : inner.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (; used < words.size(); ++used) {
    const std::string name = words[used].substr(0, words[used].find('='));
    if (name.rfind("--", 0) != 0 || name == "--") continue;
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return fmt::format("unknown option {} ({})", name, did_you_mean(name, names));
  }
  return {};
}

/// The example of the command that the words name, and how to see its options.
std::string next_step(const CLI::App& app, const std::vector<std::string>& words) {
  std::size_t used = 0;
  const std::string footer = innermost(app, words, used).get_footer();
  const std::size_t at = footer.find("Example: ");
  const std::string example = at == std::string::npos ? "" : footer.substr(at, footer.find('\n', at) - at) + "\n";
  return example + "--help lists the options.";
}

std::string version_text() {
  return fmt::format("nudge {}\n{}\n{}", version_and_revision(), compiler_and_flags(), build_info().libraries);
}

void complain(const std::string& message) { say("nudge: {}\n", message); }

/// Shortens a message by the middle of every line that is too long to read: a wrong value may be a whole file.
std::string readable_lines(const std::string& message) {
  constexpr std::size_t kLongest = 1000, kHead = 500, kTail = 300;
  std::string out;
  std::istringstream in(message);
  for (std::string line; std::getline(in, line);) {
    if (line.size() > kLongest) {
      const auto inside = [&line](std::size_t at) { return (static_cast<unsigned char>(line[at]) & 0xC0U) == 0x80U; };
      std::size_t head = kHead, tail = line.size() - kTail;  // moved to where a character of UTF-8 starts
      while (head > 0 && inside(head)) --head;
      while (tail + 1 < line.size() && inside(tail)) ++tail;
      line = fmt::format("{} … ({} bytes left out) … {}", line.substr(0, head), tail - head, line.substr(tail));
    }
    out += (out.empty() ? "" : "\n") + line;
  }
  return out;
}

/// Waits for rank 0 to speak: an error in the input is on every rank, and rank 0 says it and ends all of them.
void let_rank_0_speak() {
  for (int ms = 0; this_rank() > 0 && ms < 2000; ++ms) wait_a_moment();
}

/// True while a command is at work: then a library has called exit().
std::atomic<bool> at_work = false;

/// Explains an exit of a library: OpenMP's runtime ends a process with exit(1) where it can make no thread, behind a
/// line of its own.
void say_who_ended() {
  if (!at_work) return;
  constexpr std::string_view text =
      "nudge: a library has ended the program, see its message above. If it could not start a thread, use fewer "
      "(--set threads=1, OMP_NUM_THREADS=1) or allow more memory and processes (ulimit -v, ulimit -u)\n";
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
  ::_exit(static_cast<int>(ExitCode::user_input));
}

ExitCode guarded(const std::function<ExitCode()>& run) {
  try {
    return run();
  } catch (const UserError& error) {  // its lines start with file:line:column where there is one
    let_rank_0_speak();
    say("{}\n", readable_lines(error.what()));
    return ExitCode::user_input;
  } catch (const NumericalFailure& error) {
    complain(error.what());
    return ExitCode::numerical_failure;
  } catch (const OutOfMemory& error) {
    complain(fmt::format("out of memory: {}. Make the network, train.batch or the circuit smaller", error.what()));
    return ExitCode::user_input;
  } catch (const std::bad_alloc&) {
    complain("out of memory: make model.* or train.batch smaller");
    return ExitCode::user_input;
  } catch (const std::system_error& error) {  // a disk that fails, a limit of the machine
    const bool no_thread = error.code() == std::errc::resource_unavailable_try_again;
    complain(
        fmt::format("the system refused{}: {}",
                    no_thread ? " another thread: too little memory or too few processes (ulimit -v, ulimit -u)" : "",
                    error.what()));
    return ExitCode::user_input;
  } catch (const Interrupted&) {
    end_by_signal();
    return ExitCode::bug;
  } catch (const std::exception& error) {
    complain(
        fmt::format("internal error: {}\n"
                    "This is a bug in nudge. Please report it with this message, the command line and the output of "
                    "`nudge --version`.",
                    error.what()));
    return ExitCode::bug;
  }
}

/// Adds the sections of a config to the help of a command that takes settings, or of one below it.
void list_sections(CLI::App& command) {
  if (command.get_option_no_throw("--set") != nullptr) command.footer(sections_text);
  for (CLI::App* below : command.get_subcommands({})) list_sections(*below);
}

ExitCode dispatch(int argc, char** argv) {
  CLI::App app("nudge: simulator of analog hardware that learns by settling", "nudge");
  app.set_version_flag("--version", version_text(), "Print version, compiler and libraries, and exit");
  app.footer(
      "Example: nudge config check examples/train_charlm.toml\n"
      "Exit codes: 0 ok, 1 bug in nudge, 2 wrong input, 3 numerical failure, 4 cannot write to standard output");
  app.footer(sections_text);
  app.require_subcommand(1);

  std::map<const CLI::App*, std::function<ExitCode()>> runs;
  for (const Command& command : all_commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.description);
    runs[sub] = command.add(*sub);
    sub->footer("Example: " + command.example);
    list_sections(*sub);
  }

  const std::vector<std::string> words(argv + 1, argv + argc);
  if (const std::string unknown = unknown_command(app, words); !unknown.empty()) {
    complain(unknown);
    return ExitCode::user_input;
  }
  if (words.empty()) {
    answer("{}", help_of(app));
    return ExitCode::ok;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    answer("{}", help_of(app));
    return ExitCode::ok;
  } catch (const CLI::Success& request) {  // --version
    app.exit(request);
    return ExitCode::ok;
  } catch (const CLI::ParseError& error) {
    const std::string hint = unknown_option_hint(app, words);
    complain(hint.empty() ? fmt::format("{}\n{}", error.what(), next_step(app, words)) : hint);
    return ExitCode::user_input;
  }
  const CLI::App* chosen = app.get_subcommands().front();
  static const std::set<std::string> spread = {"train", "gradcheck", "sweep", "compare", "advise", "benchmark", "spec"};
  if (launched_ranks() > 1 && spread.count(chosen->get_name()) == 0) {
    throw UserError(fmt::format("nudge {} runs in one process, and {} were started. Use mpirun for {}",
                                chosen->get_name(), launched_ranks(), fmt::join(spread, ", ")));
  }
  return runs.at(chosen)();
}

}  // namespace

namespace {

/// Ends a program that has no memory left even for an exception, which the library ends without one.
[[noreturn]] void end_without_memory() {
  constexpr std::size_t kRoom = 1 << 16;
  if (std::current_exception() == nullptr && std::malloc(kRoom) == nullptr) {
    constexpr std::string_view text = "nudge: out of memory: no room to say what for (ulimit -v)\n";
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) std::abort();
    std::_Exit(static_cast<int>(ExitCode::user_input));
  }
  std::abort();
}

}  // namespace

ExitCode run_program(int argc, char** argv) {
  std::set_terminate(end_without_memory);
  leave_hdf5_at_exit();
  survive_writes();
  bool ended = false;
  static const int registered = std::atexit(say_who_ended);
  at_work = registered == 0;
  const ExitCode code = guarded([&] {
    watch_interrupts();  // a thread, for which there may be no memory
    const ExitCode result = dispatch(argc, argv);
    ended = true;
    return result;
  });
  at_work = false;
  const bool written = finish_answer();
  if (!ended) end_all_ranks(static_cast<int>(code));
  leave_ranks();
  return !written && code == ExitCode::ok ? kUnwritten : code;
}

}  // namespace nudge
