// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sim/io/h5_document.hpp"

namespace nudge {

/// Processor and operating system that the program runs on.
struct MachineFacts {
  std::string cpu_model;  ///< as the kernel names it, or "unknown"
  int cores = 0;          ///< logical processors
  std::string system;     ///< kernel name, release, architecture
};
MachineFacts machine_facts();

/// Now, in UTC, as 2025-01-31T12:34:56Z.
std::string now_utc();

/// Provenance of a run: what must be known to repeat it.
struct RunRecord {
  std::string kind;    ///< train, gradcheck or sweep
  std::string config;  ///< the resolved config, TOML
  std::int64_t seed = 0;
  std::string precision;  ///< float or double
  int threads = 0;
  std::string started;      ///< now_utc() at the start
  double wall_time_s = 0;   ///< time so far, without the time between a kill and --resume
  std::string inputs = {};  ///< files that the config names with their digests, a line each; empty: none
};

/// Adds the record, the build and the machine as root attributes, as docs/reference/files.md lists them.
void add_run_record(H5Document& document, const RunRecord& record);

}  // namespace nudge
