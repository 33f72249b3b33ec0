// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nudge {

/// The quantile t(p, degrees) of Student's t (Student, Biometrika 6 (1908) 1); p in (0, 1), degrees ≥ 1.
double student_t_quantile(double p, int degrees);

}  // namespace nudge
