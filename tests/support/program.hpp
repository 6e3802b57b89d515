#pragma once
// Runs the program as a user does. The test must be declared with RUNS_PROGRAM.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace lanewise::test {

// Its standard output. Expects exit code 0.
inline std::string output_of(std::string const& arguments) {
  std::string output;
  auto* pipe = popen(("'" + std::string(LANEWISE_PROGRAM) + "' " + arguments).c_str(), "r");
  std::array<char, 65536> chunk{};
  while (auto const n = std::fread(chunk.data(), 1, chunk.size(), pipe)) output.append(chunk.data(), n);
  EXPECT_EQ(pclose(pipe), 0) << arguments;
  return output;
}

}  // namespace lanewise::test
