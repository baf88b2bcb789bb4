#include "index/pages/listed_project.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "index/http/kept_form.h"
#include "index/pages/byte_kinds.h"

namespace axle::index {
namespace {

/// Of the layout and of the reader of pages: another number, and every page is parsed again.
constexpr std::array<char, 16> format = {'a', 'x', 'l', 'e',  ' ', 'p', 'a', 'g',
                                         'e', ' ', '3', '\n', 0,   0,   0,   0};
constexpr std::size_t typical_file_bytes = 256;
/// As much of the files behind the summaries is kept in memory if it was read with them: those of
/// the newest release, for most projects.
constexpr std::size_t most_newest = 4096;

/// The bytes are this, a Row for each release (and one for the files of none), the texts, the
/// files. All offsets are from the beginning.
struct Header {
  std::array<char, 16> format{};
  std::uint64_t checksum = 0;  ///< of what follows, up to the files
  std::array<char, identity_length> identity{};
  std::uint32_t rows = 0;
  std::uint32_t files = 0;
  std::uint32_t texts = 0;  ///< bytes of them; the first is the URL of the page
  std::uint32_t url = 0;    ///< bytes of it
  std::uint64_t exposed = 0;
};
static_assert(sizeof(Header) == 16 + 8 + identity_length + 4 * 4 + 8);
constexpr std::size_t checked_from = 24;

constexpr std::uint32_t flag_yanked_wheels = 1;
constexpr std::uint32_t flag_all_yanked = 2;

constexpr Byte is_hyphen(Byte c) { return static_cast<Byte>(c == '-'); }

template <class Value>
void put(std::string& out, std::size_t at, const Value& value) {
  std::memcpy(out.data() + at, &value, sizeof value);
}

template <class Value>
Value get(std::string_view bytes, std::size_t at) {
  Value value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::optional<std::vector<KeptFile>> sound_files(std::string_view bytes, std::uint64_t checksum,
                                                 std::uint64_t seed, KeptIn where,
                                                 const WantedWheels& wanted) {
  if (form_checksum(seed, bytes) != checksum) return std::nullopt;
  return read_kept_files(bytes, where, wanted);
}

}  // namespace

struct ListedProject::Row {
  std::uint64_t checksum = 0;  ///< of the files
  std::uint32_t files_at = 0;
  std::uint32_t files_length = 0;
  std::uint32_t version_at = 0;
  std::uint32_t version_length = 0;  ///< 0: files of no release
  std::uint32_t wheels = 0;
  std::uint32_t sdists = 0;
  std::uint32_t maybe_labelled = 0;
  std::uint32_t flags = 0;
};

void ReleaseSummary::add(FileKind kind, const PublishedFile& file) {
  if (kind == FileKind::wheel) {
    ++wheels;
    yanked_wheels = yanked_wheels || file.yanked;
    // name-version-python-abi-platform.whl has four hyphens.
    if (!file.label.empty() || count_of<is_hyphen>(file.filename) > 4) ++maybe_labelled;
  } else if (kind == FileKind::sdist) {
    ++sdists;
  } else {
    return;
  }
  all_yanked = all_yanked && file.yanked;
}

ReleaseSummary summarize(const ReleaseFiles& files) {
  ReleaseSummary summary;
  for (const PublishedFile& file : files.wheels) summary.add(FileKind::wheel, file);
  for (const PublishedFile& file : files.sdists) summary.add(FileKind::sdist, file);
  return summary;
}

ListedProject::ListedProject(const ProjectPage& page, std::string_view name, const FormPlace& copy)
    : url_(page.url), absent_(page.absent) {
  const ReleaseGroups groups = group_by_release(page.files, name);
  Header header;
  header.format = format;
  std::ranges::copy(copy.identity.substr(0, identity_length), header.identity.begin());
  header.files = static_cast<std::uint32_t>(page.files.size());
  header.exposed =
      static_cast<std::uint64_t>(std::ranges::count_if(page.files, &PublishedFile::exposed));
  header.url = static_cast<std::uint32_t>(url_.size());
  header.texts = header.url;
  for (const ReleaseGroup& release : groups.releases)
    header.texts += static_cast<std::uint32_t>(release.text.size());
  header.rows = static_cast<std::uint32_t>(groups.releases.size() + 1);
  const std::size_t texts_at = sizeof(Header) + header.rows * sizeof(Row);
  seed_ = form_checksum(0, {header.identity.data(), identity_length});
  bytes_.reserve(texts_at + header.texts + page.files.size() * typical_file_bytes);
  bytes_.resize(texts_at);
  bytes_ += url_;
  for (const ReleaseGroup& release : groups.releases) bytes_ += release.text;
  std::size_t version_at = texts_at + url_.size();
  std::size_t row_at = sizeof(Header);
  const auto add_row = [&](std::string_view version, const std::vector<GroupedFile>& files) {
    const Row row = append(files, page.files, version_at, version);
    version_at += version.size();
    put(bytes_, row_at, row);
    row_at += sizeof(Row);
  };
  for (const ReleaseGroup& release : groups.releases) add_row(release.text, release.files);
  std::vector<GroupedFile> others;
  for (const std::size_t place : groups.others) others.push_back({place, FileKind::other});
  add_row({}, others);
  put(bytes_, 0, header);
  header.checksum = form_checksum(
      0, std::string_view(bytes_).substr(checked_from, texts_at + header.texts - checked_from));
  put(bytes_, 0, header);
}

/// The files of one release behind what there is.
ListedProject::Row ListedProject::append(const std::vector<GroupedFile>& files,
                                         const std::vector<PublishedFile>& all,
                                         std::size_t version_at, std::string_view version) {
  ReleaseSummary summary;
  const std::size_t begin = bytes_.size();
  FileWriter writer(bytes_);
  for (const GroupedFile& file : files) {
    summary.add(file.kind, all[file.place]);
    writer.add(file.place, file.kind, all[file.place]);
  }
  Row row;
  row.checksum = form_checksum(seed_, std::string_view(bytes_).substr(begin));
  row.files_at = static_cast<std::uint32_t>(begin);
  row.files_length = static_cast<std::uint32_t>(bytes_.size() - begin);
  row.version_at = static_cast<std::uint32_t>(version_at);
  row.version_length = static_cast<std::uint32_t>(version.size());
  row.wheels = summary.wheels;
  row.sdists = summary.sdists;
  row.maybe_labelled = summary.maybe_labelled;
  row.flags =
      (summary.yanked_wheels ? flag_yanked_wheels : 0) | (summary.all_yanked ? flag_all_yanked : 0);
  return row;
}

std::optional<ListedProject> ListedProject::open(const KeptForm& form) {
  if (form.identity.size() != identity_length || form.begin.size() < sizeof(Header))
    return std::nullopt;
  const auto header = get<Header>(form.begin, 0);
  const std::uint64_t end =
      sizeof(Header) + std::uint64_t{header.rows} * sizeof(Row) + header.texts;
  if (header.format != format || header.rows == 0 || header.url > header.texts || end > form.size)
    return std::nullopt;
  ListedProject listed;
  std::string& bytes = listed.bytes_;
  const std::size_t known = std::min<std::uint64_t>(form.begin.size(), end);
  bytes.resize(end);
  form.begin.copy(bytes.data(), known);
  if (known < end &&
      !read_form_part(form.path, form.offset + known, end - known, bytes.data() + known)) {
    return std::nullopt;
  }
  if (!listed.is_sound(form)) return std::nullopt;
  listed.newest_ = form.begin.substr(known, most_newest);
  listed.seed_ = form_checksum(0, form.identity);
  listed.url_ = bytes.substr(end - header.texts, header.url);
  listed.path_ = form.path;
  listed.offset_ = form.offset;
  return listed;
}

/// The checksum tells damage; that nothing leads outside is checked all the same.
bool ListedProject::is_sound(const KeptForm& form) const {
  const auto header = get<Header>(bytes_, 0);
  if (std::string_view(header.identity.data(), identity_length) != form.identity ||
      header.checksum != form_checksum(0, std::string_view(bytes_).substr(checked_from))) {
    return false;
  }
  std::uint64_t files = 0;
  for (std::size_t at = 0; at < header.rows; ++at) {
    const Row each = row(at);
    const bool is_last = at + 1 == header.rows;
    if (std::uint64_t{each.files_at} + each.files_length > form.size ||
        std::uint64_t{each.version_at} + each.version_length > bytes_.size() ||
        (each.version_length == 0) != is_last || each.maybe_labelled > each.wheels) {
      return false;
    }
    files += std::uint64_t{each.wheels} + each.sdists;
  }
  // Candidates are numbered by these counts before any file is read.
  return files <= header.files && header.files <= form.size;
}

ListedProject::Row ListedProject::row(std::size_t at) const {
  return get<Row>(bytes_, sizeof(Header) + at * sizeof(Row));
}

std::size_t ListedProject::file_count() const { return get<Header>(bytes_, 0).files; }

bool ListedProject::any_exposed() const { return get<Header>(bytes_, 0).exposed != 0; }

std::size_t ListedProject::release_count() const { return get<Header>(bytes_, 0).rows - 1; }

ReleaseSummary ListedProject::summary(std::size_t release) const {
  const Row found = row(release);
  return {std::string_view(bytes_).substr(found.version_at, found.version_length),
          found.wheels,
          found.sdists,
          found.maybe_labelled,
          (found.flags & flag_yanked_wheels) != 0,
          (found.flags & flag_all_yanked) != 0};
}

std::optional<std::vector<KeptFile>> ListedProject::files_of(const Row& row,
                                                             const WantedWheels& wanted) const {
  std::string read;
  std::string_view bytes;
  const std::size_t end = bytes_.size();
  if (path_.empty()) {
    bytes = std::string_view(bytes_).substr(row.files_at, row.files_length);
  } else if (row.files_at >= end && std::uint64_t{row.files_at} + row.files_length <=
                                        std::uint64_t{end} + newest_.size()) {
    bytes = std::string_view(newest_).substr(row.files_at - end, row.files_length);
  } else {
    // The file may have been replaced meanwhile: the checksum is over the identity, too.
    read.resize(row.files_length);
    if (!read_form_part(path_, offset_ + row.files_at, read.size(), read.data()))
      return std::nullopt;
    bytes = read;
  }
  return sound_files(bytes, row.checksum, seed_, path_.empty() ? KeptIn::memory : KeptIn::disk,
                     wanted);
}

const ListedProject* ListedProject::parsed_again() const {
  if (parse_again_) again_ = std::exchange(parse_again_, nullptr)();
  return again_.get();
}

ReleaseFiles ListedProject::files(std::size_t release, const WantedWheels& wanted) const {
  ReleaseFiles files;
  const Row own = row(release);
  if (auto kept = files_of(own, wanted)) {
    files.wheels.reserve(std::min<std::size_t>(own.wheels, kept->size()));
    files.sdists.reserve(std::min<std::size_t>(own.sdists, kept->size()));
    for (KeptFile& one : *kept) files.add(one.kind, std::move(one.file));
    return files;
  }
  const ListedProject* again = parsed_again();
  if (again == nullptr) return files;
  for (std::size_t other = 0; other < again->release_count(); ++other) {
    if (again->summary(other).version == summary(release).version)
      return again->files(other, wanted);
  }
  return files;
}

ProjectPage ListedProject::page(std::string_view name) const {
  // All that is still in its file is read at once.
  const std::uint64_t begin = bytes_.size();
  std::uint64_t end = begin;
  for (std::size_t at = 0; !path_.empty() && at <= release_count(); ++at)
    end = std::max(end, std::uint64_t{row(at).files_at} + row(at).files_length);
  std::string rest(end - begin, '\0');
  if (!read_form_part(path_, offset_ + begin, rest.size(), rest.data())) rest.clear();
  std::vector<std::vector<KeptFile>> groups;
  std::vector<KeptFile*> files;
  for (std::size_t at = 0; at <= release_count(); ++at) {
    const Row own = row(at);
    auto kept =
        own.files_at < begin || rest.empty()
            ? files_of(own, {})
            : sound_files(std::string_view(rest).substr(own.files_at - begin, own.files_length),
                          own.checksum, seed_, KeptIn::disk, {});
    if (!kept) {
      const ListedProject* again = parsed_again();
      return again == nullptr ? ProjectPage{std::string(name), url_, {}, absent_}
                              : again->page(name);
    }
    for (KeptFile& file : groups.emplace_back(std::move(*kept))) files.push_back(&file);
  }
  std::ranges::sort(files, {}, &KeptFile::place);
  ProjectPage page{std::string(name), url_, {}, absent_};
  page.files.reserve(files.size());
  for (KeptFile* const one : files) page.files.push_back(std::move(one->file));
  return page;
}

void ListedProject::leave_files_at(const FormPlace& copy) {
  const auto header = get<Header>(bytes_, 0);
  bytes_.resize(sizeof(Header) + header.rows * sizeof(Row) + header.texts);
  bytes_.shrink_to_fit();
  path_ = copy.path;
  offset_ = copy.head.size();
}

void ListedProject::set_parse_again(
    std::function<std::shared_ptr<const ListedProject>()> parse_again) {
  parse_again_ = std::move(parse_again);
}

}  // namespace axle::index
