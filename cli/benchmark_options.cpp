#include "cli/benchmark_options.hpp"

#include "cli/session.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise::cli {

void BenchmarkArguments::add_to(CLI::App& command) {
  command.add_option("--gpus", gpus, "Names in the machine of the tool's GPUs 0, 1, ...; default: gpu0, gpu1, ...")
      ->type_name("GPU,GPU..GPU");
  command.add_option("--numa", numa, "Host memory of the benchmark; default: the NUMA node nearest each GPU")
      ->type_name("PLACE");
  command.add_option("--from", from, "perftest, osu: the place the data came from")->type_name("PLACE");
  command.add_option("--to", to, "perftest, osu: the place the data went to")->type_name("PLACE");
  command.add_option("--bytes", bytes, "Size of each transfer, where the tool does not print it")->type_name("SIZE");
  command.add_flag("--sendrecv", sendrecv, "nccl-tests: the output is that of sendrecv_perf");
  command
      .add_option("--collective", collective,
                  "nccl-tests: what the output is of, where it does not say: all_reduce, all_gather, ...")
      ->type_name("OP");
}

BenchmarkOptions BenchmarkArguments::parsed() const {
  BenchmarkOptions options{
      .machine = machine, .gpus = {}, .numa = numa, .from = from, .to = to, .bytes = {}, .collective = {}};
  options.sendrecv = sendrecv;
  if (!collective.empty()) options.collective = argument(parse_collective_op(collective));
  std::string_view rest = gpus;
  while (!rest.empty()) {
    auto const comma = std::min(rest.find(','), rest.size());
    for (auto& name : expand_range(rest.substr(0, comma))) options.gpus.push_back(std::move(name));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (!bytes.empty()) {
    options.bytes = argument(parse_bytes(bytes));
    if (*options.bytes == Bytes(0)) throw InputError("--bytes: a transfer of 0 bytes cannot be measured");
  }
  return options;
}

}  // namespace lanewise::cli
