// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nudge::report {

/// One self-contained page (inline SVG and CSS, no script, no network) about one or more run files: losses of the
/// estimator and of backprop, gradient agreement per parameter group, residual and damping over steps, sweep curves, resolved
/// configs and provenance. Runs of one kind are compared in the same figures. What a file lacks is left out with a
/// sentence. UserError: no file given, or load_run_file() fails. The page is also well-formed XML.
std::string report_html(const std::vector<std::filesystem::path>& files);

}  // namespace nudge::report
