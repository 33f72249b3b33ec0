// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace nudge {

/// A choice of the config, and what it leaves unread.
struct IdleChoice {
  const char* key;
  std::function<bool(const Config& config, const std::string& key)> leaves;
  std::function<std::string(const Config& config, const std::string& key)> why;
};

/// All of them. One more is a line.
const std::vector<IdleChoice>& idle_choices();

/// Whether nothing in a training of this config reads the key: another value of it makes the same run.
bool is_idle(const Config& config, const std::string& key);

/// Whether the kind of network leaves the key unread, as the keys of others.
bool network_leaves(const Config& config, const std::string& key);

/// The estimator of a training, which alone runs.
IdleChoice idle_estimator();

}  // namespace nudge
