#include "index/browse/people_pages.h"

#include <utility>

#include "foundation/system/parallel.h"
#include "index/browse/list_pages.h"
#include "index/browse/page_frame.h"

namespace axle::index {
namespace {

constexpr unsigned variants_files_at_once = 8;

/// The owner of the folder has a first page of his own.
Result<bool> has_foreign_first_page(IndexPlace& place) {
  const auto there = place.read_shown(first_page);
  if (!there) return std::unexpected(there.error());
  return *there && !is_our_page(**there);
}

Result<void> write_shared_files(const PageMachines& machines, const WritePage& write) {
  const SharedFile script = page_script();
  if (Result<void> done = write(script.path, script.text); !done) return done;
  for (const SharedFile& file : other_shared_files(machines)) {
    if (Result<void> done = write(file.path, file.text); !done) return done;
  }
  return {};
}

Result<void> write_lists(const std::vector<SharedFile>& pages, IndexPlace& place,
                         const WritePage& write) {
  for (const SharedFile& page : pages) {
    if (page.path == first_page) {
      const auto foreign = has_foreign_first_page(place);
      if (!foreign) return std::unexpected(foreign.error());
      if (*foreign) continue;
    }
    if (Result<void> done = write(page.path, page.text); !done) return done;
  }
  return {};
}

WritePage into(IndexDraft& out) {
  return [&out](std::string_view path, std::string_view text) { return out.write(path, text); };
}

/// What all pages need is there, and as this version writes it: its script tells for all of it.
Result<bool> are_current(IndexPlace& place) {
  const SharedFile script = page_script();
  const auto there = place.read_shown(script.path);
  if (!there) return std::unexpected(there.error());
  return *there && **there == script.text;
}

}  // namespace

Result<void> write_people_pages(std::span<const std::string> projects, IndexPlace& place,
                                const WritePage& write) {
  if (place.machines() == nullptr) return {};
  if (Result<void> done = write_shared_files(*place.machines(), write); !done) return done;
  return write_lists(render_list_pages(projects), place, write);
}

Result<void> rewrite_people_pages(std::span<const std::string> before,
                                  std::span<const std::string> after, IndexPlace& place,
                                  IndexDraft& out) {
  if (place.machines() == nullptr) return {};
  for (const std::string& path : change_list_pages(before, after).gone) out.leave_out(path);
  return write_people_pages(after, place, into(out));
}

Result<void> change_people_pages(std::span<const std::string> before,
                                 std::span<const std::string> after, IndexPlace& place,
                                 IndexDraft& out) {
  if (place.machines() == nullptr) return {};
  const auto current = are_current(place);
  if (!current) return std::unexpected(current.error());
  if (!*current) return rewrite_people_pages(before, after, place, out);
  const ListChange change = change_list_pages(before, after);
  for (const std::string& path : change.gone) out.leave_out(path);
  return write_lists(change.written, place, into(out));
}

Result<void> renew_people_pages(IndexPlace& place, IndexDraft& out) {
  if (place.machines() == nullptr) return {};
  const auto current = are_current(place);
  if (!current) return std::unexpected(current.error());
  if (*current) return {};
  const auto names = place.read_names();
  if (!names) return std::unexpected(names.error());
  return write_people_pages(names->value_or(std::vector<std::string>()), place, into(out));
}

std::optional<wheel::VariantMetadata> read_document(std::string_view text, std::string_view where) {
  CollectedReport untold;
  auto document = wheel::parse_variant_metadata(text, where, untold);
  if (!document) return std::nullopt;
  return std::move(*document);
}

ReadVariants published_variants_of(const PublishedProject& published, IndexPlace& place) {
  return [&](const std::vector<const ListedFile*>& files) {
    std::vector<std::optional<wheel::VariantMetadata>> documents(files.size());
    const auto read = [&](std::size_t i) {
      if (!files[i]->url.empty()) return;
      CollectedReport untold;  // whoever changes the file is told
      auto document = place.read_variants(published, files[i]->filename, untold);
      if (document) documents[i] = std::move(*document);
    };
    // A storage answers each of them late.
    const unsigned at_once = place.folder().empty() ? variants_files_at_once : 1;
    system::for_each_at_once(files.size(), at_once, read);
    return documents;
  };
}

}  // namespace axle::index
