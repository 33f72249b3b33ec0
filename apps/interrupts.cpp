// SPDX-License-Identifier: Apache-2.0
#include "apps/interrupts.hpp"

#include <csignal>
#include <initializer_list>

namespace nudge {
namespace {

volatile std::sig_atomic_t asked_to_stop = 0;
void on_interrupt(int /*signal*/) { asked_to_stop = 1; }

}  // namespace

void watch_interrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, on_interrupt);
}

bool interrupted() { return asked_to_stop != 0; }

void survive_writes() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

}  // namespace nudge
