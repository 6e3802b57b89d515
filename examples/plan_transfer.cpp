// Plans one transfer and prints why it goes the way it goes.
//   plan_transfer MACHINE FROM TO      plan_transfer dgx-1-v100 gpu0 gpu5
#include <cstdio>
#include <exception>

#include "lanewise/explain/choice_explanation.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/model/model.hpp"

namespace {

void print(lanewise::Candidate const& way, lanewise::Machine const& machine, bool is_chosen) {
  std::printf("%c %-40s ", is_chosen ? '*' : ' ', text_of(way.way, machine).c_str());
  if (!way.legal()) {
    std::printf("refused by %s: %s\n", way.refused_by.c_str(), way.reason.c_str());
  } else if (!way.time) {
    std::printf("unknown: %s\n", way.reason.c_str());
  } else {
    std::printf("%s at %s, limited by %s\n", rounded_text(*way.time).c_str(), rounded_text(way.rate.value()).c_str(),
                way.binding.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s MACHINE FROM TO\n", argv[0]);
    return 2;
  }
  lanewise::Catalogue catalogue(lanewise::topology_folders());
  lanewise::Model const model(catalogue.machine(argv[1]));
  auto const& machine = model.machine();

  auto const choice = explain_choice(
      model, {.from = machine.place(argv[2]), .to = machine.place(argv[3]), .bytes = lanewise::Bytes(64 << 20)});
  std::printf("64 MiB from %s to %s of %s (%s)\n", argv[2], argv[3], machine.name.c_str(), choice.distance.c_str());
  for (std::size_t i = 0; i < choice.candidates.size(); ++i) print(choice.candidates[i], machine, choice.chosen == i);
} catch (std::exception const& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 2;
}
