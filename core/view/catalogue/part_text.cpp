#include "core/view/catalogue/part_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/text/table.hpp"
#include "core/view/catalogue/part_figures.hpp"
#include "core/view/machine/words.hpp"

namespace lanewise {

std::string part_text(Part const& part) {
  auto text = fmt::format("{}: {} ({})\n\n", part.name, title_of(part), to_string(part.kind));
  Table table({"figure", "value", "rests on", "source"});
  table.align_left(3);
  for (auto const& figure : figures_of(part))
    table.add({figure.key, figure.value, figure.source != nullptr ? std::string(to_string(figure.source->kind)) : "",
               figure.source != nullptr ? figure.source->text : ""});
  return text + table.text();
}

nlohmann::ordered_json part_json(Part const& part) {
  nlohmann::ordered_json json{{"part", part.name}, {"kind", to_string(part.kind)}, {"title", title_of(part)}};
  json["figures"] = nlohmann::ordered_json::array();
  for (auto const& figure : figures_of(part)) {
    nlohmann::ordered_json entry{{"figure", figure.key}, {"value", figure.value}, {"meaning", figure.meaning}};
    if (figure.source != nullptr) {
      entry["rests_on"] = to_string(figure.source->kind);
      entry["source"] = figure.source->text;
    }
    json["figures"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace lanewise
