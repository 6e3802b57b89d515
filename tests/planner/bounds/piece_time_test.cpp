// The least time of a piece against the model's own, for every way and many sizes and chunks.
#include "core/planner/bounds/piece_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "lanewise/planner/bounds/lower_bound.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/parameter_name.hpp"

namespace lanewise {
namespace {

using namespace literals;

struct Pair {
  char const* machine;
  char const* from;
  char const* to;
};

class PieceTimeOf : public testing::TestWithParam<Pair> {
 protected:
  OpenTransfer transfer() {
    auto const& machine = model_.machine();
    auto const plan = Planner(model_).plan(
        {{.id = "one", .from = machine.place(GetParam().from), .to = machine.place(GetParam().to), .bytes = kBytes}});
    return open_transfers(plan, model_).front();
  }
  // By one step alone, with chunks of this size if the way has any.
  [[nodiscard]] Seconds time(OpenTransfer const& of, TransferOption const& option, Bytes bytes, Bytes chunk) const {
    auto way = option.way;
    if (way.chunk > Bytes(0)) way.chunk = chunk;
    return model_.cost(model_.lower(of.from, of.to, bytes, option.op, way), bytes)->time;
  }

  static constexpr Bytes kBytes = 64_MiB;
  Model model_{test::bundled().machine(GetParam().machine)};
};

TEST_P(PieceTimeOf, IsNoLongerThanThatOfAnyStep) {
  auto const all = transfer();
  for (auto const& option : all.options) {
    PieceTime const least(model_, all, option);
    auto const most_in_chunk = std::max(option.demand.chunk, 64_KiB);
    for (auto const bytes : {1_B, 4_KiB, 64_KiB, 1_MiB, 7_MiB, 33_MiB, 64_MiB}) {
      auto const least_time = least.of(static_cast<double>(bytes.value()));
      auto closest = kUnknownTime;
      for (auto chunk = 4_KiB; chunk <= most_in_chunk; chunk = chunk * 2) {
        auto const takes = time(all, option, bytes, chunk);
        closest = std::min(closest, takes);
        EXPECT_LE(least_time, takes * (1 + 1e-9))
            << to_string(option.way.mechanism) << ' ' << bytes.value() << " in chunks of " << chunk.value();
        // And so with what pieces one after another move.
        for (auto const longest : {takes, takes * 3.0, kUnknownTime}) {
          for (auto const first : {least.latency() * 0.5, least.latency()})
            EXPECT_GE(least.throughput(first, longest).value() * (takes - first).value() * (1 + 1e-6),
                      static_cast<double>(bytes.value()))
                << to_string(option.way.mechanism) << ' ' << bytes.value() << " in chunks of " << chunk.value();
        }
      }
      if (bytes >= 1_MiB) {
        EXPECT_GE(least_time * 1.15, closest) << to_string(option.way.mechanism) << ' ' << bytes.value();
      }
    }
  }
}

TEST_P(PieceTimeOf, FallsPerByteAndIsInverted) {
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

INSTANTIATE_TEST_SUITE_P(Machines, PieceTimeOf,
                         testing::Values(Pair{"gaudi-3-x8", "gpu0", "gpu1"}, Pair{"mi300x-x8-thor2", "gpu0", "gpu3"},
                                         Pair{"hgx-h200", "gpu0", "gpu7"}, Pair{"rtx3090-x8", "gpu0", "gpu7"},
                                         Pair{"dgx-1-p100", "gpu0", "gpu7"}, Pair{"dgx-1-v100", "gpu2", "numa1"},
                                         Pair{"hgx-h100-2", "node0/gpu0", "node1/gpu3"},
                                         Pair{"ethernet-2", "node0/numa0", "node1/numa0"}),
                         [](auto const& of) { return test::parameter_name(of.param.machine); });

}  // namespace
}  // namespace lanewise
