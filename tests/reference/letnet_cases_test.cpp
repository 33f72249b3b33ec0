// SPDX-License-Identifier: Apache-2.0
// The kind letnet through the program: the reference cases, a case without references, refusals.

#include "reference/case_kind.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/reference/letnet_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shared_file.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

TEST_CASE("every letnet reference case is reproduced", "[cases][letnet]") {
  const auto all = reference_cases("letnet_");
  for (const auto& path : all) {
    const CaseOutcome outcome = run_case(path, std::nullopt);
    INFO(outcome.report);
    CHECK(outcome.failed == 0);
    CHECK(outcome.compared > 80);
  }
  CHECK((all.empty() || all.size() >= 4));
}

TEST_CASE("a letnet case without references computes everything, with gradients that agree", "[letnet]") {
  const Folder folder;
  LetnetFile made;
  made.attributes["eps"] = 1.0;
  made.attributes["T1"] = std::int64_t{8};
  made.attributes["T2"] = std::int64_t{8};
  made.write(folder);
  const Outcome outcome = run_nudge(folder, "case case.h5 --out out.h5");
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.output, Contains("0 compared, 0 failed"));
  const H5Reader out(folder.file("out.h5"));
  // Eight unit steps settle eight nodes: backprop through them, the frozen nudge and the exact adjoint are one gradient, the
  // first two computed by nothing that they share but the layers.
  for (const char* parameter : {"tok", "pos", "Wq", "Wk", "Wv", "Wo", "W1", "W2", "Wh"}) {
    CAPTURE(parameter);
    const auto values = [&](const char* name) {
      return out.reals<double>(std::string("out/grad_") + name + "/" + parameter);
    };
    const auto exact = values("exact"), frozen = values("frozen"), bptt = values("bptt");
    double scale = 0, far = 0, through = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      scale += exact[i] * exact[i];
      far += (frozen[i] - exact[i]) * (frozen[i] - exact[i]);
      through += (bptt[i] - exact[i]) * (bptt[i] - exact[i]);
    }
    CHECK(far < 1e-22 * scale);  // relative 1e-11: rounding of z over the nudge
    CHECK(through < 1e-22 * scale);
  }
}

TEST_CASE("malformed letnet files end with exit 2, named, and write nothing", "[letnet]") {
  const Folder folder;
  LetnetFile wrong;
  wrong.attributes["n"] = std::int64_t{7};
  wrong.write(folder);
  const Outcome outcome = run_nudge(folder, "case case.h5 --out out.h5");
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.errors, Contains("case.h5") && Contains("attribute n"));
  CHECK_FALSE(std::filesystem::exists(folder.file("out.h5")));
}
