// SPDX-License-Identifier: Apache-2.0
#include "apps/program.hpp"

int main(int argc, char** argv) { return static_cast<int>(nudge::run_program(argc, argv)); }
