// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nudge {

/// The quantile t(p, degrees) of Student's t (Student, Biometrika 6 (1908) 1); p in (0, 1), degrees ≥ 1.
double student_t_quantile(double p, int degrees);

/// Half of the 95 % interval of the mean of n normal numbers of sample deviation s: t(0.975, n − 1) s/√n; n ≥ 2.
double student_t_half_width(double deviation, int n);

}  // namespace nudge
