// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nudge {

/// From now on SIGINT, SIGTERM, SIGHUP and SIGUSR1 ask long work to stop at its next step, which saves what it has and ends. SIGUSR1 is
/// the one that mpirun hands on to its ranks and does nothing else about.
/// To be called before the first thread is made that computes.
void watch_interrupts();

/// Whether one of them came.
bool interrupted();

/// A reader that has gone and a limit on the size of files are errors of the write that meets them, not the end of the
/// process.
void survive_writes();

}  // namespace nudge
