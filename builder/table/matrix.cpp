#include "builder/table/matrix.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "binaries/declared_properties.h"
#include "foundation/text/nearest.h"
#include "wheel/wheel_name.h"

namespace axle::builder {

namespace {

/// Where errors about a row belong.
struct RowPlace {
  documents::TomlTable table;
  std::string key = {};  ///< there; empty: whichever the error is about

  [[nodiscard]] std::string render() {
    const toml::node* node = key.empty() ? nullptr : table.node().get(key);
    return table.reading().place(node == nullptr ? table.node() : *node);
  }
};

struct Draft {
  MatrixRow row;
  std::optional<RowPlace> place;
  std::optional<StatedRow> changed_by = {};  ///< the last one
};

std::vector<std::string> labels_of(const wheel::VariantMetadata& variants) {
  std::vector<std::string> labels;
  for (const auto& [label, properties] : variants.variants) labels.push_back(label);
  return labels;
}

class Matrix {
 public:
  Matrix(std::optional<wheel::VariantMetadata>& variants, documents::TomlReading& reading)
      : variants_(variants), reading_(reading) {}

  void add_products(const MatrixTable& table) {
    for (const Combination& one : table.products.combinations) {
      add(one.label, overlaid(table.of_all, one.settings), RowPlace{one.table, one.key});
    }
  }

  void add_stated(const MatrixTable& table) {
    const std::size_t of_products = drafts_.size();
    for (const StatedRow& stated : table.rows) {
      if (change(stated, of_products)) continue;
      add(stated.label, overlaid(table.of_all, stated.settings), RowPlace{stated.table});
    }
  }

  /// What is built if no row is stated.
  void complete(const RowSettings& of_all) {
    if (!drafts_.empty()) return;
    if (variants_) {
      for (const std::string& label : labels_of(*variants_)) add(label, of_all, std::nullopt);
    }
    if (drafts_.empty()) add({}, of_all, std::nullopt);
  }

  std::vector<MatrixRow> rows() {
    refuse_twins();
    std::vector<MatrixRow> rows;
    for (Draft& draft : drafts_) rows.push_back(std::move(draft.row));
    return rows;
  }

 private:
  void refuse(const std::optional<RowPlace>& place, const std::string& key, const std::string& why,
              const std::string& hint = {}) {
    if (place) {
      documents::TomlTable table = place->table;
      table.refuse(place->key.empty() ? key : place->key, why, hint);
    } else {
      reading_.refuse(
          Error{ErrorKind::malformed, fmt::format("{}: {}", reading_.where(), why), hint});
    }
  }

  /// The row of that label, once for each architecture.
  void add(const std::string& label, RowSettings settings, const std::optional<RowPlace>& place) {
    if (!check_label(label, place)) return;
    const auto declared = declared_of(label);
    for (const std::string& one : settings.architectures) {
      if (declared.empty() || one == declared) continue;
      return refuse(
          place, "architectures",
          fmt::format("variant {}: its properties are of {}, not of {}", label, declared, one),
          "leave architectures out, or exclude the combination");
    }
    std::vector<std::string> architectures = std::exchange(settings.architectures, {});
    if (architectures.empty()) architectures.push_back(declared);
    const std::string at = place ? RowPlace(*place).render() : reading_.where();
    for (std::string& one : architectures)
      drafts_.push_back({{label, std::move(one), settings, at}, place});
  }

  bool check_label(const std::string& label, const std::optional<RowPlace>& place) {
    if (label.empty()) return true;
    if (!variants_) {
      refuse(place, "label", fmt::format("the label \"{}\" needs a [variant] table", label),
             "[variant] defines the providers and properties of a label");
      return false;
    }
    if (label == wheel::null_label) variants_->variants[label];
    if (variants_->variants.contains(label)) return true;
    refuse(place, "label", fmt::format("[variant.variants] has no label \"{}\"", label),
           text::suggest(label, labels_of(*variants_),
                         fmt::format("add [variant.variants.{}] with its properties", label)));
    return false;
  }

  [[nodiscard]] std::string declared_of(const std::string& label) const {
    if (!variants_ || label.empty()) return {};
    const detect::Arch arch = binaries::declared_architecture(variants_->variants.at(label));
    return arch == detect::Arch::other ? std::string() : std::string(detect::render_arch(arch));
  }

  /// Whether a product has rows of that label, and for those architectures.
  bool change(const StatedRow& stated, std::size_t of_products) {
    bool changed = false;
    for (std::size_t i = 0; i < of_products; ++i) {
      Draft& draft = drafts_[i];
      MatrixRow& row = draft.row;
      const auto& wanted = stated.settings.architectures;
      const bool same =
          row.label == stated.label &&
          (wanted.empty() || std::ranges::find(wanted, row.architecture) != wanted.end());
      if (!same) continue;
      refuse_second_change(draft, stated);
      draft.changed_by.emplace(stated);
      row.settings = overlaid(std::move(row.settings), stated.settings);
      row.settings.architectures.clear();
      row.place = reading_.place(stated.table.node());
      changed = true;
    }
    return changed;
  }

  /// A row for some architectures may follow one for all, but of two for the same neither counts.
  void refuse_second_change(const Draft& draft, const StatedRow& stated) {
    if (!draft.changed_by ||
        draft.changed_by->settings.architectures.empty() != stated.settings.architectures.empty())
      return;
    refuse(RowPlace{stated.table}, "label",
           fmt::format("\"{}\" has a row already ({})", stated.label,
                       reading_.place(draft.changed_by->table.node())),
           "write all of its settings into one row");
  }

  void refuse_twins() {
    std::map<std::pair<std::string, std::string>, std::string> seen;
    for (const Draft& draft : drafts_) {
      const MatrixRow& row = draft.row;
      const auto [first, is_new] = seen.emplace(std::pair(row.label, row.architecture), row.place);
      if (is_new) continue;
      refuse(draft.place, "label",
             fmt::format("{} is duplicated in the matrix, the first is {}",
                         row.label.empty() ? "the plain wheel" : fmt::format("\"{}\"", row.label),
                         first->second),
             "rows of one label need different architectures");
    }
  }

  std::optional<wheel::VariantMetadata>& variants_;
  documents::TomlReading& reading_;
  std::vector<Draft> drafts_;
};

}  // namespace

MatrixTable read_matrix_table(documents::TomlTable& axle) {
  MatrixTable matrix;
  matrix.of_all = read_row_settings(axle, SettingsScope::project);
  matrix.products = read_products(axle);
  for (documents::TomlTable& table : axle.tables("variant")) {
    StatedRow row{table.text("label").value_or(""), read_row_settings(table, SettingsScope::row),
                  table};
    if (!row.label.empty() && !wheel::is_valid_label(row.label)) {
      table.refuse("label", fmt::format("\"{}\" is not a valid variant label", row.label),
                   "use lower-case letters, digits, \"_\" and \".\"");
    }
    table.finish();
    matrix.rows.push_back(std::move(row));
  }
  return matrix;
}

std::vector<MatrixRow> make_matrix(const MatrixTable& table,
                                   std::optional<wheel::VariantMetadata>& variants,
                                   documents::TomlReading& reading) {
  Matrix matrix(variants, reading);
  matrix.add_products(table);
  matrix.add_stated(table);
  matrix.complete(table.of_all);
  return matrix.rows();
}

}  // namespace axle::builder
