// SPDX-License-Identifier: Apache-2.0
#include "sim/base/interrupts.hpp"

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <initializer_list>
#include <thread>

namespace nudge {
namespace {

std::atomic<bool> asked_to_stop = false;

}  // namespace

// Not by a handler: generated code of the product library uses the stack pointer for data, and the frame of a handler that
// interrupts it would overwrite them (seen as a corrupt heap after a SIGINT). The signals are blocked in every thread that
// computes, which inherits the mask, and one thread waits for them.
void watch_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&signals, signal);
  if (::pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0) return;
  std::thread([signals] {
    for (int signal = 0; ::sigwait(&signals, &signal) == 0;) asked_to_stop = true;
  }).detach();
}

bool interrupted() { return asked_to_stop; }

void survive_writes() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

}  // namespace nudge
