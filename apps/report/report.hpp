// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nudge::report {

struct Section;

/// Makes one self-contained page (inline SVG and CSS, nothing fetched) about one or more run files. It opens with a
/// title, a sentence made from the numbers, and the figure that shows them. Losses of the estimator and of backprop
/// follow, gradient agreement per parameter group, and residual and damping over steps. Ranked effects and curves of
/// sweeps, resolved configs and provenance end it. Every figure holds its numbers as CSV; a script of a few lines saves
/// either. Runs of one kind are compared in the same figures, and sweeps of one config are pooled over their seeds. A
/// sentence says what a file lacks. UserError: no file given, or load_run_file() fails. The page is also well-formed
/// XML. `lead`: a section with the title and the figure of the page, before those of the files; null: none.
std::string report_html(const std::vector<std::filesystem::path>& files, const Section* lead = nullptr);

}  // namespace nudge::report
