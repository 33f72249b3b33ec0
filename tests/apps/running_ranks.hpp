// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>

#include "tests/apps/run_ranks.hpp"

namespace nudge::test {

#ifdef NUDGE_MPIRUN
/// nudge under an mpirun that runs beside the test, as run_ranks() starts it.
class RunningRanks {
 public:
  RunningRanks(const Folder& folder, int ranks, const std::string& arguments) : log_(folder.file("running_err.txt")) {
    const std::string command = "cd '" + folder.file("") + "' && exec env " + kLeaks + " '" NUDGE_MPIRUN "' -n " +
                                std::to_string(ranks) + " '" NUDGE_PROGRAM "' " + arguments + " >running_out.txt 2>'" +
                                log_ + "' </dev/null";
    for (const char* name :
         {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"}) {
      ::setenv(name, "1", 1);
    }
    ::setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
    // Open MPI 4.1 waits so long (s) before SIGTERM and again before SIGKILL; 1 by default, too little on a loaded machine.
    ::setenv("OMPI_MCA_odls_base_sigkill_timeout", "3", 1);
    std::filesystem::remove(log_);
    mpirun_ = ::fork();
    if (mpirun_ == 0) {
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
  }
  ~RunningRanks() {
    if (mpirun_ <= 0) return;
    ::kill(mpirun_, SIGTERM);
    end();
  }
  RunningRanks(const RunningRanks&) = delete;
  RunningRanks& operator=(const RunningRanks&) = delete;

  std::string log() const { return read_file(log_); }

  /// Until the log has the text; false after a minute.
  bool wait_for(const std::string& text) const {
    return within_a_minute([&] { return log().find(text) != std::string::npos; });
  }

  /// rank < 0: to mpirun.
  void send(int signal, int rank) const { ::kill(rank < 0 ? mpirun_ : process_of(rank), signal); }

  /// Exit code of mpirun, -1 for a signal or when it has not ended within a minute; no rank is left in either case.
  int end() {
    int status = 0;
    const bool ended = within_a_minute([&] { return ::waitpid(mpirun_, &status, WNOHANG) == mpirun_; });
    if (!ended) {
      for (int rank = 0; process_of(rank) > 0; ++rank) ::kill(process_of(rank), SIGKILL);
      ::kill(mpirun_, SIGKILL);
      ::waitpid(mpirun_, &status, 0);
    }
    mpirun_ = -1;
    return ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  template <class Done>
  static bool within_a_minute(const Done& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!done()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }

  /// The child of mpirun that Open MPI gave this rank; 0: there is none.
  pid_t process_of(int rank) const {
    const std::string parent = "PPid:\t" + std::to_string(mpirun_) + "\n";
    const std::string variable = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank) + std::string(1, '\0');
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
      if (read_file(entry.path() / "status").find(parent) == std::string::npos) continue;
      if (read_file(entry.path() / "environ").find(variable) == std::string::npos) continue;
      return static_cast<pid_t>(std::stol(entry.path().filename()));
    }
    return 0;
  }

  std::string log_;
  pid_t mpirun_ = -1;
};
#endif

}  // namespace nudge::test
