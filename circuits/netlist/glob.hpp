// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nudge {

/// Whether a name fits a glob: * stands for any characters, ? for one; case does not matter.
bool fits_glob(const std::string& glob, const std::string& name);

}  // namespace nudge
