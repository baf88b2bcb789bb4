#include "builder/table/products.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/text/nearest.h"
#include "wheel/wheel_name.h"

namespace axle::builder {

namespace {

using documents::TomlTable;

constexpr std::size_t most_combinations = 10'000;

/// The keys of a table as the file has them: the library sorts them by name.
std::vector<std::string> keys_in_order(const toml::table& table) {
  std::vector<std::pair<toml::source_position, std::string>> keys;
  for (const auto& [key, node] : table)
    keys.emplace_back(key.source().begin, std::string(key.str()));
  std::ranges::sort(keys, {},
                    [](const auto& one) { return std::pair(one.first.line, one.first.column); });
  std::vector<std::string> names;
  for (auto& [position, name] : keys) names.push_back(std::move(name));
  return names;
}

/// `properties = { namespace = { feature = ["value"] } }`; `settings` get their places.
wheel::VariantProperties read_properties(TomlTable& value, RowSettings& settings) {
  wheel::VariantProperties properties;
  auto table = value.table("properties");
  if (!table) return properties;
  for (const std::string& ns : keys_in_order(table->node())) {
    auto features = table->table(ns);
    if (!features) continue;
    for (const std::string& feature : keys_in_order(features->node())) {
      const auto values = features->texts(feature);
      if (values.empty()) features->refuse(feature, "expected an array of values");
      for (const std::string& one : values) {
        const auto property =
            wheel::parse_property(fmt::format("{} :: {} :: {}", ns, feature, one));
        if (property) {
          settings.places[wheel::render_property(*property)] =
              features->reading().place(*features->node().get(feature));
          properties.insert(*property);
        } else {
          features->refuse(feature, property.error().message, property.error().hint);
        }
      }
    }
  }
  return properties;
}

std::vector<Axis> read_axes(TomlTable& axle) {
  std::vector<Axis> axes;
  auto table = axle.table("axes");
  if (!table) return axes;
  for (const std::string& name : keys_in_order(table->node())) {
    auto values = table->table(name);
    if (!values) continue;
    if (!wheel::is_valid_label(name))
      table->refuse(name, "is not a valid name of an axis",
                    "use lower-case letters, digits, \"_\" and \".\"");
    Axis axis{name, {}, *values};
    for (const std::string& key : keys_in_order(values->node())) {
      auto value = values->table(key);
      if (!value) continue;
      if (!wheel::is_valid_label(key))
        values->refuse(key, "is not a valid part of a variant label",
                       "use lower-case letters, digits, \"_\" and \".\"");
      RowSettings settings = read_row_settings(*value, SettingsScope::row);
      AxisValue read{key, read_properties(*value, settings), std::move(settings)};
      value->finish();
      axis.values.push_back(std::move(read));
    }
    if (axis.values.empty()) table->refuse(name, "the axis has no value");
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::vector<std::string> names_of(const std::vector<Axis>& axes) {
  std::vector<std::string> names;
  for (const Axis& axis : axes) names.push_back(axis.name);
  return names;
}

std::vector<std::string> names_of(const std::vector<AxisValue>& values) {
  std::vector<std::string> names;
  for (const AxisValue& value : values) names.push_back(value.name);
  return names;
}

/// One [[tool.axle.product]], or what stands for it.
class Product {
 public:
  Product(TomlTable& table, const std::vector<Axis>& axes) : table_(table), axes_(axes) {}

  /// With the keys of the table; otherwise all axes, without exclusions.
  void read() {
    read_axis_names();
    label_ = table_.text("label").value_or("");
    for (TomlTable& entry : table_.tables("exclude")) read_exclusion(entry);
    settings_ = read_row_settings(table_, SettingsScope::row);
    table_.finish();
  }
  void take_all_axes() {
    for (const Axis& axis : axes_) chosen_.push_back(&axis);
  }

  void expand(std::vector<Combination>& all) {
    if (table_.reading().error() || chosen_.empty()) return;
    std::size_t count = 1;
    for (const Axis* axis : chosen_) {
      count *= axis->values.size();
      if (count > most_combinations) {
        return table_.refuse("axes",
                             fmt::format("there are more than {} combinations", most_combinations));
      }
    }
    const std::size_t before = all.size();
    std::vector<const AxisValue*> values(chosen_.size());
    for (std::size_t number = 0; number < count; ++number) {
      std::size_t rest = number;
      for (std::size_t i = chosen_.size(); i-- > 0;) {
        values[i] = &chosen_[i]->values[rest % chosen_[i]->values.size()];
        rest /= chosen_[i]->values.size();
      }
      if (!is_excluded(values)) add(values, all);
    }
    if (all.size() == before)
      table_.refuse("exclude", "every combination is excluded", "remove an entry, or the product");
  }

 private:
  using Exclusion = std::map<const Axis*, std::vector<std::string>>;

  const Axis* find_axis(TomlTable& table, std::string_view key, const std::string& name) {
    const auto found = std::ranges::find(axes_, name, &Axis::name);
    if (found != axes_.end()) return &*found;
    const auto known = names_of(axes_);
    table.refuse(
        key, fmt::format("there is no axis \"{}\"", name),
        text::suggest(name, known, fmt::format("the axes are {}", fmt::join(known, ", "))));
    return nullptr;
  }

  void read_axis_names() {
    if (table_.find("axes") == nullptr) return take_all_axes();
    for (const std::string& name : table_.texts("axes")) {
      const Axis* axis = find_axis(table_, "axes", name);
      if (axis == nullptr) return;
      if (std::ranges::find(chosen_, axis) != chosen_.end())
        table_.refuse("axes", fmt::format("\"{}\" is duplicated", name));
      chosen_.push_back(axis);
    }
    if (chosen_.empty()) table_.refuse("axes", "expected at least one axis");
  }

  void read_exclusion(TomlTable& entry) {
    Exclusion exclusion;
    for (const auto& [key, node] : entry.node()) {
      const std::string name(key.str());
      const Axis* axis = find_axis(entry, name, name);
      if (axis == nullptr) return;
      if (std::ranges::find(chosen_, axis) == chosen_.end())
        entry.refuse(name, "the product does not have this axis");
      std::vector<std::string> values =
          node.is_string() ? std::vector{entry.text(name).value_or("")} : entry.texts(name);
      const auto known = names_of(axis->values);
      for (const std::string& value : values) {
        if (std::ranges::find(known, value) != known.end()) continue;
        entry.refuse(
            name, fmt::format("the axis {} has no value \"{}\"", name, value),
            text::suggest(value, known, fmt::format("its values are {}", fmt::join(known, ", "))));
      }
      exclusion.emplace(axis, std::move(values));
    }
    if (exclusion.empty()) table_.refuse("exclude", "an empty table excludes everything");
    exclusions_.push_back(std::move(exclusion));
  }

  [[nodiscard]] bool is_excluded(const std::vector<const AxisValue*>& values) const {
    return std::ranges::any_of(exclusions_, [&](const Exclusion& exclusion) {
      return std::ranges::all_of(exclusion, [&](const auto& part) {
        const auto at = std::ranges::find(chosen_, part.first) - chosen_.begin();
        const std::string& name = values[static_cast<std::size_t>(at)]->name;
        return std::ranges::find(part.second, name) != part.second.end();
      });
    });
  }

  /// The template with values for "{axis}"; without one the values that have properties.
  std::optional<std::string> label_of(const std::vector<const AxisValue*>& values) {
    std::string label;
    if (label_.empty()) {
      for (const AxisValue* value : values) {
        if (!value->properties.empty()) label += (label.empty() ? "" : "_") + value->name;
      }
      return label;
    }
    for (std::size_t at = 0; at < label_.size(); ++at) {
      if (label_[at] != '{') {
        label += label_[at];
        continue;
      }
      const std::size_t end = std::min(label_.find('}', at), label_.size());
      const std::string name = label_.substr(at + 1, end - at - 1);
      const Axis* axis = find_axis(table_, "label", name);
      const auto index = std::ranges::find(chosen_, axis) - chosen_.begin();
      if (axis == nullptr) return std::nullopt;
      if (index == std::ssize(chosen_)) {
        table_.refuse("label", fmt::format("the product does not have the axis {}", name));
        return std::nullopt;
      }
      label += values[static_cast<std::size_t>(index)]->name;
      at = end;
    }
    return label;
  }

  void add(const std::vector<const AxisValue*>& values, std::vector<Combination>& all) {
    std::size_t last = values.size() - 1;
    while (last > 0 && values[last]->properties.empty()) --last;
    if (values[last]->properties.empty()) last = values.size() - 1;
    Combination made{{}, {}, settings_, chosen_[last]->table, values[last]->name};
    for (const AxisValue* value : values) {
      made.properties.insert(value->properties.begin(), value->properties.end());
      made.settings = overlaid(std::move(made.settings), value->settings);
    }
    const auto label = label_of(values);
    if (!label) return;
    made.label = made.properties.empty() ? std::string(wheel::null_label) : *label;
    if (!wheel::is_valid_label(made.label) ||
        (made.label == wheel::null_label && !made.properties.empty())) {
      return table_.refuse("label",
                           fmt::format("\"{}\" is not a valid label of a variant with "
                                       "properties",
                                       made.label),
                           "use lower-case letters, digits, \"_\" and \".\"");
    }
    const auto twin = std::ranges::find(all, made.label, &Combination::label);
    if (twin != all.end() && twin->properties != made.properties) {
      return table_.refuse("label",
                           fmt::format("two combinations with different properties are called "
                                       "\"{}\"",
                                       made.label),
                           "name every axis in it: label = \"{one}_{other}\"");
    }
    all.push_back(std::move(made));
  }

  TomlTable& table_;
  const std::vector<Axis>& axes_;
  std::vector<const Axis*> chosen_;
  std::vector<Exclusion> exclusions_;
  std::string label_;
  RowSettings settings_;
};

}  // namespace

Products read_products(TomlTable& axle) {
  Products products;
  products.axes = read_axes(axle);
  std::vector<TomlTable> tables = axle.tables("product");
  if (products.axes.empty() && !tables.empty())
    axle.refuse("product", "there are no axes", "[tool.axle.axes] holds what varies");
  if (axle.reading().error() || products.axes.empty()) return products;
  for (TomlTable& table : tables) {
    Product product(table, products.axes);
    product.read();
    product.expand(products.combinations);
  }
  if (tables.empty()) {
    auto table = axle.table("axes");
    Product product(*table, products.axes);
    product.take_all_axes();
    product.expand(products.combinations);
  }
  return products;
}

std::vector<std::string> namespaces_of(const std::vector<Axis>& axes) {
  std::vector<std::string> namespaces;
  for (const Axis& axis : axes) {
    for (const AxisValue& value : axis.values) {
      for (const wheel::Property& property : value.properties) {
        if (std::ranges::find(namespaces, property.ns) == namespaces.end())
          namespaces.push_back(property.ns);
      }
    }
  }
  return namespaces;
}

}  // namespace axle::builder
