#pragma once
// Lists of what the catalogue holds, one line each.
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/machine/catalogue.hpp"

namespace lanewise {

struct CatalogueEntry {
  std::string name;
  std::string kind;         // of a part
  std::optional<int> year;  // of a part: first sold; of a machine or cluster: of its newest part; of a model
  std::string title;        // what it is
  std::string figures;      // key figures in words
};

// `pattern` keeps the entries that have it in their name or title, in any case of letters, with * for any letters;
// empty keeps all. Sorted by name, parts by kind first. Throws InputError when a file of the catalogue is wrong.
std::vector<CatalogueEntry> list_parts(Catalogue& catalogue, std::string_view pattern);
std::vector<CatalogueEntry> list_machines(Catalogue& catalogue, std::string_view pattern);
std::vector<CatalogueEntry> list_clusters(Catalogue& catalogue, std::string_view pattern);
std::vector<CatalogueEntry> list_models(std::string_view pattern);     // language models
std::vector<CatalogueEntry> list_scenarios(std::string_view pattern);  // those that come with lanewise

std::string list_text(std::vector<CatalogueEntry> const& entries);
nlohmann::ordered_json list_json(std::vector<CatalogueEntry> const& entries);

}  // namespace lanewise
