// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// Config that a file was made by. A file from before levels of hardware has the physics that its keys say. Keys of the former `nudge
/// experiment` are left out.
Config stored_program_config(const H5Reader& file);
/// Config of the text in a file of this name, read in the same way.
Config stored_program_config(const std::string& name, const std::string& text);

/// Config of a file with settings on top, for things that are made anew from it. If the settings choose other devices, nothing of the
/// old ones is kept. A run of numbers had no circuit: it keeps only the settings that were asked for.
Config config_on_top(const Config& stored, const std::string& name, const std::vector<std::string>& settings);

/// Config with the model.damping at which the weights of model.weights were learnt. The same numbers at another damping are another
/// equilibrium. Unchanged where no control had changed the damping of their run, where a setting (--set) says it, and for files that
/// record a whole config.
Config with_learnt_damping(Config config);
/// Settings under which the config of a run is one of its trained network, which learns no more: the weights of a file, without
/// control of the damping.
std::vector<std::string> trained_settings(const Config& stored, const std::string& weights);

/// Beginning of the origin of such a damping (set_by()), before the name of the file.
inline constexpr const char* learnt_damping_origin = "learnt in ";

/// Throws UserError unless the file is of this kind ("sweep"). `use` says what only such a file is good for ("can be
/// resumed").
void expect_kind(const H5Reader& file, const std::string& kind, const std::string& use);

/// Checks before a study is resumed that `file` is of this kind ("sweep") and holds the same config. Threads, output.*
/// and the keys that may differ do not count. UserError naming each other key that does.
void expect_stored_config(const H5Reader& file, const std::string& kind, const Config& config,
                          const std::function<bool(const std::string& key)>& may_differ);

}  // namespace nudge
