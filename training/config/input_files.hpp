// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/config.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// Files whose contents a run of the config depends on, beside its data (Task::fingerprint): netlist, initial weights, INL of converters,
/// maps of stuck devices, devices to learn for. A line each, "crossbar.forward_adc_inl = inl.csv 0123456789abcdef": the key, the path,
/// and FNV-1a of the bytes (64 bits; Fowler, Noll, Vo, draft-eastlake-fnv). Files that are not there have no line. Stored as the attribute
/// `inputs` of a run.
std::string input_files(const Config& config);

/// Throws UserError with both digests for a file that is not the one with which a run began, or that is gone. Files of older versions
/// have no digests.
void expect_same_inputs(const H5Reader& run, const Config& config);

}  // namespace nudge
