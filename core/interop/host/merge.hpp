#pragma once
// Joins what several files say about one host.
#include <string>
#include <vector>

#include "core/interop/host/facts.hpp"

namespace lanewise {

// The facts of one file, and what messages call it.
struct FactsOfFile {
  std::string file;
  HostFacts facts;
};

// Takes each fact from the first file that has it, the file with the most detail first: config space before a tree, a
// tree before a list of GPUs. Where two files contradict each other, a note says what each says and which is taken.
// A file without addresses of its GPUs (rocm-smi) gives what it knows to the GPUs of the other files in their order.
HostFacts merge_facts(std::vector<FactsOfFile> files);

}  // namespace lanewise
