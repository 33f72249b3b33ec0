// SPDX-License-Identifier: Apache-2.0
// What needs no second process; tests/apps/mpi_train_test.cpp runs under mpirun.

#include "training/batch/batch_ranks.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

TEST_CASE("ranks take contiguous parts that cover everything once, as equal as can be") {
  for (Index n = 1; n <= 17; ++n) {
    for (int ranks = 1; ranks <= 20; ++ranks) {
      Index at = 0, least = n, most = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const OwnPart part = own_part(n, rank, ranks);
        CHECK(part.begin == at);
        at = part.end;
        if (rank < n) least = std::min(least, part.count());
        most = std::max(most, part.count());
        if (rank >= n) CHECK(part.count() == 0);
      }
      CHECK(at == n);
      CHECK(least >= 1);
      CHECK(most - least <= 1);
    }
  }
}

TEST_CASE("what a rank puts is what another takes, a process alone shares nothing") {
  RankBytes bytes;
  Matrix<float> m(2, 3);
  m << 1, 2, 3, 4, 5, 6;
  bytes.put(7.5);
  bytes.put(m);
  bytes.put(Matrix<float>(0, 4));
  bytes.send_from(0);
  double number = 0;
  Matrix<float> read, empty;
  bytes.take(number);
  bytes.take(read);
  bytes.take(empty);
  CHECK(number == 7.5);
  CHECK(read == m);
  CHECK((empty.rows() == 0 && empty.cols() == 4));
  share_batches();
  CHECK_FALSE(batches_are_shared());
  CHECK(leads_batches());
  CHECK_FALSE(agreed(false));
  CHECK_NOTHROW(expect_as_on_rank_0("anything", "here"));
}
