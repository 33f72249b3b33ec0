// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/commands.hpp"
#include "netlist/nodal_equations.hpp"

namespace nudge {

/// Prints the noise of a voltage of a netlist about its operating point x, over the frequencies of a sweep: `text` is "v(out) dec 10 1 1meg" or
/// "v(a,b) …". UserError that names --noise for another form or an unknown node.
ExitCode print_noise(const std::string& text, bool json, const NodalEquations& equations, const std::vector<double>& x,
                     const std::vector<double>& node_capacitance_F);

/// Text of a card ".noise v(out) source dec 10 1 1meg" for print_noise(), from its words.
std::string noise_text(const std::vector<std::string>& card);

}  // namespace nudge
