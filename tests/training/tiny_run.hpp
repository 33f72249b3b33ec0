// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "training/config/config_table.hpp"
#include "training/train/train_run.hpp"

namespace nudge::test {

using Settings = std::vector<std::string>;

/// A model that trains a step in about a millisecond.
inline Config tiny_config(const Settings& settings = {}) {
  return parse_program_config("tiny.toml",
                              "threads = 1\nhardware.level = 'ideal'\n"
                              "[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n"
                              "[train]\nsteps = 40\nbatch = 3\nwarmup = 5\nevaluate_every = 9\nevaluation_batches = 2\n"
                              "checkpoint_every = 0\nlearning_rate = 1e-2\n"
                              "[relaxation]\nfree_steps = 8\nnudged_steps = 8\n",
                              settings);
}

inline TrainObserver stop_after(std::uint64_t steps) {
  return [steps](const TrainProgress& p) { return p.done < steps; };
}

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace nudge::test
