// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "circuits/crossbar/mapping_spec.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Memory of this machine; 0 when the system does not tell.
double physical_memory_bytes();

/// Bytes that a crossbar of rows x cols weights keeps: conductance, two bounds and two pulse sizes of every device, the
/// effective weights, and as much again as a part of these while it is programmed.
double array_memory_bytes(Index rows, Index cols, MappingKind kind, std::size_t scalar_bytes);

/// UserError when `copies` of them exceed `available` (0: unknown, no check).
void check_array_memory(Index rows, Index cols, MappingKind kind, std::size_t scalar_bytes, double available,
                        Index copies = 1);

}  // namespace nudge
