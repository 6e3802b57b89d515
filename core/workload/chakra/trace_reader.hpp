#pragma once
#include <filesystem>
#include <iosfwd>
#include <string>

#include "lanewise/workload/chakra/execution_trace.hpp"

namespace lanewise {

// Reads an execution trace (.et) as MLCommons Chakra's schema et_def.proto defines it: a stream of messages, each with
// its length in front, GlobalMetadata and then the nodes. Computing takes `duration_micros`, or the attribute `runtime`
// in microseconds. Throws InputError naming the file and the node where it is cut off, where a node waits for one that
// is not there or for itself, where it lacks a figure that is needed, or where there are more than 4 million nodes.
ExecutionTrace read_execution_trace(std::istream& stream, std::string const& file);
ExecutionTrace read_execution_trace(std::filesystem::path const& file);

}  // namespace lanewise
