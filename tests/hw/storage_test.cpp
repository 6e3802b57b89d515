#include "hw/storage/storage_transfer.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "hw/memory/memory.hpp"
#include "hw/memory/pattern.hpp"
#include "hw/storage/cufile.hpp"
#include "hw/storage/drives.hpp"
#include "lanewise/io/error.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise::hw {
namespace {

using namespace lanewise::literals;
using test::TemporaryFolder;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr std::uint64_t kSeed = 7;

DrivePath in(TemporaryFolder const& folder) { return {"nvme0", folder.path().string()}; }

std::size_t files_in(std::filesystem::path const& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] auto const& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

TEST(DriveFile, IsMadeInAFolderAndRemoved) {
  TemporaryFolder const folder;
  {
    DriveFile file(in(folder), 1_MiB);
    EXPECT_TRUE(file.is_ours());
    EXPECT_EQ(files_in(folder.path()), 1U);
    file.remove_name();
    EXPECT_EQ(files_in(folder.path()), 0U);
    DriveRange const range(file, 0, Bytes(70000));
    range.fill(kSeed);
    EXPECT_EQ(range.mismatch(kSeed), std::nullopt);
    range.clear();
    auto const wrong = range.mismatch(kSeed);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->offset, 0U);
    EXPECT_EQ(wrong->got, 0);
  }
  DriveFile const other(in(folder), 1_MiB);
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(DriveFile, OfTheUserIsOnlyRead) {
  TemporaryFolder const folder;
  auto const path = folder.with("data", std::string(10000, 'x'));
  {
    DriveFile const file({"nvme0", path.string()}, Bytes(10000));
    EXPECT_FALSE(file.is_ours());
    EXPECT_EQ(fcntl(file.descriptor(), F_GETFL) & O_ACCMODE, O_RDONLY);
    std::string memory(10000, 'x');
    DriveRange const range(file, 0, Bytes(10000));
    auto const* const bytes = reinterpret_cast<std::byte const*>(memory.data());
    EXPECT_EQ(range.mismatch(bytes, 0, 10000), std::nullopt);
    memory[9999] = 'y';
    auto const wrong = range.mismatch(bytes + 5000, 5000, 5000);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->offset, 9999U);
    EXPECT_EQ(wrong->expected, 'x');
  }
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(DriveFile, SaysWhatIsWrongWithAPath) {
  TemporaryFolder const folder;
  auto const path = folder.with("data", std::string(10000, 'x')).string();
  EXPECT_THAT(
      [&] {
        DriveFile({"nvme0", path}, Bytes(10001));
      },
      ThrowsMessage<PlanError>(HasSubstr("it has 10000 B, and the plan reads 10001 B")));
  EXPECT_THAT(
      [&] {
        DriveFile({"nvme0", path + "/none"}, Bytes(1));
      },
      ThrowsMessage<InputError>(HasSubstr("--drive nvme0=" + path + "/none: Not a directory")));
  EXPECT_THAT(
      [&] {
        DriveFile({"nvme0", "/dev/null"}, Bytes(1));
      },
      testing::AnyOf(ThrowsMessage<InputError>(HasSubstr("it is no folder, file or block device")),
                     ThrowsMessage<MissingError>(HasSubstr("has no direct access"))));
  EXPECT_THAT([&] { DriveFile(in(folder), Bytes(std::int64_t{1} << 60)); },
              ThrowsMessage<MissingError>(HasSubstr("no space for 1152921504.6 GB: ")));
  EXPECT_THAT(
      [&] {
        DriveFile({"nvme0", "/proc"}, Bytes(1));
      },
      ThrowsMessage<MissingError>(HasSubstr("no file can be made in /proc")));
  EXPECT_EQ(files_in(folder.path()), 1U);
}

// Moves `bytes` through `queue`-independent transfers in both directions and checks every byte.
enum class Kind : std::uint8_t { Host, Staged, StagedInSmallChunks };

std::unique_ptr<StorageTransfer> make(Kind kind, DriveRange const& range, IoDirection direction, NodeMemory& memory,
                                      NodeMemory& ring) {
  if (kind == Kind::Host) return host_transfer(range, direction, memory.data());
  auto const chunk = Bytes(kind == Kind::Staged ? 1 << 20 : 8192);
  std::vector<std::byte*> slots;
  for (std::size_t i = 0; i < std::min<std::size_t>(5, ring_slots(range.bytes(), chunk)); ++i)
    slots.push_back(ring.data() + i * static_cast<std::size_t>(chunk.value()));
  return staged_transfer(range, direction, memory.copier(), slots, chunk);
}

class Transfers : public testing::TestWithParam<Kind> {};

TEST_P(Transfers, MoveEveryByteBothWays) {
  TemporaryFolder const folder;
  for (auto const size : {1, 4095, 4096, 4097, 1 << 20, (1 << 20) + 1, 5 * (1 << 20) + 12345}) {
    SCOPED_TRACE(size);
    Bytes const bytes(size);
    DriveFile const file(in(folder), bytes + Bytes(64 << 10));
    DriveRange const range(file, 64 << 10, bytes);
    NodeMemory memory(bytes, std::nullopt);
    NodeMemory ring(Bytes(5 << 20), std::nullopt);
    range.fill(kSeed);
    auto const read = make(GetParam(), range, IoDirection::FromDrive, memory, ring);
    for (int run = 0; run < 2; ++run) {  // a transfer can be run again
      memory.clear();
      read->run();
      EXPECT_EQ(memory.mismatch(kSeed), std::nullopt);
    }
    memory.fill(kSeed + 1);
    auto const write = make(GetParam(), range, IoDirection::ToDrive, memory, ring);
    for (int run = 0; run < 2; ++run) {
      range.clear();
      write->run();
      EXPECT_EQ(range.mismatch(kSeed + 1), std::nullopt);
    }
  }
}

TEST_P(Transfers, NameTheFileThatEndedEarly) {
  TemporaryFolder const folder;
  auto const path = folder.with("data", std::string(std::size_t{4} << 20, 'x'));
  DriveFile const file({"nvme0", path.string()}, 4_MiB);
  NodeMemory memory(4_MiB, std::nullopt);
  NodeMemory ring(Bytes(5 << 20), std::nullopt);
  auto const read = make(GetParam(), DriveRange(file, 0, 4_MiB), IoDirection::FromDrive, memory, ring);
  ASSERT_EQ(truncate(path.c_str(), 3 << 20), 0);
  EXPECT_THAT([&] { read->run(); },
              ThrowsMessage<DeviceError>(HasSubstr(path.string() + ": the file ends after 0 of")));
}

INSTANTIATE_TEST_SUITE_P(Each, Transfers, testing::Values(Kind::Host, Kind::Staged, Kind::StagedInSmallChunks));

TEST(IoQueues, OfBothKindsReadTheSame) {
  TemporaryFolder const folder;
  DriveFile const file(in(folder), 1_MiB);
  DriveRange(file, 0, 1_MiB).fill(kSeed);
  std::vector<std::unique_ptr<IoQueue>> queues;
  if (auto uring = make_uring_queue(file, 4)) queues.push_back(std::move(uring));  // a container may refuse it
  queues.push_back(make_thread_queue(file, 4));
  for (auto const& queue : queues) {
    SCOPED_TRACE(queue->name());
    NodeMemory memory(1_MiB, std::nullopt);
    std::vector<std::size_t> ended;
    for (std::size_t i = 0; i < 4; ++i)
      queue->begin({IoDirection::FromDrive, memory.data() + i * 262144, static_cast<std::int64_t>(i) * 262144, 262144,
                    262144, i});
    while (ended.size() < 4) queue->end(ended, IoQueue::Wait::ForOne);
    EXPECT_THAT(ended, testing::UnorderedElementsAre(0, 1, 2, 3));
    EXPECT_EQ(memory.mismatch(kSeed), std::nullopt);
    ended.clear();
    queue->end(ended, IoQueue::Wait::ForOne);  // nothing is under way
    EXPECT_THAT(ended, IsEmpty());
    queue->begin({IoDirection::FromDrive, memory.data(), std::int64_t{1} << 40, 4096, 4096, 9});
    EXPECT_THAT(
        [&] {
          while (ended.empty()) queue->end(ended, IoQueue::Wait::ForOne);
        },
        ThrowsMessage<DeviceError>(HasSubstr("the file ends after 0 of them")));
  }
}

TEST(RingSlots, HoldWhatADriveNeedsButNoMoreThanThePlan) {
  EXPECT_EQ(ring_slots(1_GiB, 1_MiB), 32U);
  EXPECT_EQ(ring_slots(1_GiB, 64_MiB), 4U);
  EXPECT_EQ(ring_slots(Bytes(3), 1_MiB), 1U);
  EXPECT_EQ(ring_slots(2_MiB, 64_KiB), 32U);
}

// ------------------------------------------------------------------------------------------------------------- drives

Machine server() {
  return test::machine_from(R"(lanewise: machine/1
machine: server
sockets:
  - socket: cpu0
    pcie:
      - {root_port: rp0, nvme: nvme0, part: unknown}
      - {root_port: rp1, nvme: nvme1, part: unknown}
)");
}

Step step(Machine const& machine, std::string const& from, std::string const& to, Bytes bytes) {
  return {
      from + ">" + to, machine.place(from), machine.place(to), bytes, Op::Copy, {.mechanism = Mechanism::HostDma}, {}};
}

TEST(Drives, AreNamedAsTheMachineNamesThem) {
  auto const machine = server();
  EXPECT_THAT(
      [&] {
        Drives(machine, {{"nvme2", "/tmp"}});
      },
      ThrowsMessage<InputError>(HasSubstr("'server' has no drive of this name, but nvme0, nvme1; did you mean")));
  EXPECT_THAT(
      [&] {
        Drives(machine, {{"nvme0", "/tmp"}, {"nvme0", "/"}});
      },
      ThrowsMessage<InputError>(HasSubstr("nvme0 is /tmp already")));
  Drives const none(machine, {});
  EXPECT_THAT(
      [&] { static_cast<void>(none.path_of(std::get<PciId>(machine.place("nvme1")))); },
      ThrowsMessage<MissingError>(HasSubstr("nothing of this machine is named for nvme1: --drive nvme1=FOLDER")));
}

TEST(Drives, GiveEachStepARangeOfItsOwn) {
  TemporaryFolder const folder;
  auto const machine = server();
  Drives drives(machine, {in(folder)});
  std::vector<Step> const steps{step(machine, "nvme0", "numa0", Bytes(100)), step(machine, "numa0", "numa0", 1_MiB),
                                step(machine, "numa0", "nvme0", 1_MiB)};
  PlanDrives const plan(steps, machine, drives);
  EXPECT_FALSE(plan.of(1));
  EXPECT_EQ(plan.of(0)->range.offset(), 0);
  EXPECT_EQ(plan.of(2)->range.offset(), 64 << 10);
  EXPECT_EQ(&plan.of(0)->range.file(), &plan.of(2)->range.file());
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(Drives, WriteNothingOfTheUsers) {
  TemporaryFolder const folder;
  auto const path = folder.with("data", std::string(std::size_t{2} << 20, 'x'));
  auto const machine = server();
  Drives drives(machine, {{"nvme0", path.string()}});
  std::vector<Step> const steps{step(machine, "numa0", "nvme0", 1_MiB)};
  EXPECT_THAT([&] { PlanDrives(steps, machine, drives); },
              ThrowsMessage<PlanError>(HasSubstr("writes to nvme0, and " + path.string() + " is only read")));
}

// ------------------------------------------------------------------------------------------------------------- cuFile

// Of the fake library that is found in place of NVIDIA's.
class Behaviour {
 public:
  explicit Behaviour(char const* what) { setenv("FAKE_CUFILE", what, 1); }
  Behaviour(Behaviour const&) = delete;
  Behaviour& operator=(Behaviour const&) = delete;
  ~Behaviour() { unsetenv("FAKE_CUFILE"); }
};

class CuFiles : public testing::Test {
 protected:
  // Pages of the memory are whole, as a GPU's are.
  static constexpr Bytes kBytes{(std::int64_t{20} << 20) + 4096 + 100};

  TemporaryFolder folder_;
  DriveFile file_{in(folder_), kBytes};
  DriveRange range_{file_, 0, kBytes};
  NodeMemory memory_{kBytes, std::nullopt};
};

TEST_F(CuFiles, MoveEveryByteBothWays) {
  Behaviour const behaviour("direct");
  CuFile const library({&file_});
  EXPECT_TRUE(library.is_direct(0));
  std::atomic<int> threads = 0;
  range_.fill(kSeed);
  auto const read = library.transfer(range_, IoDirection::FromDrive, memory_.data(), [&] { ++threads; });
  for (int run = 0; run < 2; ++run) {
    memory_.clear();
    read->run();
    EXPECT_EQ(memory_.mismatch(kSeed), std::nullopt);
  }
  EXPECT_GE(threads, 3);  // 20 MiB are three chunks
  memory_.fill(kSeed + 1);
  range_.clear();
  library.transfer(range_, IoDirection::ToDrive, memory_.data(), [] {})->run();
  EXPECT_EQ(range_.mismatch(kSeed + 1), std::nullopt);
  EXPECT_EQ(std::getenv("CUFILE_ALLOW_COMPAT_MODE"), nullptr);  // put back
}

TEST_F(CuFiles, ShareTheHandleOfAFile) {
  Behaviour const behaviour("direct");
  CuFile const library({&file_});
  DriveRange const half(file_, 0, 10_MiB);
  DriveRange const other(file_, 10 << 20, 10_MiB);
  NodeMemory more(10_MiB, std::nullopt);
  other.fill(kSeed);
  half.fill(kSeed);
  {
    auto const first = library.transfer(half, IoDirection::FromDrive, memory_.data(), [] {});
    auto const second = library.transfer(other, IoDirection::FromDrive, more.data(), [] {});
    first->run();
    second->run();
  }
  EXPECT_EQ(more.mismatch(kSeed), std::nullopt);
  library.transfer(other, IoDirection::FromDrive, more.data(), [] {})->run();  // once it was given back
}

TEST_F(CuFiles, SayWhereTheyNeedTheirCompatibilityMode) {
  Behaviour const behaviour("compatibility");
  CuFile const library({&file_});
  EXPECT_FALSE(library.is_direct(0));
  range_.fill(kSeed);
  library.transfer(range_, IoDirection::FromDrive, memory_.data(), [] {})->run();
  EXPECT_EQ(memory_.mismatch(kSeed), std::nullopt);
}

TEST_F(CuFiles, SayWhyAFileIsRefused) {
  Behaviour const behaviour("refuses");
  CuFile const library({&file_});
  EXPECT_FALSE(library.is_direct(0));
  EXPECT_THAT([&] { static_cast<void>(library.transfer(range_, IoDirection::FromDrive, memory_.data(), [] {})); },
              ThrowsMessage<MissingError>(
                  HasSubstr(file_.path() + ": cuFile refuses it (error 5008: cufio-fs:777 error getting volume "
                                           "attributes); `mechanism: storage_staged` needs no cuFile")));
}

TEST_F(CuFiles, SayWhyTheyDoNotStart) {
  Behaviour const behaviour("old");
  EXPECT_THAT(
      [&] { CuFile({&file_}); },
      ThrowsMessage<MissingError>(HasSubstr("cuFile does not start (error 5004: cufio-drv:1 version mismatch)")));
}

TEST_F(CuFiles, NameTheFileThatFailed) {
  Behaviour const behaviour("io_error");
  CuFile const library({&file_});
  auto const read = library.transfer(range_, IoDirection::FromDrive, memory_.data(), [] {});
  EXPECT_THAT([&] { read->run(); },
              ThrowsMessage<DeviceError>(HasSubstr("of " + file_.path() + ": Input/output error")));
  auto const write = library.transfer(range_, IoDirection::ToDrive, memory_.data(), [] {});
  EXPECT_THAT([&] { write->run(); }, ThrowsMessage<DeviceError>(HasSubstr("cuFile on " + file_.path())));
}

TEST_F(CuFiles, AreTriedOnEveryDriveThatIsNamed) {
  Behaviour const behaviour("compatibility");
  auto const machine = server();
  auto const data = folder_.with("data", std::string(100000, 'x'));
  Drives drives(machine, {in(folder_), {"nvme1", data.string()}});
  EXPECT_FALSE(drives.is_direct(test::pci(machine, "nvme1")));
  drives.note(test::pci(machine, "nvme1"), kInCompatibilityMode);
  EXPECT_EQ(drives.about(),
            "nvme1: " + data.string() + ", cuFile in its compatibility mode: staged through host memory");
}

}  // namespace
}  // namespace lanewise::hw
