// The least time of a piece against the model's own, for every way and many chunks.
#include "core/planner/bounds/piece_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "lanewise/planner/bounds/lower_bound.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using namespace literals;

class PieceTimeOfMesh : public testing::Test {
 protected:
  OpenTransfer transfer() {
    auto const& machine = model_.machine();
    auto const plan = Planner(model_).plan(
        {{.id = "one", .from = machine.place("gpu0"), .to = machine.place("gpu1"), .bytes = 64_MiB}});
    return open_transfers(plan, model_).front();
  }
  // By one step alone, with chunks of this size if the way has any.
  [[nodiscard]] Seconds time(OpenTransfer const& of, TransferOption const& option, Bytes bytes, Bytes chunk) const {
    auto way = option.way;
    if (way.chunk > Bytes(0)) way.chunk = chunk;
    return model_.cost(model_.lower(of.from, of.to, bytes, option.op, way), bytes)->time;
  }

  Model model_{test::bundled().machine("gaudi-3-x8")};
};

TEST_F(PieceTimeOfMesh, IsNoLongerThanThatOfAnyStep) {
  auto const all = transfer();
  std::size_t pipelines = 0;
  for (auto const& option : all.options) {
    PieceTime const least(model_, all, option);
    pipelines += option.demand.pipeline ? 1 : 0;
    for (auto const bytes : {64_KiB, 1_MiB, 7_MiB, 33_MiB, 64_MiB}) {
      auto closest = kUnknownTime;
      for (auto chunk = 64_KiB; chunk <= 64_MiB; chunk = chunk * 2) {
        auto const takes = time(all, option, bytes, chunk);
        closest = std::min(closest, takes);
        EXPECT_LE(least.of(static_cast<double>(bytes.value())), takes * (1 + 1e-9)) << bytes.value();
        // And so with what pieces one after another move.
        auto const throughput = least.throughput_up_to(takes);
        auto const bound = throughput.rate.value() * (takes - throughput.latency).value();
        EXPECT_GE(bound * (1 + 1e-6), static_cast<double>(bytes.value()));
      }
      EXPECT_GE(least.of(static_cast<double>(bytes.value())) * 1.1, closest) << bytes.value();
    }
  }
  EXPECT_GT(pipelines, 0U);
}

TEST_F(PieceTimeOfMesh, FallsPerByteAndIsInverted) {
  auto const all = transfer();
  for (auto const& option : all.options) {
    PieceTime const least(model_, all, option);
    auto previous = kUnknownTime.value();
    for (double bytes = 4096; bytes <= 64 << 20; bytes *= 1.3) {
      auto const per_byte = least.of(bytes).value() / bytes;
      EXPECT_LE(per_byte, previous * (1 + 1e-9));
      previous = per_byte;
      EXPECT_NEAR(least.most_bytes_in(least.of(bytes)) / bytes, 1, 1e-3);
    }
    EXPECT_EQ(least.most_bytes_in(1.0_s), 64 << 20);
  }
}

}  // namespace
}  // namespace lanewise
