#pragma once

namespace lanewise {

// Keys of a trace's environment that say how a run differed from what its plan describes.

// Which nodes of the plan shared a host: "2 nodes on vm". Their network was then that host's memory.
inline constexpr char kSharedHostKey[] = "shared_host";
// Of which drives cuFile moved the bytes of storage_direct in its compatibility mode: "nvme0". They were staged through
// host memory.
inline constexpr char kCompatibilityModeKey[] = "compatibility_mode";

}  // namespace lanewise
