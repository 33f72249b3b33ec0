// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <csignal>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "apps/columns.hpp"
#include "apps/commands/text_lines.hpp"
#include "sim/base/errors.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/same_h5.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const std::string kConfig =
    "threads = 1\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n"
    "[train]\nsteps = 12\nbatch = 3\nwarmup = 5\nevaluate_every = 4\nevaluation_batches = 2\ncheckpoint_every = 3\n"
    "[relaxation]\nfree_steps = 8\nnudged_steps = 8\n[output]\nprint_every = 4\n";

/// The program running in the background in a folder.
class Background {
 public:
  /// `errors`: the descriptor that takes standard error; -1: nobody does.
  Background(const Folder& folder, std::vector<std::string> arguments, int errors = -1) {
    arguments.insert(arguments.begin(), NUDGE_PROGRAM);
    std::vector<char*> list;
    for (std::string& argument : arguments) list.push_back(argument.data());
    list.push_back(nullptr);
    const std::string where = folder.file("");
    process_ = ::fork();
    if (process_ == 0) {
      const int nothing = ::open("/dev/null", O_RDWR);
      for (const int descriptor : {0, 1, 2}) ::dup2(nothing, descriptor);
      if (errors >= 0) ::dup2(errors, 2);
      if (::chdir(where.c_str()) == 0) ::execv(NUDGE_PROGRAM, list.data());
      ::_exit(127);
    }
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() {
    if (process_ > 0) end(SIGKILL);
  }

  void send(int signal) const { ::kill(process_, signal); }

  /// Sends the signal, waits a minute at most (then SIGKILL), and returns the exit code, or minus the signal that ended it.
  int end(int signal) {
    ::kill(process_, signal);
    int status = 0;
    for (int i = 0; i < 6000 && ::waitpid(process_, &status, WNOHANG) == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (i == 5999) {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, &status, 0);
      }
    }
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t process_;
};

std::int64_t steps_done(const std::string& path) {
  if (!std::filesystem::exists(path)) return -1;
  return H5Reader(path).integer_attribute("checkpoint_done");  // throws if the file were ever incomplete
}

/// Waits until the file holds a checkpoint of more than `steps` steps; false after a minute.
bool wait_beyond(const std::string& path, std::int64_t steps) {
  for (int i = 0; i < 20000; ++i) {
    if (steps_done(path) > steps) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  return false;
}

}  // namespace

TEST_CASE("nudge train writes a run and prints what became of it", "[train]") {
  const Folder folder;
  folder.write("run.toml", kConfig);
  const Outcome plain = run_nudge(folder, "train run.toml --set train.beside=bptt");
  CHECK(plain.exit_code == 0);
  CHECK_THAT(plain.output, Contains("12 steps in") && Contains("validation loss") && Contains("alongside, bptt") &&
                               Contains("run.h5"));
  CHECK_THAT(plain.errors, Contains("step      4/12") && Contains("step      8/12") && Contains("step     12/12"));
  CHECK_THAT(plain.errors, Contains("  damping "));
  folder.write("undamped.toml", "network.kind = 'hopfield'\ntask.kind = 'classification'\ntrain.steps = 1\n");
  const Outcome undamped = run_nudge(folder, "train undamped.toml");
  CHECK_THAT(undamped.errors,
             Contains("  residual ") && !Contains("damping"));  // a network without damping has none of 0
  CHECK(steps_done(folder.file("run.h5")) == 12);

  const Outcome json = run_nudge(folder, "train run.toml --out other.h5 --json --set seed=3");
  CHECK(json.exit_code == 0);
  const auto summary = nlohmann::json::parse(json.output);
  CHECK(summary["steps"] == 12);
  CHECK(summary["file"] == "other.h5");
  CHECK(summary["nonfinite"] == 0);
  CHECK(summary["validation_loss"].get<double>() ==
        H5Reader(folder.file("other.h5")).reals<double>("train/validation_loss").back());
  CHECK(H5Reader(folder.file("other.h5")).integer_attribute("seed") == 3);
}

TEST_CASE("a run on devices says what they learnt against its nulls: summary, JSON, info, report, CSV", "[train]") {
  const Folder folder;
  folder.write("run.toml", kConfig);
  const Outcome plain = run_nudge(folder, "train run.toml --out plain.h5 --set device.model=soft_bounds");
  CHECK(plain.exit_code == 0);
  CHECK_THAT(plain.errors, Contains("| frozen devices: loss") && !Contains("| noise gradient: loss"));
  CHECK_THAT(plain.output, Contains("baseline run, frozen devices: validation loss"));
  const Outcome json = run_nudge(
      folder, "train run.toml --json --set device.model=soft_bounds --set train.beside=bptt --set train.null=all");
  CHECK(json.exit_code == 0);
  const auto all = nlohmann::json::parse(json.output), null = all["null"];
  const H5Reader file(folder.file("run.h5"));
  CHECK(null["frozen_devices"]["validation_loss"].get<double>() ==
        file.reals<double>("null/frozen_devices/train/validation_loss").back());
  const std::vector<std::string> names = file.texts("null/name");
  CHECK(names == std::vector<std::string>{"frozen_devices", "readout", "noise_gradient", "constant"});
  const std::vector<double> won = file.reals<double>("null/won"), low = file.reals<double>("null/low");
  bool learnt = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(null[names[i]]["won"].get<double>() == won[i]);
    CHECK(null[names[i]]["won_low"].get<double>() == low[i]);
    learnt = learnt && low[i] > 0;
  }
  CHECK(null["devices_learnt"].get<bool>() == learnt);
  CHECK(file.text_attribute("verdict", "null") == null["verdict"].get<std::string>());
  const auto info = nlohmann::json::parse(run_nudge(folder, "info run.h5 --json").output);
  REQUIRE(info["lanes"].size() == 5);
  CHECK(info["lanes"][1]["lane"] == "beside");
  CHECK(info["lanes"][2]["lane"] == "null/frozen_devices");
  CHECK(info["verdict"] == null["verdict"]);
  CHECK(info["devices_learnt"] == null["devices_learnt"]);
  CHECK(info["plateau"]["text"] == all["plateau"]["text"]);
  CHECK(run_nudge(folder, "report run.h5 -o run.html").exit_code == 0);
  std::ifstream page(folder.file("run.html"));
  const std::string html{std::istreambuf_iterator<char>(page), {}};
  CHECK_THAT(html, Contains("frozen devices</t") && Contains("read-out alone</t") && Contains("noise gradient</t") &&
                       Contains(null["verdict"].get<std::string>()) &&
                       Contains(all["plateau"]["text"].get<std::string>()));
  CHECK(run_nudge(folder, "export run.h5 --csv csv").exit_code == 0);
  // Nothing but the lanes of a run knows the key.
  CHECK_THAT(run_nudge(folder, "train run.toml --out no.h5 --set train.null=frozen_devices").errors,
             Contains("no devices to freeze"));
}

TEST_CASE("a run that ends far above its start and above a constant answer failed, and says so", "[train]") {
  const Folder folder;
  folder.write("digits.toml", read_file(NUDGE_SOURCE_DIR "/examples/digits.toml"));
  const Outcome run = run_nudge(folder, "train digits.toml --set train.steps=30 --set train.learning_rate=100");
  CHECK(run.exit_code == 3);
  // Its units are driven to the bounds of their box in the first steps: no gradient is left, and the loss is what it was then.
  CHECK_THAT(run.errors, Contains("the run failed: stopped: dead") && Contains("lower train.learning_rate"));
  const std::string said = "validation loss ";
  const std::size_t at = run.output.find(said);
  REQUIRE(at != std::string::npos);
  // Weights of -rate times a gradient near 1 and states up to 1 give logits of thousands; ln 10 is the constant answer.
  CHECK(std::stod(run.output.substr(at + said.size())) > 100 * std::log(10));
  CHECK_THAT(H5Reader(folder.file("digits.h5")).text_attribute("failure"), Contains("dead"));
}

TEST_CASE("a score below a linear model's is told from one that is not told apart", "[train]") {
  const ReferenceScores references{"accuracy", "nat", {{"linear", "test", 0, 0.96}}};
  // Of 360 samples 1.96 deviations of the difference of two shares near 0.95 are about 0.03.
  CHECK(linear_text(references, "test", 0.86, 360) == "below a linear model (96.00 %)");
  CHECK(linear_text(references, "test", 0.95, 360) == "no better than a linear model (96.00 %)");
  CHECK(linear_text(references, "test", 0.97, 360).empty());
  CHECK(linear_text(references, "validation", 0.5, 360).empty());
  const ReferenceScores errors{"rmse", "1", {{"linear", "test", 0, 0.2}}};
  CHECK(linear_text(errors, "test", 0.3, 360) == "above the error of a linear model (0.2000)");
}

TEST_CASE("nudge train refuses what it cannot do with exit 2 and overwrites nothing", "[train]") {
  const Folder folder;
  folder.write("run.toml", kConfig);
  folder.write("taken.h5", "precious");
  folder.write("binary.txt", std::string("abc\0def", 7));
  folder.write("empty.txt", "");
  folder.write("short.txt", "abcdefg");
  struct Case {
    const char* arguments;
    const char* message;
  };
  for (const Case& wrong :
       {Case{"run.toml --out taken.h5", "taken.h5"}, Case{"run.toml --out no/such/run.h5", "no/such"},
        Case{"run.toml --out taken.h5/run.h5", "taken.h5"},
        Case{"run.toml --set train.stesp=3", "train.stesp (did you mean"},
        Case{"run.toml --set model.heads=3", "model.heads = 3 (must divide model.channels = 8)"},
        Case{"run.toml --set model.channels=-8", "model.channels"},
        Case{"run.toml --set device.g_max=25us", "device.g_max"}, Case{"run.toml --set data.text=none.txt", "none.txt"},
        Case{"run.toml --set data.text=.", "data.text"}, Case{"run.toml --set data.text=binary.txt", "binary.txt"},
        Case{"run.toml --set data.text=empty.txt", "empty.txt"},
        Case{"run.toml --set data.text=short.txt", "short.txt"}, Case{"none.toml", "none.toml"},
        Case{"", "CONFIG or --resume"}, Case{"--resume none.h5", "none.h5"}, Case{"--resume taken.h5", "taken.h5"},
        Case{"--resume taken.h5 --out other.h5", "--out"}, Case{"--resume taken.h5 --set seed=2", "--set"}}) {
    CAPTURE(wrong.arguments);
    const Outcome outcome = run_nudge(folder, std::string("train ") + wrong.arguments);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.output.empty());
    if (std::string(wrong.message) != "data.text") CHECK_THAT(outcome.errors, Contains(wrong.message));
    CHECK_FALSE(outcome.errors.empty());
    CHECK_FALSE(std::filesystem::exists(folder.file("run.h5")));
    CHECK_FALSE(std::filesystem::exists(folder.file("other.h5")));
  }
  CHECK(read_file(folder.file("taken.h5")) == "precious");
  CHECK(run_nudge(folder, "train run.toml").exit_code == 0);
  CHECK(run_nudge(folder, "train run.toml").exit_code == 2);  // the default output exists now
  CHECK_THAT(run_nudge(folder, "train run.toml --resume run.h5 --set train.batch=4").errors,
             Contains("train.batch: 3 in the file, 4 in the config"));
}

TEST_CASE("a run without hope exits 3 and keeps finite weights", "[train]") {
  const Folder folder;
  folder.write("run.toml", kConfig);
  const Outcome outcome = run_nudge(folder, "train run.toml --set estimator=aep --set beta=1e30 --set train.steps=70");
  CHECK(outcome.exit_code == 3);
  CHECK_THAT(outcome.errors, Contains("not finite"));
  CHECK_THAT(outcome.output, Contains("50 not finite steps"));
  const H5Reader file(folder.file("run.h5"));
  for (const std::string& name : file.all_datasets("parameters")) {
    CHECK_NOTHROW(file.reals<double>(name, std::nullopt, NonFinite::rejected));
  }
  CHECK(file.texts("events/text").size() >= 50);
}

TEST_CASE("a run that is killed at any moment resumes to the bits of an unbroken one", "[train]") {
  const Folder folder;
  folder.write("run.toml", kConfig);
  const std::string settings =
      " --set train.steps=240 --set train.evaluate_every=60 --set device.model=soft_bounds "
      "--set device.update=pulsed --set \"device.read_noise=0.1 %\" --set relaxation.free_steps=24 "
      "--set relaxation.nudged_steps=24 --set train.learning_rate=1e-3";
  REQUIRE(run_nudge(folder, "train run.toml --out straight.h5" + settings).exit_code == 0);
  const std::string broken = folder.file("broken.h5");
  std::vector<std::string> arguments{"train", "run.toml",
                                     "--out", "broken.h5",
                                     "--set", "train.steps=240",
                                     "--set", "train.evaluate_every=60",
                                     "--set", "device.model=soft_bounds",
                                     "--set", "device.update=pulsed",
                                     "--set", "device.read_noise=0.1 %",
                                     "--set", "relaxation.free_steps=24",
                                     "--set", "relaxation.nudged_steps=24",
                                     "--set", "train.learning_rate=1e-3"};
  std::int64_t done = -1;
  for (int kill = 0; kill < 3; ++kill) {
    Background run(folder, arguments);
    REQUIRE(wait_beyond(broken, done));
    std::this_thread::sleep_for(std::chrono::milliseconds(7 * kill));
    run.end(SIGKILL);
    done = steps_done(broken);
    CAPTURE(kill, done);
    CHECK(done % 3 == 0);
    arguments = {"train", "--resume", "broken.h5"};
  }
  CHECK(done < 240);  // else this machine is too fast for the test to have broken anything
  const Outcome rest = run_nudge(folder, "train --resume broken.h5");
  CHECK(rest.exit_code == 0);
  CHECK(differing_objects(folder.file("straight.h5"), broken) == std::vector<std::string>{});
  for (const auto& entry : std::filesystem::directory_iterator(folder.file(""))) {
    CHECK_THAT(entry.path().filename().string(), !Contains("partial"));
  }
}

TEST_CASE("signals that come while products run leave the memory whole", "[train]") {
  const Folder folder;
  folder.write("run.toml", kConfig);
  // One long step of products that the library makes code for (a shape above its threshold), and a signal every millisecond.
  Background run(folder,
                 {"train", "run.toml", "--set", "model.channels=64", "--set", "model.tokens=32", "--set",
                  "model.memories=256", "--set", "train.batch=64", "--set", "train.steps=100", "--set",
                  "train.checkpoint_every=1", "--set", "train.evaluation_batches=1", "--set", "train.test_batches=1"});
  REQUIRE(wait_beyond(folder.file("run.h5"), 0));
  for (int k = 0; k < 400; ++k) {
    run.send(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(run.end(SIGINT) == 0);
  CHECK(steps_done(folder.file("run.h5")) >= 1);
}

TEST_CASE("an interrupted run checkpoints where it is, exits 0 and resumes", "[train]") {
  const Folder folder;
  folder.write("run.toml", kConfig);
  const int signal = GENERATE(SIGINT, SIGTERM);
  const std::string out = folder.file("run.h5");
  std::filesystem::remove(out);
  Background run(folder, {"train", "run.toml", "--set", "train.steps=100000"});
  REQUIRE(wait_beyond(out, 3));
  CHECK(run.end(signal) == 0);
  const std::int64_t done = steps_done(out);
  CHECK(done >= 6);
  CHECK(static_cast<std::int64_t>(H5Reader(out).reals<double>("train/loss").size()) == done);
}

TEST_CASE("a run whose messages nobody reads stops and saves all the same", "[train]") {
  const Folder folder;
  folder.write("run.toml", kConfig);
  int pipe[2];
  REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
  REQUIRE(::fcntl(pipe[1], F_SETPIPE_SZ, 8192) > 0);
  Background run(folder, {"train", "run.toml", "--set", "train.steps=100000", "--set", "output.print_every=1"},
                 pipe[1]);
  // The pipe is full where nothing more comes in 0.3 s: a step takes milliseconds.
  int held = 0, before = -1;
  for (int i = 0; i < 200 && (held < 4096 || held != before); ++i) {
    before = held;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    REQUIRE(::ioctl(pipe[0], FIONREAD, &held) == 0);
  }
  REQUIRE(held >= 4096);
  CHECK(run.end(SIGTERM) == 0);
  CHECK(steps_done(folder.file("run.h5")) >= 4096 / 100);  // lines have fewer than 100 characters
  for (const int end : pipe) ::close(end);
}

TEST_CASE("on a terminal a training is one line within its width, and the last stays", "[train]") {
  const Folder folder;
  folder.write("run.toml", kConfig);
  constexpr unsigned short columns = 60;
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(master >= 0);
  REQUIRE(::grantpt(master) == 0);
  REQUIRE(::unlockpt(master) == 0);
  const int terminal = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  const winsize size{24, columns, 0, 0};
  REQUIRE(::ioctl(master, TIOCSWINSZ, &size) == 0);
  const std::string where = folder.file("");
  const pid_t process = ::fork();
  if (process == 0) {
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int descriptor : {0, 1}) ::dup2(nothing, descriptor);
    ::dup2(terminal, 2);
    if (::chdir(where.c_str()) == 0)
      ::execl(NUDGE_PROGRAM, NUDGE_PROGRAM, "train", "run.toml", "--set", "train.steps=40", "--set",
              "train.beside=implicit", nullptr);
    ::_exit(127);
  }
  ::close(terminal);
  std::string shown;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(master, buffer, sizeof buffer)) > 0;) shown.append(buffer, got);
  int status = 0;
  ::waitpid(process, &status, 0);
  ::close(master);
  CHECK(WEXITSTATUS(status) == 0);
  // What a row of the terminal shows is what stands behind the last return of its line.
  std::istringstream lines(shown);
  int steps = 0;
  for (std::string line; std::getline(lines, line);) {
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = std::min(line.find('\r', at), line.size());
      const std::string part = line.substr(at, end - at);
      const std::string text = part.starts_with("\x1b[K") ? part.substr(3) : part;
      INFO(text);
      CHECK(text_columns(text) <= columns);
      at = end + 1;
    }
    steps += line.find("step    ") != std::string::npos ? 1 : 0;
  }
  CHECK(steps == 1);
  CHECK_THAT(shown, Contains("step     39/40") && Contains("step     40/40"));
}
