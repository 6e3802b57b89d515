#include "core/design/shared_work.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include "tests/support/marked_errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::string lines_of(fs::path const& folder) {
  std::string text;
  for (auto const& entry : fs::directory_iterator(folder)) text += read_file(entry.path());
  return text;
}

std::size_t count_of(std::string const& text, std::string const& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Items whose results say which process made them.
std::vector<WorkItem> items_of(int count, int microseconds) {
  std::vector<WorkItem> items;
  for (int i = 0; i < count; ++i)
    items.push_back({"key" + std::to_string(i), "item", [i, microseconds] {
                       usleep(static_cast<useconds_t>(microseconds));
                       return nlohmann::ordered_json{{"square", i * i}, {"process", getpid()}};
                     }});
  return items;
}

TEST(ResultStore, OutlivesTheProgram) {
  test::TemporaryFolder const folder;
  {
    ResultStore store(folder.path(), "1");
    store.add("a", "first", {{"time_s", 0.1 + 0.2}});
    EXPECT_EQ((*store.find("a"))["time_s"], 0.1 + 0.2);
  }
  ResultStore const again(folder.path(), "1");
  ASSERT_NE(again.find("a"), nullptr);
  EXPECT_EQ((*again.find("a"))["time_s"], 0.1 + 0.2);  // to the last bit
  EXPECT_EQ(again.find("b"), nullptr);
}

TEST(ResultStore, RefusesAnotherVersionAndKeepsItsFile) {
  test::TemporaryFolder const folder;
  ResultStore(folder.path(), "1").add("a", "first", 7);
  auto const before = lines_of(folder.path());
  EXPECT_THAT(test::input_error([&] { ResultStore(folder.path(), "2"); }),
              HasSubstr("these results are of lanewise 1, and this is 2"));
  EXPECT_EQ(lines_of(folder.path()), before);
}

TEST(ResultStore, LeavesOutALineThatWasCutOff) {
  test::TemporaryFolder const folder;
  ResultStore(folder.path(), "1").add("a", "first", 7);
  auto const file = fs::directory_iterator(folder.path())->path();
  std::ofstream(file, std::ios::app) << "{\"key\":\"b\",\"resul";
  ResultStore const store(folder.path(), "1");
  EXPECT_EQ(store.size(), 1U);
}

TEST(ResultStore, NamesFileAndLineOfWhatIsNoResult) {
  test::TemporaryFolder const folder;
  ResultStore(folder.path(), "1").add("a", "first", 7);
  auto const file = fs::directory_iterator(folder.path())->path();
  std::ofstream(file, std::ios::app) << "not JSON\n";
  EXPECT_THAT(test::input_error([&] { ResultStore(folder.path(), "1"); }), HasSubstr(file.string() + ":3:1"));
  std::ofstream(folder.path() / "other.jsonl") << "{}\n";
  fs::remove(file);
  EXPECT_THAT(test::input_error([&] { ResultStore(folder.path(), "1"); }), HasSubstr("evaluations/1"));
}

TEST(ResultStore, MergesFolders) {
  test::TemporaryFolder const one;
  test::TemporaryFolder const other;
  ResultStore(one.path(), "1").add("a", "first", 7);
  ResultStore(other.path(), "1").add("b", "second", 8);
  ResultStore store(one.path(), "1");
  store.merge(other.path());
  EXPECT_EQ(*store.find("b"), 8);
  EXPECT_THAT(test::input_error([&] { store.merge(one.path() / "nothing"); }), HasSubstr("there is no such folder"));
}

TEST(SharedWork, NeedsNoFolderForOneProcess) {
  ResultStore store;
  evaluate_missing(items_of(5, 0), store, {}, "testing");
  EXPECT_EQ(store.size(), 5U);
  EXPECT_EQ((*store.find("key3"))["square"], 9);
}

TEST(SharedWork, ProcessesDivideItAndDoNothingTwice) {
  test::TemporaryFolder const folder;
  ResultStore store(folder.path(), "1");
  constexpr int kItems = 40;
  evaluate_missing(items_of(kItems, 20'000), store, {.processes = 3}, "testing");
  std::set<int> processes;
  for (int i = 0; i < kItems; ++i) {
    auto const& result = *store.find("key" + std::to_string(i));
    EXPECT_EQ(result["square"], i * i);
    processes.insert(result["process"].get<int>());
  }
  EXPECT_EQ(processes.size(), 3U);
  // Two may begin the same item at the same moment, but seldom.
  EXPECT_LE(count_of(lines_of(folder.path()), "\"result\""), kItems + 4U);
}

TEST(SharedWork, GoesOnWhereItStopped) {
  test::TemporaryFolder const folder;
  {
    ResultStore store(folder.path(), "1");
    evaluate_missing(items_of(10, 0), store, {}, "testing");
  }
  ResultStore store(folder.path(), "1");
  int evaluated = 0;
  auto items = items_of(12, 0);
  for (auto& item : items)
    item.evaluate = [&] {
      ++evaluated;
      return nlohmann::ordered_json(0);
    };
  evaluate_missing(items, store, {}, "testing");
  EXPECT_EQ(evaluated, 2);
}

// Rank 1 of 2, whose partner never comes: it does all that the other one did not begin.
TEST(SharedWork, ARankDoesWhatOthersLeftUndone) {
  test::TemporaryFolder const folder;
  ResultStore store(folder.path(), "1");
  evaluate_missing(items_of(8, 0), store, {.processes = 1, .rank = 1, .ranks = 2}, "testing");
  EXPECT_EQ(store.size(), 8U);
}

TEST(SharedWork, TellsWhatAnotherProcessThrew) {
  test::TemporaryFolder const folder;
  ResultStore store(folder.path(), "1");
  auto const here = getpid();
  std::vector<WorkItem> items;
  for (int i = 0; i < 20; ++i)
    items.push_back({"key" + std::to_string(i), "item", [here]() -> nlohmann::ordered_json {
                       if (getpid() != here) throw std::logic_error("broken in another process");
                       usleep(10'000);
                       return 1;
                     }});
  try {
    evaluate_missing(items, store, {.processes = 2}, "testing");
    FAIL() << "nothing was thrown";
  } catch (std::runtime_error const& error) {
    EXPECT_THAT(error.what(), HasSubstr("broken in another process"));
  }
}

TEST(SharedWork, KnowsItsRankFromTheLauncher) {
  EXPECT_EQ(launched_workers().ranks, 1);
  setenv("SLURM_PROCID", "2", 1);
  EXPECT_EQ(launched_workers().ranks, 1);  // a batch script
  setenv("SLURM_STEP_NUM_TASKS", "4", 1);
  auto const workers = launched_workers();
  EXPECT_EQ(workers.rank, 2);
  EXPECT_EQ(workers.ranks, 4);
  setenv("SLURM_STEP_NUM_TASKS", "two", 1);
  EXPECT_EQ(launched_workers().ranks, 1);
  unsetenv("SLURM_PROCID");
  unsetenv("SLURM_STEP_NUM_TASKS");
}

}  // namespace
}  // namespace lanewise
