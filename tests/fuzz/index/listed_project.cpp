// What is kept of a page is the page; and whatever stands in its place, nothing else is taken for
// files, and nothing beyond its end is read.
#include "index/pages/listed_project.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

#include "index/http/kept_form.h"
#include "index/http/url.h"
#include "index/pages/kept_files.h"
#include "index/pages/page_entry.h"
#include "tests/fuzz/require.h"

using namespace axle::index;
using axle::fuzz::require;

namespace {

const std::string identity(64, '7');

std::string scratch() {
  static const std::string path =
      std::filesystem::temp_directory_path() / ("axle-fuzz-listed-" + std::to_string(::getpid()));
  return path;
}

void check_page(const std::string& text) {
  axle::CollectedReport report;
  const auto page = parse_json_page(text, "https://index.example/simple/name/", report);
  if (!page) return;
  const ListedProject listed(*page, "name");
  require(listed.page("name").files == page->files);
  std::size_t files = 0;
  for (std::size_t place = 0; place < listed.release_count(); ++place) {
    const ReleaseFiles own = listed.files(place);
    const ReleaseSummary summary = listed.summary(place);
    require(own.wheels.size() == summary.wheels && own.sdists.size() == summary.sdists);
    require(summarize(own).all_yanked == summary.all_yanked);
    files += own.wheels.size() + own.sdists.size();
  }
  require(files <= page->files.size());
}

/// `patch` over the summaries of a sound form, with a checksum that fits: offsets lead anywhere.
void check_patched(std::string form, std::string_view patch) {
  constexpr std::size_t head = 112;
  constexpr std::size_t row = 40;
  if (patch.size() < 2) return;
  const std::size_t at = 88 + static_cast<unsigned char>(patch[0]) % 100;
  patch = patch.substr(1, form.size() - at);
  std::memcpy(form.data() + at, patch.data(), patch.size());
  std::uint32_t rows = 0;
  std::uint32_t texts = 0;
  std::memcpy(&rows, form.data() + 88, sizeof rows);
  std::memcpy(&texts, form.data() + 96, sizeof texts);
  const std::uint64_t end = head + std::uint64_t{rows} * row + texts;
  if (end > form.size()) return;
  const std::uint64_t sum = form_checksum(0, std::string_view(form).substr(24, end - 24));
  std::memcpy(form.data() + 16, &sum, sizeof sum);
  std::ofstream(scratch(), std::ios::binary) << form;
  const auto listed = ListedProject::open({scratch(), identity, 0, form.size(), form});
  if (!listed) return;
  for (std::size_t place = 0; place < listed->release_count(); ++place) {
    (void)listed->summary(place);
    (void)listed->files(place);
  }
  (void)listed->page("name");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto files = read_kept_files(text, KeptIn::disk)) {
    for (const KeptFile& kept : *files)
      require(is_sound_file_name(kept.file.filename) && is_http_url(kept.file.url));
  }
  check_page(text);
  static const std::string form = [] {
    ProjectPage page{"name", "https://index.example/simple/name/", {}, false};
    for (const char* name : {"name-1.0-py3-none-any.whl", "name-2.0.tar.gz", "name.exe"}) {
      PublishedFile& file = page.files.emplace_back();
      file.filename = name;
      file.url = std::string("https://index.example/f/") + name;
    }
    return ListedProject(page, "name", {scratch(), identity, {}, 0}).bytes();
  }();
  check_patched(form, text);
  return 0;
}
