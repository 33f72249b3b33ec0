// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/config/run_parts.hpp"

namespace nudge {

/// Text for the origin of a key's value: "run.toml:12:9", or "--set". A value that follows from another choice has this
/// choice: "hardware.level = mixed", "device.preset ecram".
std::string set_by(const Config& config, const std::string& key);

/// Value that a training reads and the user did not set.
struct GivenValue {
  std::string by;  ///< "device.preset ecram", "hardware.level = mixed", or "auto"
  std::string key;
  std::string value;   ///< as text; of auto without one value for the whole run its rule: "ranged by each read"
  std::string reason;  ///< reason for the value of auto; may be empty
  /// True if the value was measured on the network or its first batch.
  bool measured = false;

  bool operator==(const GivenValue&) const = default;
};

/// Values that the user did not set, by what set them: presets and levels first, then auto. A sweep's axes are left
/// out. `made`: the config with the choices of a run made, or the same; parts: null where they are not made yet.
std::vector<GivenValue> given_values(const Config& asked, const Config& made, const RunParts* parts = nullptr);
inline std::vector<GivenValue> given_values(const Config& asked) { return given_values(asked, asked); }

/// Writes the tables /given/key, value, by and reason, and reads them back; nothing where there are none.
void write_given(const std::vector<GivenValue>& values, H5Document& document);
std::vector<GivenValue> read_given(const H5Reader& file);

}  // namespace nudge
