// Transfers between the same two places are one in the linear program of a set.
#include "core/planner/bounds/merged_transfers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/planner/bounds/transfer_program.hpp"
#include "core/solver/linear_program.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using namespace literals;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

class MergedTransfersOfMesh : public testing::Test {
 protected:
  std::vector<OpenTransfer> transfers(std::vector<std::pair<char const*, Bytes>> const& to) {
    std::vector<Request> requests;
    for (auto const& [name, bytes] : to)
      requests.push_back(
          {.id = name, .from = model_.machine().place("gpu0"), .to = model_.machine().place(name), .bytes = bytes});
    return open_transfers(Planner(model_).plan(requests), model_);
  }
  static std::vector<double> none(std::vector<OpenTransfer> const& transfers) {
    return std::vector<double>(transfers.size(), 0);
  }

  Model model_{test::bundled().machine("dgx-1-v100")};
};

TEST_F(MergedTransfersOfMesh, AreOneForEachPairOfPlaces) {
  auto const all = transfers({{"gpu1", 16_MiB}, {"gpu2", 16_MiB}, {"gpu1", 48_MiB}, {"gpu2", 1_MiB}});
  auto const none_before = none(all);
  TransferConstraints const constraints(all, model_, none_before, none_before);
  MergedTransfers const merged(constraints);
  EXPECT_THAT(merged.megabytes(), ElementsAre(DoubleNear(67.108864, 1e-9), DoubleNear(17.825792, 1e-9)));
  EXPECT_EQ(merged.columns().size(), all[0].options.size() + all[1].options.size());
  for (auto const& column : merged.columns()) EXPECT_EQ(column.members.size(), 2U);
}

// Both of gpu1 keep to one way as far as that has room: only the second is divided.
TEST_F(MergedTransfersOfMesh, KeepToOneWayWhereTheyCan) {
  auto const all = transfers({{"gpu1", 16_MiB}, {"gpu1", 48_MiB}});
  auto const none_before = none(all);
  TransferConstraints const constraints(all, model_, none_before, none_before);
  MergedTransfers const merged(constraints);
  std::vector<double> megabytes(merged.columns().size(), 0);
  megabytes[0] = 30;
  megabytes[2] = merged.megabytes()[0] - 30;
  auto const bytes = merged.bytes_of(megabytes);
  auto const options = all[0].options.size();
  std::vector<double> expected(2 * options, 0);
  expected[0] = 16 * 1048576.0;
  expected[options] = 30e6 - expected[0];
  expected[options + 2] = 48 * 1048576.0 - expected[options];
  EXPECT_THAT(bytes, Pointwise(DoubleNear(1), expected));
}

// The solver's sums are off by rounding: nothing of that becomes a piece.
TEST_F(MergedTransfersOfMesh, IgnoreRestsOfRounding) {
  auto const all = transfers({{"gpu1", 16_MiB}});
  auto const none_before = none(all);
  TransferConstraints const constraints(all, model_, none_before, none_before);
  MergedTransfers const merged(constraints);
  std::vector<double> megabytes(merged.columns().size(), 0);
  megabytes[0] = 1e-13;
  megabytes[1] = merged.megabytes()[0] * (1 - 1e-15);
  auto const bytes = merged.bytes_of(megabytes);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0.0), static_cast<std::ptrdiff_t>(bytes.size() - 1));
  EXPECT_NEAR(bytes[1], 16 * 1048576.0, 1e-3);
}

// Cut into pieces, the transfers move the same bytes over the same ways: only the pieces' starts differ.
TEST_F(MergedTransfersOfMesh, HaveTheBoundOfOneTransferOfAllTheirBytes) {
  if (!linear_solver()) GTEST_SKIP() << "no linear solver";
  auto const whole = transfers({{"gpu1", 256_MiB}, {"gpu2", 512_MiB}, {"gpu4", 256_MiB}});
  std::vector<std::pair<char const*, Bytes>> cut;
  for (int n = 0; n < 8; ++n) {
    cut.emplace_back("gpu1", 32_MiB);
    cut.emplace_back("gpu2", n % 2 == 0 ? 32_MiB : 96_MiB);
    cut.emplace_back("gpu4", 32_MiB);
  }
  auto const pieces = transfers(cut);
  auto const of_whole = best_division(whole, model_);
  auto const of_pieces = best_division(pieces, model_);
  ASSERT_TRUE(of_whole && of_pieces);
  EXPECT_NEAR(of_pieces->makespan / of_whole->makespan, 1, 0.01);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    EXPECT_NEAR(std::accumulate(of_pieces->bytes[i].begin(), of_pieces->bytes[i].end(), 0.0),
                static_cast<double>(pieces[i].bytes.value()), 1);
}

}  // namespace
}  // namespace lanewise
