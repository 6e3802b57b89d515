// The documents show what the program prints: this runs every "$ lanewise ..." of a console block and compares the
// output. LANEWISE_UPDATE_GOLDEN=1 writes the output into the document instead.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace {

std::string const kRoot = LANEWISE_SOURCE_DIR;

std::string read(std::string const& path) {
  std::ifstream in(path);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

// Runs the command in the project's folder and returns its standard output.
std::string output_of(std::string const& command, int& exit_code) {
  auto const line = "cd '" + kRoot + "' && '" + LANEWISE_PROGRAM + "'" + command.substr(std::string("lanewise").size());
  auto* pipe = popen(line.c_str(), "r");
  std::string out;
  std::array<char, 4096> chunk{};
  for (std::size_t n = 0; (n = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) out.append(chunk.data(), n);
  exit_code = pclose(pipe);
  return out;
}

// The document with every shown command's output replaced by what it prints now; counts the commands.
std::string refreshed(std::string const& document, int& commands) {
  std::istringstream in(document);
  std::string out;
  std::string line;
  bool in_console = false;
  bool skipping = false;
  while (std::getline(in, line)) {
    if (line.starts_with("```")) {
      in_console = line == "```console";
      skipping = false;
    }
    if (skipping) continue;
    out += line + "\n";
    if (!in_console || !line.starts_with("$ lanewise")) continue;
    ++commands;
    int exit_code = 0;
    out += output_of(line.substr(2), exit_code);
    // The examples of `judge` are of slow machines, those of `diff` of two different ones and those of baselines of a
    // machine that became slower: the exit code is 1.
    bool const expected_to_fail = line.starts_with("$ lanewise judge") || line.starts_with("$ lanewise diff") ||
                                  line.find(" --baseline ") != std::string::npos;
    EXPECT_EQ(WEXITSTATUS(exit_code), expected_to_fail ? 1 : 0) << line;
    skipping = true;
  }
  return out;
}

class DocumentedCommands : public testing::TestWithParam<char const*> {};

TEST_P(DocumentedCommands, PrintWhatTheDocumentShows) {
  auto const path = kRoot + "/" + GetParam();
  auto const document = read(path);
  ASSERT_FALSE(document.empty()) << path;
  int commands = 0;
  auto const expected = refreshed(document, commands);
  EXPECT_GT(commands, 0);
  if (std::getenv("LANEWISE_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path) << expected;
  else
    EXPECT_EQ(document, expected) << "run the test with LANEWISE_UPDATE_GOLDEN=1 and review the difference";
}

INSTANTIATE_TEST_SUITE_P(Documents, DocumentedCommands,
                         testing::Values("README.md", "docs/ci.md", "docs/cli.md", "docs/design.md", "docs/judge.md",
                                         "docs/libraries.md", "docs/scenarios.md", "docs/sets.md",
                                         "docs/workloads.md"));

}  // namespace
