// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nudge::report {

/// One self-contained page (inline SVG and CSS, nothing fetched) about one or more run files. It opens with a title and a sentence
/// made from the numbers and the figure that shows them; then losses of the estimator and of backprop, gradient agreement per
/// parameter group, residual and damping over steps, ranked effects and curves of sweeps, resolved configs and provenance. Every
/// figure holds its numbers as CSV; a script of a few lines saves either. Runs of one kind are compared in the same figures, sweeps of
/// one config are pooled over their seeds. What a file lacks is left out with a sentence. UserError: no file given, or load_run_file() fails. The page is also well-formed XML.
std::string report_html(const std::vector<std::filesystem::path>& files);

}  // namespace nudge::report
