#pragma once
#include <chrono>
#include <string>

namespace lanewise::launch {

// The exit code of a run that was stopped by its time limit, as timeout(1) has it.
inline constexpr int kTimedOut = 124;

// How long the scenarios of one cluster may run: far above what any run takes (sixteen scenarios are done in one or two
// minutes under emulation), so it ends only what hangs.
inline constexpr std::chrono::seconds kRunLimit{1200};

// What a run on several nodes left behind.
struct NodeRun {
  int exit_code = 0;
  std::string nodes;   // for people: "2 processes on this host (rxe0; ran 3 s)"
  std::string output;  // standard output and error of all nodes
};

}  // namespace lanewise::launch
