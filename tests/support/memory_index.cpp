#include "tests/support/memory_index.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

#include "wheel/hash/sha256.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"
#include "wheel/wheel_writer.h"

namespace axle::testing {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

std::string metadata_text(const WheelRecipe& recipe) {
  std::string text =
      "Metadata-Version: 2.1\nName: " + recipe.name + "\nVersion: " + recipe.version + "\n";
  if (!recipe.requires_python.empty()) text += "Requires-Python: " + recipe.requires_python + "\n";
  for (const std::string& requirement : recipe.requires_dist) {
    text += "Requires-Dist: " + requirement + "\n";
  }
  for (const std::string& extra : recipe.extras) text += "Provides-Extra: " + extra + "\n";
  return text;
}

std::string wheel_bytes(const WheelRecipe& recipe) {
  const std::string dist_info = recipe.name + "-" + recipe.version + ".dist-info";
  std::vector<wheel::WheelMember> members;
  members.push_back({recipe.name + "/__init__.py", "version = '" + recipe.version + "'\n"});
  members.push_back({dist_info + "/METADATA", metadata_text(recipe)});
  members.push_back(
      {dist_info + "/WHEEL",
       "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: " + recipe.tags + "\n"});
  if (recipe.variants && !recipe.label.empty()) {
    const auto own = must(wheel::only_variant(*recipe.variants, recipe.label));
    members.push_back({dist_info + "/variant.json", must(wheel::render_variant_metadata(own))});
  }
  return must(wheel::write_wheel(std::move(members), dist_info, 1'700'000'000));
}

}  // namespace

index::PublishedFile& MemoryIndex::add_file(const std::string& project, const std::string& filename,
                                            std::string bytes) {
  index::PublishedFile file;
  file.filename = filename;
  file.url = base_ + "/files/" + filename;
  file.hash = wheel::expected_sha256(wheel::render_hex(wheel::sha256(bytes)));
  file.size = bytes.size();
  bytes_[file.url] = std::move(bytes);
  auto& page = pages_[wheel::normalize_name(project)];
  page.push_back(std::move(file));
  return page.back();
}

index::PublishedFile& MemoryIndex::add_wheel(const WheelRecipe& recipe) {
  return add_wheel(recipe, wheel_bytes(recipe));
}

index::PublishedFile& MemoryIndex::add_metadata_of(const WheelRecipe& recipe) {
  return add_wheel(recipe, {});
}

index::PublishedFile& MemoryIndex::add_wheel(const WheelRecipe& recipe, std::string bytes) {
  std::string filename = recipe.name + "-" + recipe.version;
  if (!recipe.build.empty()) filename += "-" + recipe.build;
  filename += "-" + recipe.tags;
  if (!recipe.label.empty()) filename += "-" + recipe.label;
  filename += ".whl";
  index::PublishedFile& file = add_file(recipe.name, filename, std::move(bytes));
  file.has_metadata = true;
  const std::string metadata = metadata_text(recipe);
  file.metadata_sha256 = wheel::render_hex(wheel::sha256(metadata));
  bytes_[file.url + ".metadata"] = metadata;
  return file;
}

void MemoryIndex::add_wheel_at(const std::string& index_url, const WheelRecipe& recipe,
                               std::optional<std::uint64_t> size) {
  const std::string filename = recipe.name + "-" + recipe.version + "-" + recipe.tags + ".whl";
  const std::string url = index_url + "/files/" + filename;
  bytes_[url] = wheel_bytes(recipe);
  bytes_[url + ".metadata"] = metadata_text(recipe);
  std::string& links = links_[index_url + "/" + wheel::normalize_name(recipe.name) + "/"];
  links += (links.empty() ? "" : ", ") +
           ("{\"filename\": \"" + filename + "\", \"url\": \"" + url +
            "\", \"core-metadata\": true, \"hashes\": {}" +
            (recipe.requires_python.empty()
                 ? ""
                 : ", \"requires-python\": \"" + recipe.requires_python + "\"") +
            (size ? ", \"size\": " + std::to_string(*size) : "") + "}");
}

index::PublishedFile& MemoryIndex::add_variants(const std::string& project,
                                                const std::string& version,
                                                const std::string& json) {
  return add_file(project, wheel::variants_file_name(project, must(wheel::parse_version(version))),
                  json);
}

index::PublishedFile& MemoryIndex::add_variants(const std::string& project,
                                                const std::string& version,
                                                const wheel::VariantMetadata& metadata) {
  return add_variants(project, version, must(wheel::render_variant_metadata(metadata)));
}

void MemoryIndex::replace_bytes(const std::string& filename, std::string bytes) {
  bytes_.at(base_ + "/files/" + filename) = std::move(bytes);
}

Result<index::ProjectPage> MemoryIndex::project(std::string_view name) {
  index::ProjectPage page;
  page.name = name;
  page.url = base_ + "/" + page.name + "/";
  const auto found = pages_.find(name);
  page.absent = found == pages_.end();
  if (!page.absent) page.files = found->second;
  asked.emplace_back(name);
  return page;
}

Result<index::HttpResponse> MemoryIndex::fetch(const index::HttpRequest& request) {
  fetched.push_back(request.url.substr(request.url.rfind('/') + 1));
  index::HttpResponse response;
  response.url = request.url;
  if (const auto page = links_.find(request.url); page != links_.end()) {
    response.status = 200;
    response.content_type = "application/vnd.pypi.simple.v1+json";
    response.body = "{\"meta\": {\"api-version\": \"1.1\"}, \"name\": \"x\", \"files\": [" +
                    page->second + "]}";
    return response;
  }
  const auto found = bytes_.find(request.url);
  if (found == bytes_.end()) {
    response.status = 404;
    return response;
  }
  const std::string& bytes = found->second;
  response.status = 200;
  response.total_size = bytes.size();
  if (request.tail) {
    response.status = 206;
    response.body =
        bytes.substr(bytes.size() - std::min<std::uint64_t>(*request.tail, bytes.size()));
  } else if (request.range) {
    response.status = 206;
    response.body = bytes.substr(request.range->offset, request.range->length);
  } else {
    response.body = bytes;
  }
  return response;
}

Result<index::HttpResponse> MemoryIndex::download(const index::HttpRequest& request,
                                                  const index::BodySink& sink) {
  auto response = fetch(request);
  if (!response || response->status != 200) return response;
  if (auto taken = sink(std::as_bytes(std::span(response->body))); !taken) {
    return std::unexpected(taken.error());
  }
  response->body.clear();
  return response;
}

}  // namespace axle::testing
