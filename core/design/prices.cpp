#include "core/design/prices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace lanewise {
namespace {

bool is_date(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00";
  if (text.size() != kShape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (kShape[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != kShape[i]) return false;
  return true;
}

MapSpec const& price_spec() {
  static MapSpec const spec{
      "price",
      {{.name = "what",
        .type = ValueType::Text,
        .doc =
            "the name of a part, a machine or a cluster; nic-cable, switch-cable, or optic, of which a cable has two",
        .required = true},
       {.name = "price", .type = ValueType::Text, .doc = "of one: 28000 USD", .required = true},
       text_field("date", "when it was asked: 2026-11-01; that of the file when absent"),
       text_field("source", "who said it; that of the file when absent")}};
  return spec;
}

}  // namespace

Parsed<Money> parse_money(std::string_view text) {
  double amount = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  auto const currency = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  bool const is_currency = currency.size() == 3 &&
                           std::all_of(currency.begin(), currency.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (error != std::errc() || !is_currency || !(amount >= 0) || !std::isfinite(amount))
    return {{},
            fmt::format("'{}' is no sum of money; write a number and a currency of three letters: 28000 USD", text)};
  return {Money{amount, std::string(currency)}, {}};
}

std::string to_string(Money const& money) {
  auto digits = fmt::format("{:.0f}", money.amount);
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return digits + " " + money.currency;
}

Price const* PriceList::of(std::string_view what) const {
  auto const found = std::find_if(prices.begin(), prices.end(), [&](Price const& price) { return price.what == what; });
  return found == prices.end() ? nullptr : &*found;
}

MapSpec const& price_list_spec() {
  static MapSpec const spec{
      "prices",
      {{.name = "lanewise", .type = ValueType::Word, .doc = "prices/1", .required = true, .words = {"prices/1"}},
       {.name = "prices", .type = ValueType::Id, .doc = "its name", .required = true},
       text_field("date", "when these prices were asked: 2026-11-01"),
       text_field("source", "who said them"),
       {.name = "items",
        .type = ValueType::List,
        .doc = "what costs how much",
        .required = true,
        .map = &price_spec(),
        .item = ValueType::Map}}};
  return spec;
}

PriceList read_prices(SourceText const& source) {
  auto const root = parse_yaml(source);
  expect_schema(root, "prices/1", source);
  Diagnostics diagnostics;
  MapReader top(root, price_list_spec(), source, diagnostics);
  PriceList list;
  list.name = top.text("prices").value_or("");
  auto const date = top.text("date");
  auto const said_by = top.text("source");
  for (auto& reader : top.maps("items")) {
    Price price;
    price.what = reader.text("what").value_or("");
    price.date = reader.text("date").value_or(date.value_or(""));
    price.source = reader.text("source").value_or(said_by.value_or(""));
    if (auto const text = reader.text("price")) {
      auto const money = parse_money(*text);
      if (!money.value) reader.fail(*reader.node("price"), fmt::format("'price': {}", money.problem));
      price.each = money.value.value_or(Money{});
    }
    if (price.date.empty())
      reader.fail(reader.self(),
                  fmt::format("the price of '{}' has no date; add 'date' here or for the file", price.what));
    else if (!is_date(price.date))
      reader.fail(reader.has("date") ? *reader.node("date") : reader.self(),
                  fmt::format("'{}' is no date; write year, month and day: 2026-11-01", price.date));
    if (price.source.empty())
      reader.fail(reader.self(),
                  fmt::format("the price of '{}' has no source; add 'source' here or for the file", price.what));
    if (list.of(price.what) != nullptr) reader.fail(reader.self(), fmt::format("'{}' has a price already", price.what));
    list.prices.push_back(std::move(price));
  }
  diagnostics.throw_if_any();
  return list;
}

}  // namespace lanewise
