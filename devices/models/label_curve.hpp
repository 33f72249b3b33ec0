// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nudge {

/// Curvature k of x(P) = (1 − exp(−k P/N))/(1 − exp(−k)) for a nonlinearity label (see label_curve.cpp). |label|/10 is the
/// largest distance from the straight line, and k has the label's sign. |label| < 10.
double curvature_of_label(double label);

}  // namespace nudge
