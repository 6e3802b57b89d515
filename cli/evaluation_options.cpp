#include "cli/evaluation_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "core/io/own_library.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::cli {
namespace {

// With the build: another one may compute otherwise.
std::string own_version() { return fmt::format("{} (build {})", LANEWISE_VERSION, own_build_id().substr(0, 12)); }

}  // namespace

std::string Evaluations::interrupted_words(std::string const& why) const {
  if (temporary || !store.is_shared()) return why + "; --results FOLDER keeps what is evaluated";
  return fmt::format("{}; {} evaluations are in {}, and --resume goes on from there", why, store.size(),
                     store.folder().string());
}

Evaluations::Evaluations(EvaluationOptions const& options) : store(own_version()), workers(launched_workers()) {
  auto const cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  workers.processes = options.processes > 0 ? options.processes : workers.ranks > 1 ? 1 : cores;
  if (options.results.empty()) {
    if (workers.ranks > 1)
      throw InputError("processes of a launcher share their results in a folder that all of them see: add --results");
    if (workers.processes > 1) temporary.emplace("lanewise-design");
  }
  auto const folder = temporary ? temporary->path() : std::filesystem::path(options.results);
  if (!folder.empty()) store = ResultStore(folder, own_version());
  // Of a launcher's processes another may have begun already.
  if (!options.results.empty() && !options.resume && workers.ranks == 1 && store.size() > 0)
    throw InputError(fmt::format("{} holds {} evaluations: --resume uses them; or name an empty folder",
                                 options.results, store.size()));
  for (auto const& merged : options.merged) store.merge(merged);
}

void add_evaluation(CLI::App& command, EvaluationOptions& options) {
  command
      .add_option("--processes", options.processes,
                  "How many processes share the work; as many as cores when absent, and under mpirun or srun one for "
                  "each that it starts")
      ->check(CLI::Range(1, 1024));
  auto* results =
      command
          .add_option("--results", options.results,
                      "Keep every evaluation in this folder; under mpirun or srun one that all processes see")
          ->type_name("FOLDER");
  command
      .add_flag("--resume", options.resume,
                "Use the evaluations that are in the folder of --results; under mpirun and srun they always are")
      ->needs(results);
  command.add_option("--merge", options.merged, "Also use the evaluations of this folder; may be repeated")
      ->type_name("FOLDER");
}

}  // namespace lanewise::cli
