#include "explore/exploration.hpp"

#include <gmock/gmock.h>

#include "core/io/file_fence.hpp"
#include "lanewise/explain/matrix.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/io/error.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/marked_errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Json = Exploration::Json;

constexpr auto kMachine = "rtx6000pro-x8-bcm";

struct Explored {
  Catalogue catalogue = test::bundled();
  test::TemporaryFolder folder;
  Exploration exploration{catalogue, {open_machine(catalogue, kMachine)}, {}, folder.path()};
  Json opened = exploration.open({{"name", kMachine}});

  Json evaluate(std::vector<std::string> const& settings, std::vector<std::string> const& want) {
    return exploration.evaluate({{"file", opened["file"]},
                                 {"text", opened["text"]},
                                 {"settings", settings},
                                 {"from", "gpu0"},
                                 {"to", "gpu1"},
                                 {"want", want}});
  }
};

// What a page shows is what the commands of the same name print.
TEST(Exploration, AnswersAreThoseOfTheCommands) {
  Explored explored;
  auto const answer = explored.evaluate({"acs=on"}, {"machine", "matrix", "route", "jobs", "faults"});
  EXPECT_THAT(answer["errors"], IsEmpty());
  auto machine = explored.catalogue.machine(kMachine);
  apply_setting(machine, parse_setting("acs=on"), explored.catalogue);
  Model const model(machine);
  MatrixQuery query{.places = {}, .bytes = Bytes(256 << 20)};
  for (auto const gpu : machine.all(PciKind::Gpu)) query.places.emplace_back(gpu);
  EXPECT_EQ(answer["matrix"], matrix_json(make_matrix(model, query, nullptr), machine.name));
  EXPECT_EQ(answer["machine"]["settings"]["acs"], "on");
  EXPECT_EQ(answer["route"]["from"], "gpu0");
  EXPECT_EQ(answer["jobs"].size(), 3U);
  EXPECT_THAT(answer["faults"][0]["settings"], ElementsAre("off@sw0=true"));
}

TEST(Exploration, AChangeChangesTheJobs) {
  Explored explored;
  auto const before = explored.evaluate({}, {"jobs"})["jobs"][0];
  auto const after = explored.evaluate({"link@gpu0=gen3 x4"}, {"jobs"})["jobs"][0];
  EXPECT_EQ(before["name"], "all_reduce-256MiB");
  EXPECT_GT(after["time_us"].get<double>(), 5 * before["time_us"].get<double>());
}

// The others are still made, and the answer says which was not.
TEST(Exploration, ASettingThatCannotBeMadeIsLeftOut) {
  Explored explored;
  auto const answer = explored.evaluate({"acx=on", "acs=on"}, {"machine"});
  ASSERT_EQ(answer["errors"].size(), 1U);
  EXPECT_EQ(answer["errors"][0]["setting"], "acx=on");
  EXPECT_THAT(answer["errors"][0]["message"].get<std::string>(), HasSubstr("did you mean 'acs'"));
  EXPECT_EQ(answer["machine"]["settings"]["acs"], "on");
}

TEST(Exploration, ErrorsOfATextHaveTheirLines) {
  Explored explored;
  auto text = explored.opened["text"].get<std::string>();
  auto const at = text.find("\nsockets:");
  ASSERT_NE(at, std::string::npos);
  text.insert(at, "\nsocket: 3");
  auto const line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  auto const answer = explored.exploration.evaluate({{"file", "mine.yaml"}, {"text", text}, {"want", {"matrix"}}});
  ASSERT_EQ(answer["errors"].size(), 1U);
  EXPECT_EQ(answer["errors"][0]["of"], "text");
  EXPECT_EQ(answer["errors"][0]["line"], line);
  EXPECT_FALSE(answer.contains("matrix"));
}

TEST(Exploration, ARouteThatIsNotThereIsAnErrorOfTheRouteAlone) {
  Explored explored;
  auto const answer = explored.exploration.evaluate({{"file", explored.opened["file"]},
                                                     {"text", explored.opened["text"]},
                                                     {"from", "gpu0"},
                                                     {"to", "gpu99"},
                                                     {"want", {"route", "machine"}}});
  ASSERT_EQ(answer["errors"].size(), 1U);
  EXPECT_EQ(answer["errors"][0]["of"], "route");
  EXPECT_TRUE(answer.contains("machine"));
}

TEST(Exploration, RequestsThatAreNotAsDescribedAreRefused) {
  Explored explored;
  auto const error = [&](Json const& request) {
    return test::input_error([&] { static_cast<void>(explored.exploration.evaluate(request)); });
  };
  EXPECT_THAT(error(Json::array()), HasSubstr("a JSON object"));
  EXPECT_THAT(error({{"wants", 1}}), HasSubstr("has no key 'wants'; keys: file"));
  EXPECT_THAT(error({{"file", "a"}, {"text", ""}}), HasSubstr("the request has no 'want'"));
  EXPECT_THAT(error({{"file", "a"}, {"text", 7}, {"want", {"jobs"}}}), HasSubstr("'text' of the request has a value"));
  EXPECT_THAT(error({{"want", {"shell"}}}), HasSubstr("'shell' cannot be wanted; wanted are: machine"));
  EXPECT_THAT(error({{"bytes", "0 B"}, {"want", {"jobs"}}}), HasSubstr("more than 0 bytes"));
}

TEST(Exploration, ChangesBecomeText) {
  Explored explored;
  auto const text = explored.evaluate({"link@gpu3=gen3 x8", "acs=on"}, {"yaml"})["yaml"].get<std::string>();
  auto const again =
      explored.exploration.evaluate({{"file", "mine.yaml"}, {"text", text}, {"want", {"machine", "matrix"}}});
  auto const changed = explored.evaluate({"link@gpu3=gen3 x8", "acs=on"}, {"machine", "matrix"});
  EXPECT_EQ(again["machine"], changed["machine"]);
  EXPECT_EQ(again["matrix"], changed["matrix"]);
}

TEST(Exploration, SavesMachinesInItsFolderAlone) {
  Explored explored;
  auto const& folder = explored.folder.path();
  FileFence const fence({folder, topology_folders().front()});
  auto const text = explored.opened["text"].get<std::string>();
  auto const save = [&](std::string const& file, std::string const& what, bool replace = false) {
    return explored.exploration.save({{"file", file}, {"text", what}, {"replace", replace}});
  };
  auto const refusal = [&](std::string const& file) { return test::input_error([&] { save(file, text); }); };
  EXPECT_EQ(save("mine.yaml", text)["saved"], "mine.yaml");
  EXPECT_EQ(SourceText::load(folder / "mine.yaml").text(), text);
  EXPECT_EQ(save("mine.yaml", text)["exists"], "mine.yaml");
  EXPECT_EQ(save("mine.yaml", text + "# more\n", true)["saved"], "mine.yaml");
  EXPECT_EQ(SourceText::load(folder / "mine.yaml").text(), text + "# more\n");
  EXPECT_THAT(explored.exploration.start()["files"], ElementsAre("mine.yaml"));
  EXPECT_EQ(explored.exploration.open({{"name", "mine.yaml"}})["text"], text + "# more\n");

  for (auto const* outside : {"../mine.yaml", "/tmp/mine.yaml", "a/../../mine.yaml", "", ".github/workflows/ci.yaml",
                              "a\\b.yaml", "./mine.yaml", "mine\n.yaml"})
    EXPECT_THAT(refusal(outside), HasSubstr("from the working folder")) << outside;
  EXPECT_THAT(refusal("mine.sh"), HasSubstr("ends with .yaml"));
  EXPECT_THAT(refusal("nowhere/mine.yaml"), HasSubstr("cannot be written"));
  EXPECT_THAT(test::input_error([&] { save("mine.yaml", "lanewise: machine/1\nmachine: x\n", true); }),
              HasSubstr("mine.yaml"));
  EXPECT_EQ(SourceText::load(folder / "mine.yaml").text(), text + "# more\n") << "nothing was lost";
  fs::remove(folder / "mine.yaml");
}

// Other programs' YAML, and links that lead outside.
TEST(Exploration, WhatIsNotAMachinesFileIsLeftAlone) {
  Explored explored;
  auto const& folder = explored.folder.path();
  test::TemporaryFolder const elsewhere;
  auto const text = explored.opened["text"].get<std::string>();
  write_file(folder / "compose.yaml", "services: {}\n");
  write_file(elsewhere.path() / "theirs.yaml", text);
  fs::create_symlink(elsewhere.path() / "theirs.yaml", folder / "link.yaml");
  fs::create_directory_symlink(elsewhere.path(), folder / "linked");
  FileFence const fence({folder, topology_folders().front()});
  auto const save = [&](std::string const& file) {
    return test::input_error([&] {
      static_cast<void>(explored.exploration.save({{"file", file}, {"text", text}, {"replace", true}}));
    });
  };
  EXPECT_THAT(save("compose.yaml"), HasSubstr("holds no machine or cluster"));
  EXPECT_THAT(save("link.yaml"), HasSubstr("holds no machine or cluster"));  // it cannot be read
  EXPECT_THAT(save("linked/new.yaml"), HasSubstr("outside the folders"));
  auto const open = [&](std::string const& name) {
    return test::input_error([&] { static_cast<void>(explored.exploration.open({{"name", name}})); });
  };
  EXPECT_THAT(open("link.yaml"), HasSubstr("outside the folders"));
  EXPECT_THAT(open("linked/theirs.yaml"), HasSubstr("outside the folders"));
  EXPECT_THAT(explored.exploration.start()["files"], IsEmpty());
}

// A cluster names its nodes' file.
TEST(Exploration, ATextReadsNoFileOutside) {
  Explored explored;
  test::TemporaryFolder const elsewhere;
  write_file(elsewhere.path() / "theirs.yaml", explored.opened["text"].get<std::string>());
  FileFence const fence({explored.folder.path(), topology_folders().front()});
  auto const cluster = [&](std::string const& node) {
    return "lanewise: cluster/1\ncluster: c\nnodes: [{count: 2, machine: " + node + "}]\n";
  };
  auto const errors = [&](std::string const& file, std::string const& node) {
    return explored.exploration.evaluate({{"file", file}, {"text", cluster(node)}, {"want", {"machine"}}})["errors"]
        .dump();
  };
  EXPECT_THAT(errors((explored.folder.path() / "c.yaml").string(), (elsewhere.path() / "theirs.yaml").string()),
              HasSubstr("is not a name"));
  EXPECT_THAT(errors((elsewhere.path() / "c.yaml").string(), "theirs.yaml"), HasSubstr("outside the folders"));
}

}  // namespace
}  // namespace lanewise
