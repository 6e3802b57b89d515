#pragma once
// One key of a file, described once: its name, meaning and type, and the member it fills. Reader, writer, JSON Schema
// and fingerprint all walk tables of these, so a key that is added to a table is known to every one of them.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/io/yaml.hpp"
#include "lanewise/machine/pcie_link.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {

template <class Object>
struct Field {
  FieldSpec spec;
  // Fills the member from the key; leaves it alone when the key is absent. Problems go to the reader's diagnostics.
  std::function<void(Object&, MapReader&)> read;
  // The value as YAML texts: none when there is nothing to say (absent, or the default), several for a list.
  std::function<std::vector<std::string>(Object const&)> write;
  // The same, a default too; none only where the member is absent or an empty list.
  std::function<std::vector<std::string>(Object const&)> value = {};
  std::function<void(Object&)> clear;  // back to the default
  // Why the fingerprint leaves the key out; empty: a change of it changes the fingerprint.
  std::string not_in_fingerprint = {};
};

// How one type of member is read and written.
template <class T>
struct ScalarFormat;
template <>
struct ScalarFormat<Bytes> {
  static constexpr auto kType = ValueType::Size;
  static auto read(MapReader& r, std::string_view key) { return r.size(key); }
  static std::string text(Bytes v) { return exact_text(v); }
};
template <>
struct ScalarFormat<BytesPerSecond> {
  static constexpr auto kType = ValueType::Rate;
  static auto read(MapReader& r, std::string_view key) { return r.rate(key); }
  static std::string text(BytesPerSecond v) { return exact_text(v); }
};
template <>
struct ScalarFormat<Seconds> {
  static constexpr auto kType = ValueType::Time;
  static auto read(MapReader& r, std::string_view key) { return r.time(key); }
  static std::string text(Seconds v) { return exact_text(v); }
};
template <>
struct ScalarFormat<PerSecond> {
  static constexpr auto kType = ValueType::Frequency;
  static auto read(MapReader& r, std::string_view key) { return r.frequency(key); }
  static std::string text(PerSecond v) { return exact_text(v); }
};
template <>
struct ScalarFormat<FlopPerSecond> {
  static constexpr auto kType = ValueType::WorkRate;
  static auto read(MapReader& r, std::string_view key) { return r.work_rate(key); }
  static std::string text(FlopPerSecond v) { return exact_text(v); }
};
template <>
struct ScalarFormat<Watts> {
  static constexpr auto kType = ValueType::Power;
  static auto read(MapReader& r, std::string_view key) { return r.power(key); }
  static std::string text(Watts v) { return exact_text(v); }
};
template <>
struct ScalarFormat<double> {
  static constexpr auto kType = ValueType::Ratio;
  static auto read(MapReader& r, std::string_view key) { return r.ratio(key); }
  static std::string text(double v) { return shortest_text(v); }
};
template <>
struct ScalarFormat<int> {
  static constexpr auto kType = ValueType::Count;
  static auto read(MapReader& r, std::string_view key) { return r.count(key); }
  static std::string text(int v) { return std::to_string(v); }
};
template <>
struct ScalarFormat<std::int64_t> {
  static constexpr auto kType = ValueType::LargeCount;
  static auto read(MapReader& r, std::string_view key) { return r.large_count(key); }
  static std::string text(std::int64_t v) { return std::to_string(v); }
};
template <>
struct ScalarFormat<bool> {
  static constexpr auto kType = ValueType::Flag;
  static auto read(MapReader& r, std::string_view key) { return r.flag(key); }
  static std::string text(bool v) { return v ? "true" : "false"; }
};
template <>
struct ScalarFormat<std::string> {
  static constexpr auto kType = ValueType::Text;
  static auto read(MapReader& r, std::string_view key) { return r.text(key); }
  static std::string text(std::string const& v) { return v; }
};

// T of T and of std::optional<T>.
template <class T>
struct ValueOf {
  using type = T;
};
template <class T>
struct ValueOf<std::optional<T>> {
  using type = T;
};

// Makes the fields of an Object. `member` is a function that returns a reference to the member that the key fills, of a
// const or a mutable Object.
template <class Object>
class FieldsOf {
 public:
  using Texts = std::vector<std::string>;

  // A figure, a flag or a text, by the member's type.
  template <class Member>
  static Field<Object> scalar(std::string const& name, std::string const& doc, Member member) {
    using Stored = StoredBy<Member>;
    using Value = typename ValueOf<Stored>::type;
    Field<Object> field;
    field.spec = {.name = name, .type = ScalarFormat<Value>::kType, .doc = doc};
    field.read = [name, member](Object& object, MapReader& reader) {
      if (auto value = ScalarFormat<Value>::read(reader, name)) member(object) = std::move(*value);
    };
    field.clear = [member](Object& object) { member(object) = member(defaults()); };
    field.value = [member](Object const& object) {
      auto const& value = member(object);
      if constexpr (std::is_same_v<Stored, std::optional<Value>>)
        return value ? Texts{ScalarFormat<Value>::text(*value)} : Texts{};
      else
        return Texts{ScalarFormat<Value>::text(value)};
    };
    field.write = unless_default(member, field.value);
    return field;
  }

  // A figure without which nothing works: 0 is refused.
  template <class Member>
  static Field<Object> positive(std::string const& name, std::string const& doc, Member member) {
    using Value = typename ValueOf<StoredBy<Member>>::type;
    auto field = scalar(name, doc, member);
    field.read = [name, member](Object& object, MapReader& reader) {
      auto value = ScalarFormat<Value>::read(reader, name);
      if (value && *value == Value{})
        reader.fail(*reader.node(name),
                    "'" + name + "': more than 0 is needed; leave the key out when the figure is unknown");
      if (value) member(object) = std::move(*value);
    };
    return field;
  }

  // One of `words`, whose places are the enumerators' numbers.
  template <class Member>
  static Field<Object> word(std::string const& name, std::string const& doc, Texts const& words, Member member) {
    using Enum = StoredBy<Member>;
    Field<Object> field;
    field.spec = {.name = name, .type = ValueType::Word, .doc = doc, .words = words};
    field.read = [name, words, member](Object& object, MapReader& reader) {
      if (auto const text = reader.text(name))
        member(object) = static_cast<Enum>(std::find(words.begin(), words.end(), *text) - words.begin());
    };
    field.clear = [member](Object& object) { member(object) = member(defaults()); };
    field.value = [words, member](Object const& object) {
      return Texts{words.at(static_cast<std::size_t>(member(object)))};
    };
    field.write = unless_default(member, field.value);
    return field;
  }

  // A PCIe link, "gen4 x16".
  template <class Member>
  static Field<Object> link(std::string const& name, std::string const& doc, Member member) {
    Field<Object> field;
    field.spec = {
        .name = name, .type = ValueType::Custom, .doc = doc, .unknown_allowed = true, .pattern = kLinkPattern};
    field.read = [name, member](Object& object, MapReader& reader) {
      auto const text = reader.text(name);
      if (!text) return;
      auto const link = parse_pcie_link(*text);
      if (link.value)
        member(object) = link.value;
      else
        reader.fail(*reader.node(name), "'" + name + "': " + link.problem);
    };
    field.clear = [member](Object& object) { member(object).reset(); };
    field.write = [member](Object const& object) {
      auto const& value = member(object);
      return value ? Texts{to_string(*value)} : Texts{};
    };
    field.value = field.write;
    return field;
  }

  // A list of texts.
  template <class Member>
  static Field<Object> texts(std::string const& name, std::string const& doc, Member member) {
    Field<Object> field;
    field.spec = {.name = name, .type = ValueType::List, .doc = doc, .item = ValueType::Text};
    field.read = [name, member](Object& object, MapReader& reader) { member(object) = reader.texts(name); };
    field.clear = [member](Object& object) { member(object).clear(); };
    field.write = [member](Object const& object) { return member(object); };
    field.value = field.write;
    return field;
  }

 private:
  template <class Member>
  using StoredBy = std::remove_cvref_t<decltype(std::declval<Member>()(std::declval<Object&>()))>;

  template <class Member, class Value>
  static std::function<Texts(Object const&)> unless_default(Member member, Value value) {
    return [member, value](Object const& object) {
      return member(object) == member(defaults()) ? Texts{} : value(object);
    };
  }

  static Object const& defaults() {
    static Object const object{};
    return object;
  }
};

// The same field, left out of fingerprints for this reason.
template <class AnyField>
AnyField not_in_fingerprint(AnyField field, std::string const& reason) {
  field.not_in_fingerprint = reason;
  return field;
}

// A member of an object, const or not, for FieldsOf.
#define LANEWISE_MEMBER(path) \
  [](auto& object) -> auto& { return object.path; }  // NOLINT(bugprone-macro-parentheses)

}  // namespace lanewise
