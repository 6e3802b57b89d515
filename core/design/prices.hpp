#pragma once
// What parts and machines cost: only from the user's own file, each price with its date and source. Currencies are not
// converted.
#include <optional>
#include <string>
#include <vector>

#include "core/io/yaml.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {

struct Money {
  double amount = 0;
  std::string currency;  // three letters: USD
  friend bool operator==(Money const&, Money const&) = default;
};
// "280000 USD". Not negative.
Parsed<Money> parse_money(std::string_view text);
std::string to_string(Money const& money);  // "280,000 USD"

struct Price {
  std::string what;  // the name of a part, a machine or a cluster
  Money each;
  std::string date;    // 2026-11-01
  std::string source;  // a quote, a page
  friend bool operator==(Price const&, Price const&) = default;
};

struct PriceList {
  std::string name;
  std::vector<Price> prices;
  [[nodiscard]] Price const* of(std::string_view what) const;  // nullptr: it has no price
};

// The keys of `lanewise: prices/1`.
MapSpec const& price_list_spec();
// Throws InputError listing every problem: a price without date or source, a second price of one thing.
PriceList read_prices(SourceText const& source);

}  // namespace lanewise
