// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// The config that a file was made by. What was written before there were levels of hardware had the physics that its keys say; the keys of
/// `nudge experiment`, which is no more, are left out.
Config stored_program_config(const H5Reader& file);
/// The same of the text in a file of this name.
Config stored_program_config(const std::string& name, const std::string& text);

/// The config of a file with settings on top, for what is made anew of it. Where they choose other devices, nothing of the old ones is
/// kept, and of a run of numbers, which had no circuit, nothing but what was asked for.
Config config_on_top(const Config& stored, const std::string& name, const std::vector<std::string>& settings);

/// Settings that put what a run has learnt on top of its config: the weights of a file, and of the run's own damping where control had
/// brought it.
std::vector<std::string> learnt_settings(const H5Reader& run, const Config& stored, const std::string& weights);

/// UserError unless the file is of this kind ("sweep"); `use` says what only such a file is good for ("can be resumed").
void expect_kind(const H5Reader& file, const std::string& kind, const std::string& use);

/// Checks before a study is resumed that `file` is of this kind ("sweep") and holds the same config but for threads,
/// output.* and the keys that may differ. UserError naming each other key that does.
void expect_stored_config(const H5Reader& file, const std::string& kind, const Config& config,
                          const std::function<bool(const std::string& key)>& may_differ);

}  // namespace nudge
