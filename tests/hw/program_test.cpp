// Programs of collectives, run here on the host as their kernel would on GPUs: memory, flags and images are real, only
// the GPUs are not. Whichever GPU goes on first, the sums must be right.
#include "hw/program/device_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/machine/catalogue.hpp"
#include "core/planner/collectives/plan_collective.hpp"
#include "hw/memory/pattern.hpp"
#include "hw/program/contents.hpp"
#include "hw/program/program_image.hpp"

namespace lanewise::hw {
namespace {

using namespace literals;
using ::testing::HasSubstr;

constexpr std::uint32_t kMostBlocks = 264;  // two on each multiprocessor of an H200

Machine bundled(std::string const& name) {
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  return catalogue.machine(name);
}

Collective among(Machine const& machine, CollectiveOp op, std::size_t count, Bytes bytes,
                 Algorithm algorithm = Algorithm::Auto) {
  Collective collective{op, {}, bytes, algorithm, op == CollectiveOp::Chain ? 0 : count / 2};
  for (auto const gpu : machine.all(PciKind::Gpu))
    if (collective.among.size() < count) collective.among.emplace_back(gpu);
  return collective;
}

std::uint8_t expected_byte(Content const& content, std::int64_t offset) {
  Contribution const contribution{static_cast<std::uint64_t>(content.from.value()) / 8, content.first, content.count};
  auto const at = static_cast<std::uint64_t>(offset);
  return byte_of(contributed_word(contribution, at / 8), at);
}

// One GPU's kernel, task by task.
class HostKernel {
 public:
  HostKernel(ProgramImage image, std::vector<std::uint32_t> const& flags) : image_(std::move(image)), flags_(flags) {
    header_ = reinterpret_cast<ProgramHeader const*>(image_.bytes.data());
    tasks_ = reinterpret_cast<PackedTask const*>(header_ + 1);
    addresses_ = reinterpret_cast<std::uint64_t const*>(tasks_ + header_->tasks);
    numbers_ = reinterpret_cast<std::uint32_t const*>(addresses_ + header_->addresses);
  }

  // Does the next thing if that may be done now.
  bool step(std::uint32_t epoch) {
    if (done_) return false;
    if (!arrived_) {
      for (auto const flag : image_.arrivals) *reinterpret_cast<std::uint32_t*>(flag) = epoch;
      return arrived_ = true;
    }
    if (next_ == header_->tasks) return done_ = all_reached(header_->leaves, epoch);
    auto const& task = tasks_[next_];
    if (!all_reached(task.waits, epoch)) return false;
    perform(task);
    for (std::uint32_t i = 0; i < task.signals.count; ++i)
      *reinterpret_cast<std::uint32_t*>(addresses_[task.signals.first + i]) = epoch;
    ++next_;
    return true;
  }
  [[nodiscard]] bool done() const { return done_; }
  void begin_again() { arrived_ = done_ = false, next_ = 0; }

 private:
  [[nodiscard]] bool all_reached(Stretch numbers, std::uint32_t epoch) const {
    for (std::uint32_t i = 0; i < numbers.count; ++i)
      if (flags_[numbers_[numbers.first + i]] != epoch) return false;
    return true;
  }
  void perform(PackedTask const& task) const {
    auto* const target = reinterpret_cast<std::uint32_t*>(task.target);
    for (std::uint64_t i = 0; i < task.bytes / 4; ++i) {
      std::uint32_t sum = 0;
      for (std::uint32_t s = 0; s < task.sources.count; ++s)
        sum += reinterpret_cast<std::uint32_t const*>(addresses_[task.sources.first + s])[i];
      target[i] = sum;
    }
  }

  ProgramImage image_;
  std::vector<std::uint32_t> const& flags_;
  ProgramHeader const* header_;
  PackedTask const* tasks_;
  std::uint64_t const* addresses_;
  std::uint32_t const* numbers_;
  std::uint32_t next_ = 0;
  bool arrived_ = false, done_ = false;
};

class HostRun {
 public:
  explicit HostRun(Plan const& plan) : plan_(plan), programs_(lower(plan, kMostBlocks)) {
    Addresses where;
    for (auto const& buffer : plan.buffers) {
      memory_.emplace_back(static_cast<std::size_t>(buffer.bytes.value()) / 4);
      where.buffers.push_back(reinterpret_cast<std::uint64_t>(memory_.back().data()));
    }
    flags_.assign(programs_.gpus.size(), std::vector<std::uint32_t>(flags_of(programs_)));
    for (auto& flags : flags_) where.flags.push_back(reinterpret_cast<std::uint64_t>(flags.data()));
    for (std::size_t gpu = 0; gpu < programs_.gpus.size(); ++gpu)
      kernels_.emplace_back(image_of(programs_, plan.buffers, gpu, where), flags_[gpu]);
  }

  // What is wrong after a run in which a random GPU goes on each time; empty: nothing.
  std::string fault(std::uint32_t epoch, std::mt19937& random) {
    fill();
    for (auto& kernel : kernels_) kernel.begin_again();
    std::vector<std::size_t> order(kernels_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (;;) {
      std::shuffle(order.begin(), order.end(), random);
      bool moved = false;
      for (auto const gpu : order)
        if (!moved) moved = kernels_[gpu].step(epoch);
      if (!moved) break;
    }
    for (auto const& kernel : kernels_)
      if (!kernel.done()) return "a kernel waits for ever";
    return mismatch();
  }

 private:
  void fill() {
    auto const contents = contents_at_first(plan_);
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      std::fill(memory_[i].begin(), memory_[i].end(), 0xdeadbeefU);
      auto* const bytes = reinterpret_cast<std::uint8_t*>(memory_[i].data());
      for (auto const& content : contents[i])
        for (std::int64_t k = 0; k < content.bytes.value(); ++k)
          bytes[content.at.value() + k] = expected_byte(content, k);
    }
  }
  [[nodiscard]] std::string mismatch() const {
    auto const contents = contents_in_the_end(plan_);
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      auto const* const bytes = reinterpret_cast<std::uint8_t const*>(memory_[i].data());
      for (auto const& content : contents[i])
        for (std::int64_t k = 0; k < content.bytes.value(); ++k)
          if (bytes[content.at.value() + k] != expected_byte(content, k))
            return plan_.buffers[i].name + " at " + std::to_string(content.at.value() + k);
    }
    return {};
  }

  Plan const& plan_;
  DevicePrograms programs_;
  std::vector<std::vector<std::uint32_t>> memory_;
  std::vector<std::vector<std::uint32_t>> flags_;
  std::vector<HostKernel> kernels_;
};

class Programs : public testing::TestWithParam<CollectiveOp> {};

TEST_P(Programs, GiveEveryoneWhatTheCollectiveSays) {
  Model const model(bundled("hgx-h200"));
  std::mt19937 random(1);  // NOLINT: the same every time
  for (std::size_t count = 2; count <= 8; ++count)
    for (auto const bytes : {Bytes(16 * 840), Bytes(16 * 8 * 840 + 16 * static_cast<std::int64_t>(count))})
      for (auto const& plan : plans_of_collective(model, among(model.machine(), GetParam(), count, bytes))) {
        auto const why = why_streams(plan, model.machine());
        ASSERT_FALSE(why) << *why;
        HostRun run(plan);
        for (std::uint32_t epoch = 1; epoch <= 3; ++epoch)
          EXPECT_EQ(run.fault(epoch, random), "") << to_string(plan.collective->algorithm) << " among " << count;
      }
}

INSTANTIATE_TEST_SUITE_P(Ops, Programs,
                         testing::Values(CollectiveOp::Broadcast, CollectiveOp::Scatter, CollectiveOp::Gather,
                                         CollectiveOp::AllGather, CollectiveOp::ReduceScatter, CollectiveOp::AllReduce,
                                         CollectiveOp::AllToAll, CollectiveOp::Chain));

TEST(Lower, SendsUnevenPieces) {
  Model const model(bundled("hgx-h200"));
  auto uneven = among(model.machine(), CollectiveOp::AllToAllV, 3, Bytes(0));
  for (std::int64_t from = 0; from < 3; ++from)
    uneven.sizes.push_back({Bytes(16 * 999 * from), Bytes(16 * 999 * (5 + from)), Bytes(16 * 777 * from)});
  uneven.bytes = held_by(uneven, 2);
  auto const plan = plan_collective(model, uneven);
  EXPECT_EQ(why_streams(plan, model.machine()).value_or(""), "");
  std::mt19937 random(1);  // NOLINT: the same every time
  EXPECT_EQ(HostRun(plan).fault(1, random), "");
}

TEST(Lower, FindsAWaitThatIsMissing) {
  Model const model(bundled("hgx-h200"));
  auto plan = plan_collective(model, among(model.machine(), CollectiveOp::AllReduce, 4, 1_MiB, Algorithm::Ring));
  for (auto& step : plan.steps) step.after.clear();
  std::mt19937 random(1);  // NOLINT: the same every time
  EXPECT_NE(HostRun(plan).fault(1, random), "");
}

TEST(Lower, AddsAllThatOthersHaveAtOnce) {
  Model const model(bundled("hgx-h200"));
  auto const plans = plans_of_collective(model, among(model.machine(), CollectiveOp::AllReduce, 8, 4_KiB));
  // In one step: the result is beside the data.
  auto const plan = std::find_if(plans.begin(), plans.end(), [](Plan const& p) { return p.buffers.size() == 16; });
  ASSERT_NE(plan, plans.end());
  auto const programs = lower(*plan, kMostBlocks);
  ASSERT_EQ(programs.tasks.size(), 8U);  // each GPU its own and seven others'
  for (auto const& task : programs.tasks) {
    EXPECT_EQ(task.sources.size(), 8U);
    EXPECT_EQ(task.blocks, 1U);
    EXPECT_TRUE(task.waits.empty());
  }
}

TEST(Lower, LetsTasksSideBySideShareTheBlocks) {
  Model const model(bundled("hgx-h200"));
  auto const plan =
      plan_collective(model, among(model.machine(), CollectiveOp::AllGather, 8, 64_MiB, Algorithm::Direct));
  auto const programs = lower(plan, kMostBlocks);
  for (std::size_t gpu = 0; gpu < programs.gpus.size(); ++gpu) {
    std::vector<int> users(kMostBlocks);
    for (auto const& task : programs.tasks)
      for (auto block = task.first_block; task.gpu == gpu && block < task.first_block + task.blocks; ++block)
        ++users.at(block);
    EXPECT_EQ(*std::max_element(users.begin(), users.end()), 1);
    EXPECT_GT(programs.blocks_on(gpu), kMostBlocks * 9 / 10);
  }
}

TEST(WhyStreams, SaysWhatProgramsCannotDo) {
  Model const model(bundled("hgx-h200"));
  auto const& machine = model.machine();
  auto const small = plan_collective(model, among(machine, CollectiveOp::AllGather, 2, 1_MiB));
  EXPECT_FALSE(why_streams(small, machine));
  auto const large = plan_collective(model, among(machine, CollectiveOp::AllGather, 2, 1_GiB));
  EXPECT_THAT(why_streams(large, machine).value_or(""), HasSubstr("copy engines"));
  auto plan = small;
  plan.steps.push_back({"work", plan.steps[0].from, plan.steps[0].from, Bytes(0), Op::Copy, {}, {}});
  plan.steps.back().work = Seconds(1e-5);
  EXPECT_THAT(why_streams(plan, machine).value_or(""), HasSubstr("computes"));
  plan = small;
  plan.collective.reset();
  EXPECT_THAT(why_streams(plan, machine).value_or(""), HasSubstr("no buffers"));
  Model const pcie(bundled("a100x8-pcie-4sw"));
  auto const staged = plan_collective(pcie, among(pcie.machine(), CollectiveOp::AllGather, 8, 8_MiB));
  EXPECT_THAT(why_streams(staged, pcie.machine()).value_or(""), HasSubstr("host_staged is no access"));
}

TEST(Contents, AreThoseOfEachCollectiveOfAPlan) {
  auto const machine = bundled("hgx-h200");
  Plan plan{machine.name, "", {}, {}};
  plan.buffers.resize(2 + 4);
  plan.collectives = {{"first", among(machine, CollectiveOp::AllGather, 2, Bytes(64)), BufferId(0)},
                      {"second", among(machine, CollectiveOp::AllReduce, 2, Bytes(32)), BufferId(2)}};
  auto const begin = contents_at_first(plan);
  auto const end = contents_in_the_end(plan);
  EXPECT_EQ(begin[1], (std::vector<Content>{{Bytes(32), Bytes(32), Bytes(32), 1, 1}}));
  EXPECT_EQ(end[0].size(), 2U);
  EXPECT_EQ(begin[3], (std::vector<Content>{{Bytes(0), Bytes(32), Bytes(0), 1, 1}}));
  EXPECT_TRUE(end[3].empty());  // the result of the second is beside its data
  EXPECT_EQ(end[5], (std::vector<Content>{{Bytes(0), Bytes(32), Bytes(0), 0, 2}}));
}

TEST(Contents, AreTheSumsOfAll) {
  auto const machine = bundled("hgx-h200");
  Plan plan{machine.name, "", {}, {}, {}, among(machine, CollectiveOp::ReduceScatter, 3, Bytes(16 * 10))};
  plan.buffers.resize(3);
  auto const end = contents_in_the_end(plan);
  // Cuts at whole 16 bytes: 3, 3 and 4 of them.
  EXPECT_EQ(end[0], (std::vector<Content>{{Bytes(0), Bytes(48), Bytes(0), 0, 3}}));
  EXPECT_EQ(end[2], (std::vector<Content>{{Bytes(96), Bytes(64), Bytes(96), 0, 3}}));
  EXPECT_EQ(contents_at_first(plan)[1], (std::vector<Content>{{Bytes(0), Bytes(160), Bytes(0), 1, 1}}));
  // Each half of a word is summed by itself.
  auto const one = contributed_word({0, 0, 1}, 5);
  auto const two = contributed_word({0, 1, 1}, 5);
  auto const low = static_cast<std::uint32_t>(one) + static_cast<std::uint32_t>(two);
  auto const high = static_cast<std::uint32_t>(one >> 32) + static_cast<std::uint32_t>(two >> 32);
  EXPECT_EQ(contributed_word({0, 0, 2}, 5), (static_cast<std::uint64_t>(high) << 32) | low);
}

}  // namespace
}  // namespace lanewise::hw
