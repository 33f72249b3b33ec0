// SPDX-License-Identifier: Apache-2.0
// Each rule accepts a good snippet and refuses a bad one: a check that cannot fail checks nothing.
#include "tests/tree/rules.hpp"
#include "tests/support/catch.hpp"

namespace {

using namespace nudge::tree;

bool includes_ok(const std::string& path, const std::string& included) {
  return check_include_direction({path, "#include \"" + included + "\"\n"}).empty();
}

TEST_CASE("includes may point leftwards and must not point rightwards", "[tree]") {
  CHECK(includes_ok("devices/a.cpp", "sim/base/rng.hpp"));
  CHECK(includes_ok("circuits/a.cpp", "devices/a.hpp"));
  CHECK(includes_ok("training/train/a.cpp", "mixers/a.hpp"));
  CHECK(includes_ok("apps/a.cpp", "training/data/a.hpp"));
  CHECK(includes_ok("apps/a.cpp", "reference/a.hpp"));
  CHECK(includes_ok("reference/a.cpp", "training/data/a.hpp"));
  CHECK(includes_ok("tests/a.cpp", "apps/a.hpp"));
  CHECK(includes_ok("bench/a.cpp", "training/data/a.hpp"));
  CHECK_FALSE(includes_ok("sim/base/a.cpp", "devices/a.hpp"));
  CHECK_FALSE(includes_ok("sim/settle.cpp", "circuits/a.hpp"));
  CHECK_FALSE(includes_ok("devices/a.hpp", "circuits/a.hpp"));
  CHECK_FALSE(includes_ok("mixers/a.hpp", "circuits/a.hpp"));
  CHECK_FALSE(includes_ok("circuits/a.hpp", "mixers/a.hpp"));
  CHECK_FALSE(includes_ok("circuits/terms/a.hpp", "training/data/a.hpp"));
  CHECK_FALSE(includes_ok("training/data/a.hpp", "apps/a.hpp"));
  CHECK_FALSE(includes_ok("training/data/a.hpp", "reference/a.hpp"));
  CHECK_FALSE(includes_ok("reference/a.cpp", "apps/a.hpp"));
  CHECK_FALSE(includes_ok("apps/a.cpp", "tests/support/numerics.hpp"));
  CHECK_FALSE(check_include_direction({"devices/a.cpp", "  #  include <training/data/a.hpp>\n"}).empty());
}

TEST_CASE("inside training, rooms stand in one order", "[tree]") {
  CHECK(includes_ok("training/learning/estimators/a.cpp", "training/data/a.hpp"));
  CHECK(includes_ok("training/train/a.cpp", "training/config/a.hpp"));
  CHECK(includes_ok("training/compare/a.cpp", "training/sweep/a.hpp"));
  CHECK_FALSE(includes_ok("training/data/a.cpp", "training/learning/a.hpp"));
  CHECK_FALSE(includes_ok("training/learning/a.hpp", "training/models/a.hpp"));
  CHECK_FALSE(includes_ok("training/models/block/a.cpp", "training/config/a.hpp"));
  CHECK_FALSE(includes_ok("training/config/a.cpp", "training/train/a.hpp"));
  CHECK_FALSE(includes_ok("training/sweep/a.cpp", "training/compare/a.hpp"));
  CHECK_FALSE(includes_ok("training/a_new_room/a.cpp", "apps/a.hpp"));
}

TEST_CASE("inside sim, base comes first and config and io stand alone", "[tree]") {
  CHECK(includes_ok("sim/io/a.cpp", "sim/base/errors.hpp"));
  CHECK(includes_ok("sim/steady/a.cpp", "sim/settle.hpp"));
  CHECK(includes_ok("sim/ode/a.cpp", "sim/steady/a.hpp"));
  CHECK(includes_ok("sim/settle.cpp", "sim/ode/a.hpp"));
  CHECK_FALSE(includes_ok("sim/base/a.hpp", "sim/dynamics.hpp"));
  CHECK_FALSE(includes_ok("sim/config/a.hpp", "sim/io/a.hpp"));
  CHECK_FALSE(includes_ok("sim/io/a.hpp", "sim/config/a.hpp"));
  CHECK_FALSE(includes_ok("sim/steady/a.hpp", "sim/ode/a.hpp"));
  CHECK_FALSE(includes_ok("sim/ode/a.hpp", "sim/config/a.hpp"));
  CHECK_FALSE(includes_ok("sim/settle.hpp", "sim/steady/a.hpp"));
}

TEST_CASE("libraries stay in their folder", "[tree]") {
  const auto ok = [](const std::string& path, const std::string& name) {
    return check_library_isolation({path, "#include <" + name + ">\n"}).empty();
  };
  CHECK(ok("sim/ode/a.cpp", "boost/numeric/odeint/stepper/runge_kutta4.hpp"));
  CHECK(ok("sim/config/a.cpp", "toml++/toml.h"));
  CHECK(ok("sim/io/a.cpp", "hdf5.h"));
  CHECK(ok("apps/main.cpp", "CLI/CLI.hpp"));
  CHECK(ok("tests/sim/a.cpp", "hdf5.h"));
  CHECK_FALSE(ok("sim/steady/a.cpp", "boost/numeric/odeint.hpp"));
  CHECK_FALSE(ok("training/train/a.cpp", "toml++/toml.h"));
  CHECK_FALSE(ok("training/train/a.cpp", "hdf5.h"));
  CHECK_FALSE(ok("sim/config/a.cpp", "CLI/CLI.hpp"));
  CHECK_FALSE(ok("apps/report/a.cpp", "Eigen/Eigenvalues"));
}

TEST_CASE("matrices are decomposed in one place", "[tree]") {
  const auto ok = [](const std::string& path, const std::string& text) {
    return check_decompositions({path, text}).empty();
  };
  CHECK(ok("sim/base/decompositions.cpp", "return a.ldlt().solve(b);"));
  CHECK(ok("tests/devices/a.cpp", "a.fullPivLu().solve(b)"));
  CHECK(ok("mixers/ops/a.cpp", "inverse = sums.inverse();"));  // of arrays too
  CHECK_FALSE(ok("devices/fit/a.cpp", "x = normal.ldlt().solve(right);"));
  CHECK_FALSE(ok("circuits/wires/a.cpp", "const Eigen::LLT<Eigen::MatrixXd> factor(a);"));
  CHECK_FALSE(ok("training/data/a.cpp", "a.colPivHouseholderQr().solve(b)"));
}

TEST_CASE("files are written in one place", "[tree]") {
  const auto ok = [](const std::string& path, const std::string& text) {
    return check_output_files({path, text}).empty();
  };
  CHECK(ok("sim/io/new_file.cpp", "::open(name, O_CREAT | O_EXCL);\n"));
  CHECK(ok("tests/sim/a.cpp", "std::ofstream(path) << text;\n"));
  CHECK(ok("training/train/a.cpp", "std::ifstream in(path);\n"));
  for (const char* bad :
       {"std::ofstream out(path);", "std::fstream both;", "fopen(path, \"w\");", "open(p, O_CREAT);"}) {
    CAPTURE(bad);
    CHECK_FALSE(ok("apps/a.cpp", bad));
  }
}

TEST_CASE("names of tests hold no semicolon", "[tree]") {
  const std::string head =
      "TEST_"
      "CASE(\"one thing";
  CHECK(check_test_names({"tests/sim/a.cpp", head + ", and another\", \"[sim]\") { run(); }\n"}).empty());
  CHECK(check_test_names({"sim/a.cpp", head + "; and another\") {}\n"}).empty());
  CHECK(check_test_names({"tests/sim/a.cpp", head + "; and another\") {}\n"}).size() == 1);
}

TEST_CASE("random numbers and threads come from sim/base", "[tree]") {
  const auto ok = [](const std::string& path, const std::string& text) {
    return check_randomness_and_threads({path, text}).empty();
  };
  CHECK(ok("training/train/a.cpp", "fill_normal<S>(key, 0, 0, operand(x));  // a strand (of) thread\n"));
  CHECK(ok("sim/base/parallel.hpp", "#pragma omp parallel for\n"));
  CHECK(ok("sim/io/a.cpp", "n = std::thread::hardware_concurrency();\n"));
  CHECK(ok("tests/a.cpp", "std::mt19937 engine;\n"));
  CHECK(ok("circuits/a.hpp", "#pragma omp simd reduction(+ : sum)\n"));  // one thread
  for (const char* bad :
       {"std::mt19937 e;", "std::mt19937_64 e;", "std::random_device d;", "int i = rand();", "srand(1);",
        "std::normal_distribution<double> n;", "std::uniform_real_distribution<> u;", "#pragma omp parallel for",
        "#pragma omp parallel for simd", "  # pragma  omp critical", "std::thread worker;"}) {
    CAPTURE(bad);
    CHECK_FALSE(ok("training/train/a.cpp", bad));
  }
}

TEST_CASE("the licence line stands in the first three lines", "[tree]") {
  CHECK(check_licence_line({"sim/a.cpp", "// SPDX-License-Identifier: Apache-2.0\n"}).empty());
  CHECK(check_licence_line({"tools/a.sh", "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n"}).empty());
  CHECK(check_licence_line({"README.md", "text\n"}).empty());
  for (const char* path :
       {"a.cpp", "a.hpp", "a.py", "a.sh", "cmake/a.cmake", "sim/CMakeLists.txt", "Makefile", ".ci/run"}) {
    CAPTURE(path);
    CHECK_FALSE(check_licence_line({path, ""}).empty());
    CHECK_FALSE(check_licence_line({path, "\n\n\n// SPDX-License-Identifier: Apache-2.0\n"}).empty());
    CHECK_FALSE(check_licence_line({path, "// SPDX-License-Identifier: MIT\n"}).empty());
  }
}

TEST_CASE("files are short", "[tree]") {
  const auto lines = [](int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += "\n";
    return text;
  };
  CHECK(check_length({"sim/a.hpp", lines(200)}).empty());
  CHECK(check_length({"sim/a.cpp", lines(400)}).empty());
  CHECK(check_length({"tests/a.cpp", lines(500)}).empty());
  CHECK_FALSE(check_length({"sim/a.hpp", lines(201)}).empty());
  CHECK_FALSE(check_length({"sim/a.cpp", lines(401)}).empty());
  CHECK_FALSE(check_length({"tests/a.cpp", lines(501)}).empty());
}

TEST_CASE("no path of one machine", "[tree]") {
  CHECK(check_machine_paths({"README.md", "see docs/work/home and ../shared, a/b, https://x.org/tmp\n"}).empty());
  CHECK(check_machine_paths({"tests/a.cpp", "\"/tmp/x\"\n"}).empty());
  CHECK(check_machine_paths({"a.sh", "#!/usr/bin/env bash\ncd /workshop\n"}).empty());
  for (const char* bad : {"\"/home/ann/x\"", "cd /root", "path=/tmp/x", "`/work/a`", "(/Users/ann)"}) {
    CAPTURE(bad);
    CHECK_FALSE(check_machine_paths({"docs/a.md", bad}).empty());
  }
}

}  // namespace
