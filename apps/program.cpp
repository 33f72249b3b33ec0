// SPDX-License-Identifier: Apache-2.0
#include "apps/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <map>
#include <new>
#include <system_error>

#include "apps/commands.hpp"
#include "apps/streams.hpp"
#include "apps/unknown_names.hpp"
#include "sim/base/build_info.hpp"
#include "sim/base/interrupts.hpp"

namespace nudge {
namespace {

std::string version_text() {
  return fmt::format("nudge {}\n{}\n{}", version_and_revision(), compiler_and_flags(), build_info().libraries);
}

void complain(const std::string& message) { say("nudge: {}\n", message); }

/// Every exception ends here.
ExitCode guarded(const std::function<ExitCode()>& run) {
  try {
    return run();
  } catch (const UserError& error) {  // its lines start with file:line:column where there is one
    say("{}\n", error.what());
    return ExitCode::user_input;
  } catch (const NumericalFailure& error) {
    complain(error.what());
    return ExitCode::numerical_failure;
  } catch (const std::bad_alloc&) {
    complain("out of memory: make model.* or train.batch smaller");
    return ExitCode::user_input;
  } catch (const std::system_error& error) {  // a disk that fails, a limit of the machine
    complain(fmt::format("the system refused: {}", error.what()));
    return ExitCode::user_input;
  } catch (const std::exception& error) {
    complain(
        fmt::format("internal error: {}\nThis is a bug of nudge. Please report it with this message, the command line "
                    "and the output of `nudge --version`.",
                    error.what()));
    return ExitCode::bug;
  }
}

ExitCode dispatch(int argc, char** argv) {
  CLI::App app("nudge: simulator of analog hardware that learns by settling", "nudge");
  app.set_version_flag("--version", version_text(), "Print version, compiler and libraries, and exit");
  app.footer(
      "Example: nudge config check examples/train_charlm.toml\nExit codes: 0 ok, 1 a bug of nudge, 2 wrong input, 3 "
      "numerical failure, 4 results that could not be written to standard output");
  app.require_subcommand(1);

  std::map<const CLI::App*, std::function<ExitCode()>> runs;
  for (const Command& command : all_commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.description);
    sub->footer("Example: " + command.example);
    runs[sub] = command.add(*sub);
  }

  const std::vector<std::string> words(argv + 1, argv + argc);
  if (const std::string unknown = unknown_command(app, words); !unknown.empty()) {
    complain(unknown);
    return ExitCode::user_input;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help, --version
    app.exit(request);
    return ExitCode::ok;
  } catch (const CLI::ParseError& error) {
    const std::string hint = unknown_option_hint(app, words);
    complain(hint.empty() ? fmt::format("{}\nTry --help.", error.what()) : hint);
    return ExitCode::user_input;
  }
  return runs.at(app.get_subcommands().front())();
}

}  // namespace

ExitCode run_program(int argc, char** argv) {
  survive_writes();
  const ExitCode code = guarded([&] { return dispatch(argc, argv); });
  return !finish_answer() && code == ExitCode::ok ? kUnwritten : code;
}

}  // namespace nudge
