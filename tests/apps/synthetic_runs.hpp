// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/io/h5_document.hpp"

namespace nudge::test {

/// Made-up run files with the layout of docs/reference/files.md and the shapes that real runs have.
H5Document synthetic_training(int steps, bool beside);
H5Document synthetic_gradcheck();
H5Document synthetic_sweep(bool second_key);

}  // namespace nudge::test
