#pragma once

namespace lanewise {

// The key of a trace's environment that says which nodes of the plan shared a host in the run: "2 nodes on vm". Their
// network was then that host's memory.
inline constexpr char kSharedHostKey[] = "shared_host";

}  // namespace lanewise
