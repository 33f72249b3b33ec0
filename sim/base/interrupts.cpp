// SPDX-License-Identifier: Apache-2.0
#include "sim/base/interrupts.hpp"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>

namespace nudge {
namespace detail {

std::atomic<bool> asked_to_stop = false;

void stop_if_stoppable() {
  if (Interruptible::here()) throw Interrupted{};
}

}  // namespace detail

namespace {

std::atomic<int> signal_that_came = 0;
std::atomic<bool> saves_by_itself = false;

/// Held for good by a thread that ends the process: no file is registered or renamed any more behind its back.
std::recursive_mutex& files_mutex() {
  static auto* const mutex = new std::recursive_mutex;  // outlives all
  return *mutex;
}
std::multiset<std::filesystem::path>& files() {
  static auto* const all = new std::multiset<std::filesystem::path>;
  return *all;
}

thread_local bool may_stop = false;

[[noreturn]] void end_by(int signal) {
  files_mutex().lock();
  for (const auto& path : files()) ::unlink(path.c_str());
  constexpr std::string_view text = "nudge: interrupted\n";
  static_cast<void>(
      !::write(STDERR_FILENO, text.data(), text.size()));  // a stream may be locked by what was interrupted
  std::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(signal);
  ::_exit(128 + signal);
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

// Not by a handler: generated code of the product library uses the stack pointer for data, and the frame of a handler that
// interrupts it would overwrite them (seen as a corrupt heap after a SIGINT). The signals are blocked in every thread that
// computes, which inherits the mask, and one thread waits for them.
void watch_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    if (signal != SIGHUP || !is_ignored(signal)) sigaddset(&signals, signal);
  }
  if (::pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0) return;
  std::thread([signals] {
    for (int signal = 0; ::sigwait(&signals, &signal) == 0;) {
      signal_that_came = signal;
      detail::asked_to_stop = true;
      if (!saves_by_itself) end_by(signal);
    }
  }).detach();
}

bool interrupted() {
  saves_by_itself = true;
  return detail::asked_to_stop;
}

Interruptible::Interruptible(bool allowed) : before_(may_stop) { may_stop = allowed; }
Interruptible::~Interruptible() { may_stop = before_; }
bool Interruptible::here() { return may_stop; }

void end_by_signal() {
  if (const int signal = signal_that_came; signal != 0) end_by(signal);
}

RemovedOnInterrupt::RemovedOnInterrupt(const std::filesystem::path& path) : path_(path) {
  const std::lock_guard lock(files_mutex());
  files().insert(path_);
}

RemovedOnInterrupt::~RemovedOnInterrupt() {
  const std::lock_guard lock(files_mutex());
  files().erase(files().find(path_));
}

SignalsWait::SignalsWait() { files_mutex().lock(); }
SignalsWait::~SignalsWait() { files_mutex().unlock(); }

void survive_writes() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

}  // namespace nudge
