// uv's configuration: uv.toml, and [tool.uv] of a pyproject.toml.
#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "foundation/documents/toml_reader.h"
#include "session/settings/layer.h"
#include "session/settings/uv_sources.h"

namespace axle::session {

namespace {

class UvConfigReader {
 public:
  UvConfigReader(const std::string& where, SettingsLayer& layer) : where_(where), layer_(layer) {}

  /// Values of `[pip]` take precedence over those of the enclosing table.
  Result<void> read(const toml::table& table, bool of_project) {
    if (const toml::node* node = table.get("pip")) {
      const toml::table* pip = node->as_table();
      if (pip == nullptr) return bad(*node, "`pip` is not a table");
      if (auto taken = take_table(*pip, "pip."); !taken) return taken;
    }
    if (const toml::node* node = table.get("sources"); node != nullptr && !of_project)
      return bad(*node, "`sources` is only allowed in a pyproject.toml");
    return take_table(table, "");
  }

 private:
  Result<void> take_table(const toml::table& table, const std::string& prefix) {
    SettingsLayer own;
    for (const auto& [name, node] : table) {
      const std::string key = prefix + std::string(name.str());
      if (key == "pip") continue;
      const UvKey known = find_uv_key(key);
      if (known.row == nullptr)
        return fail(
            ErrorKind::malformed,
            fmt::format("{}: `{}` is not a setting of uv that Axle knows", origin(node), key),
            "correct or remove it: docs/settings.md lists them");
      if (known.row->treatment == Treatment::irrelevant) continue;
      Result<void> taken = known.row->key == "index"     ? take_indexes(node)
                           : known.row->key == "sources" ? take_sources(node)
                                                         : take(own, known, key, node);
      if (!taken) return taken;
    }
    merge(std::move(own));
    return {};
  }

  void merge(SettingsLayer own) {
    for (auto& [key, values] : own.values) {
      std::vector<Stated>& into = layer_.values[key];
      const UvKey known = find_uv_key(key);
      const bool is_list = known.row != nullptr && known.row->kind == ValueKind::list;
      if (into.empty() || is_list) std::ranges::move(values, std::back_inserter(into));
    }
  }

  Result<void> take(SettingsLayer& into, const UvKey& known, const std::string& key,
                    const toml::node& node) {
    const std::string_view row = known.row->key;
    if (const auto* text = node.as_string();
        text != nullptr && known.type != "bool" && known.type != "list") {
      into.add(row, place(row, text->get()), origin(node));
      return {};
    }
    if (const auto* flag = node.as_boolean();
        flag != nullptr && (known.type == "bool" || known.type == "any")) {
      // A list that applies to all packages or to none.
      if (known.row->kind == ValueKind::list) {
        if (flag->get()) into.add(row, ":all:", origin(node));
      } else {
        into.add(row, flag->get() ? "true" : "false", origin(node));
      }
      return {};
    }
    if (const toml::array* array = node.as_array();
        array != nullptr && (known.type == "list" || known.type == "any")) {
      for (const toml::node& element : *array) {
        const auto* text = element.as_string();
        if (text == nullptr)
          return bad(element, fmt::format("`{}` has a value that is not a string", key));
        into.add(row, place(row, text->get()), origin(element));
      }
      return {};
    }
    if (const toml::table* table = node.as_table(); table != nullptr && known.type == "any")
      return take_by_package(into, row, key, *table);
    return bad(node, fmt::format("`{}` is not a {}", key,
                                 known.type == "list"   ? "list of strings"
                                 : known.type == "bool" ? "boolean"
                                 : known.type == "any"  ? "valid value"
                                                        : "string"));
  }

  /// `exclude-newer-package = {demo = "2026-01-01", other = false}`,
  /// `config-settings = {key = ["one", "two"]}`
  Result<void> take_by_package(SettingsLayer& into, std::string_view row, const std::string& key,
                               const toml::table& table) {
    for (const auto& [package, node] : table) {
      const auto* text = node.as_string();
      const auto* flag = node.as_boolean();
      if (const toml::array* several = node.as_array()) {
        for (const toml::node& one : *several) {
          if (!one.is_string())
            return bad(one, fmt::format("`{}` of `{}` is not a string", key, package.str()));
          into.add(row, fmt::format("{}={}", package.str(), one.as_string()->get()), origin(one));
        }
        continue;
      }
      if (text == nullptr && (flag == nullptr || flag->get()))
        return bad(node, fmt::format("`{}` of `{}` is not a valid value", key, package.str()));
      into.add(row, fmt::format("{}={}", package.str(), text != nullptr ? text->get() : "false"),
               origin(node));
    }
    return {};
  }

  Result<void> take_indexes(const toml::node& node) {
    const toml::array* indexes = node.as_array();
    if (indexes == nullptr) return bad(node, "`index` is not a list of tables");
    for (const toml::node& element : *indexes) {
      const toml::table* table = element.as_table();
      if (table == nullptr) return bad(element, "`index` is not a list of tables");
      if (auto taken = take_index(*table); !taken) return taken;
    }
    return {};
  }

  Result<void> take_index(const toml::table& table) {
    ConfiguredIndex index;
    index.origin = origin(table);
    for (const auto& [name, node] : table) {
      const auto* text = node.as_string();
      const auto* flag = node.as_boolean();
      if (name == "name" && text != nullptr) {
        index.name = text->get();
        if (!is_index_name(index.name))
          return bad(node, fmt::format("`{}` is not a valid name of an index", index.name));
      } else if (name == "url" && text != nullptr) {
        index.url = place("index-url", text->get());
      } else if (name == "default" && flag != nullptr) {
        index.is_default = flag->get();
      } else if (name == "explicit" && flag != nullptr) {
        index.explicit_only = flag->get();
      } else if (name == "name" || name == "url" || name == "default" || name == "explicit") {
        return bad(node, fmt::format("`{}` of an index has the wrong type", name.str()));
      } else if (auto taken = take_rest(name.str(), node, index); !taken) {
        return taken;
      }
    }
    if (index.url.empty()) return bad(table, "an index has no `url`");
    if (index.explicit_only && index.name.empty())
      return bad(table, "an index with `explicit = true` needs a `name`");
    layer_.indexes.push_back(std::move(index));
    return {};
  }

  /// Keys of an index that define how it is accessed.
  Result<void> take_rest(std::string_view name, const toml::node& node,
                         ConfiguredIndex& index) const {
    const auto text = node.value<std::string>();
    if (name == "authenticate") {
      if (text == "always") {
        index.authenticate = index::Authenticate::always;
      } else if (text == "never") {
        index.authenticate = index::Authenticate::never;
      } else if (text != "auto") {
        return bad(node, "`authenticate` of an index is not auto, always or never");
      }
    } else if (name == "ignore-error-codes") {
      return take_codes(node, index);
    } else if (name == "format" && text != "simple") {
      return fail(ErrorKind::malformed,
                  fmt::format("{}: `format` of an index is not supported", origin(node)),
                  "name the page in find-links");
    }
    return {};
  }

  Result<void> take_codes(const toml::node& node, ConfiguredIndex& index) const {
    const toml::array* codes = node.as_array();
    if (codes == nullptr) return bad(node, "`ignore-error-codes` of an index is not a list");
    for (const toml::node& element : *codes) {
      const auto code = element.value_exact<std::int64_t>();
      if (!code || *code < 100 || *code > 999)
        return bad(element, "`ignore-error-codes` has an entry that is not an HTTP status");
      index.absent_codes.insert(static_cast<int>(*code));
    }
    return {};
  }

  Result<void> take_sources(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return bad(node, "`sources` is not a table");
    auto sources = read_uv_sources(*table, where_);
    if (!sources) return std::unexpected(sources.error());
    layer_.sources = std::move(*sources);
    return {};
  }

  static bool is_index_name(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '_' || c == '.';
    });
  }

  /// Paths are relative to the configuration's folder.
  [[nodiscard]] std::string place(std::string_view row, const std::string& text) const {
    const bool is_place = row == "index-url" || row == "extra-index-url" || row == "find-links";
    if (!is_place || text.empty() || text.contains("://")) return text;
    std::error_code ignored;
    return std::filesystem::absolute(std::filesystem::path(where_).parent_path() / text, ignored)
        .lexically_normal()
        .string();
  }

  [[nodiscard]] std::string origin(const toml::node& node) const {
    return fmt::format("{}:{}", where_, node.source().begin.line);
  }

  [[nodiscard]] std::unexpected<Error> bad(const toml::node& node, std::string_view why) const {
    return fail(ErrorKind::malformed, fmt::format("{}: {}", origin(node), why),
                "uv refuses it too: correct or remove it");
  }

  const std::string& where_;
  SettingsLayer& layer_;
};

Result<SettingsLayer> parse(std::string_view text, const std::string& where, bool of_project) {
  const auto table = documents::parse_toml(text, where);
  if (!table)
    return fail(ErrorKind::malformed, table.error().message,
                "it may set an index or a limit: fix it, or remove it");
  SettingsLayer layer;
  layer.of_uv = true;
  const toml::table* own = &*table;
  if (of_project) {
    const auto uv = (*table)["tool"]["uv"];
    own = uv.as_table();
    if (own == nullptr && uv)
      return fail(ErrorKind::malformed, fmt::format("{}: `tool.uv` is not a table", where));
  }
  if (own == nullptr) return layer;
  if (auto read = UvConfigReader(where, layer).read(*own, of_project); !read)
    return std::unexpected(read.error());
  return layer;
}

}  // namespace

Result<SettingsLayer> parse_uv_config(std::string_view text, const std::string& where) {
  return parse(text, where, false);
}

Result<SettingsLayer> parse_pyproject_config(std::string_view text, const std::string& where) {
  return parse(text, where, true);
}

}  // namespace axle::session
