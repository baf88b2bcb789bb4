// PEP 691 pages with simdjson's on-demand parser: every byte is read once, and only the needed
// fields become strings.
#include <algorithm>

#include <fmt/format.h>
#include <simdjson.h>

#include "foundation/text/rfc3339.h"
#include "index/http/redaction.h"
#include "index/pages/page.h"
#include "index/pages/page_entry.h"

namespace axle::index {
namespace {

namespace json = simdjson::ondemand;
using simdjson::error_code;

// Fields and values are passed by reference and never copied: on a page with 60,000 of them the
// copies took a quarter of the time.

/// Why an entry is skipped; empty if it is valid.
using Complaint = std::string_view;

bool is_null(json::value& value) {
  bool null = false;
  return !value.is_null().get(null) && null;
}

/// The text of a string. Without escapes it is a view of the page itself; otherwise it is unescaped
/// into the parser's memory. Both are valid until the next document.
error_code get_text(json::value& value, std::string_view& text) {
  std::string_view token = value.raw_json_token();
  if (!token.starts_with('"') || token.find('\\') != std::string_view::npos) {
    return value.get_string().get(text);
  }
  token.remove_prefix(1);
  const std::size_t end = token.rfind('"');  // white space may follow
  if (end == std::string_view::npos) return simdjson::STRING_ERROR;
  text = token.substr(0, end);
  return simdjson::SUCCESS;
}

/// A string or null (left empty). Only errors of the document itself are returned.
error_code read_text(json::value& value, std::string& out, Complaint& complaint,
                     Complaint otherwise) {
  std::string_view text;
  const error_code error = get_text(value, text);
  if (!error) {
    out = text;
    return simdjson::SUCCESS;
  }
  if (error != simdjson::INCORRECT_TYPE) return error;
  if (!is_null(value)) complaint = otherwise;
  return simdjson::SUCCESS;
}

error_code read_sha256(json::object hashes, std::string& out, Complaint& complaint) {
  for (auto item : hashes) {
    if (item.error()) return item.error();
    json::field& field = item.value_unsafe();
    if (field.key() != "sha256") continue;
    std::string_view text;
    const error_code error = get_text(field.value(), text);
    if (error && error != simdjson::INCORRECT_TYPE) return error;
    out = sha256_digits(text);
    if (out.empty()) complaint = "its sha256 is not 64 hexadecimal digits";
  }
  return simdjson::SUCCESS;
}

error_code note_hashes(json::object hashes, PublishedFile& file, Complaint& complaint) {
  for (auto item : hashes) {
    if (item.error()) return item.error();
    json::field& field = item.value_unsafe();
    std::string_view algorithm;
    if (field.key() == "sha256") {
      algorithm = "sha256";
    } else if (const error_code error = field.unescaped_key().get(algorithm)) {
      return error;
    }
    std::string_view digits;
    const error_code error = get_text(field.value(), digits);
    if (error && error != simdjson::INCORRECT_TYPE) return error;
    if (!note_hash(file.hash, algorithm, digits))
      complaint = "its sha256 is not 64 hexadecimal digits";
  }
  return simdjson::SUCCESS;
}

error_code read_hashes(json::value& value, PublishedFile& file, Complaint& complaint) {
  json::object hashes;
  const error_code error = value.get_object().get(hashes);
  if (!error) return note_hashes(hashes, file, complaint);
  if (error != simdjson::INCORRECT_TYPE) return error;
  complaint = "its hashes are not an object";
  return simdjson::SUCCESS;
}

/// PEP 714: true, false, or the hashes of the metadata file.
error_code read_metadata(json::value& value, PublishedFile& file, Complaint& complaint) {
  json::json_type type{};
  if (const error_code error = value.type().get(type)) return error;
  if (type == json::json_type::object) {
    json::object hashes;
    if (const error_code error = value.get_object().get(hashes)) return error;
    file.has_metadata = true;
    return read_sha256(hashes, file.metadata_sha256, complaint);
  }
  if (type == json::json_type::boolean) return value.get_bool().get(file.has_metadata);
  return simdjson::SUCCESS;
}

/// PEP 592: a reason, or true or false.
error_code read_yanked(json::value& value, PublishedFile& file, Complaint& complaint) {
  json::json_type type{};
  if (const error_code error = value.type().get(type)) return error;
  if (type == json::json_type::boolean) return value.get_bool().get(file.yanked);
  if (type != json::json_type::string) {
    if (type != json::json_type::null)
      complaint = "its yanked mark is neither true, false nor text";
    return simdjson::SUCCESS;
  }
  file.yanked = true;
  return read_text(value, file.yanked_reason, complaint, {});
}

error_code read_size(json::value& value, PublishedFile& file, Complaint& complaint) {
  std::uint64_t size = 0;
  const error_code error = value.get_uint64().get(size);
  if (!error) {
    file.size = size;
  } else if (error == simdjson::INCORRECT_TYPE || error == simdjson::NUMBER_ERROR ||
             error == simdjson::NUMBER_OUT_OF_RANGE) {
    if (!is_null(value)) complaint = "its size is not a number of bytes";
  } else {
    return error;
  }
  return simdjson::SUCCESS;
}

/// An invalid value counts as none: users of the time then skip the file.
error_code read_upload_time(json::value& value, PublishedFile& file) {
  std::string_view text;
  const error_code error = get_text(value, text);
  if (error) return error == simdjson::INCORRECT_TYPE ? simdjson::SUCCESS : error;
  file.uploaded = text::parse_rfc3339(text);
  return simdjson::SUCCESS;
}

struct FileReading {
  PublishedFile& file;
  std::string_view link = {};  ///< in the page or the parser
  bool has_core_metadata = false;
  Complaint complaint = {};
};

error_code read_link(json::value& value, FileReading& entry) {
  const error_code error = get_text(value, entry.link);
  if (error != simdjson::INCORRECT_TYPE) return error;
  entry.complaint = "its url is not text";
  return simdjson::SUCCESS;
}

error_code read_metadata_field(json::value& value, bool is_core, FileReading& entry) {
  if (!is_core && entry.has_core_metadata) return simdjson::SUCCESS;
  entry.has_core_metadata = entry.has_core_metadata || is_core;
  entry.file.has_metadata = false;
  entry.file.metadata_sha256.clear();
  return read_metadata(value, entry.file, entry.complaint);
}

/// The first letter leaves at most two candidates: a page has ten fields times thousands of files.
error_code read_field(json::field& field, FileReading& entry) {
  PublishedFile& file = entry.file;
  Complaint& complaint = entry.complaint;
  const json::raw_json_string key = field.key();
  json::value& value = field.value();
  switch (key.raw()[0]) {
    case 'c':
      if (key == "core-metadata") return read_metadata_field(value, true, entry);
      break;
    case 'd':
      if (key == "dist-info-metadata" || key == "data-dist-info-metadata") {
        return read_metadata_field(value, false, entry);
      }
      break;
    case 'f':
      if (key == "filename")
        return read_text(value, file.filename, complaint, "its name is not text");
      break;
    case 'h':
      if (key == "hashes") return read_hashes(value, file, complaint);
      break;
    case 'p':
      // PEP 740: null where there is none.
      if (key == "provenance") {
        return read_text(value, file.provenance, complaint, "its provenance is not text");
      }
      break;
    case 'r':
      if (key == "requires-python") {
        return read_text(value, file.requires_python, complaint, "its requires-python is not text");
      }
      break;
    case 's':
      if (key == "size") return read_size(value, file, complaint);
      break;
    case 'u':
      if (key == "url") return read_link(value, entry);
      if (key == "upload-time") return read_upload_time(value, file);
      break;
    case 'y':
      if (key == "yanked") return read_yanked(value, file, complaint);
      break;
    default:
      break;
  }
  return simdjson::SUCCESS;
}

error_code read_file(json::object object, PageBuilder& builder) {
  FileReading entry{builder.begin()};
  for (auto item : object) {
    if (item.error()) return item.error();
    json::field& field = item.value_unsafe();
    if (const error_code error = read_field(field, entry)) return error;
  }
  if (entry.complaint.empty() && entry.link.empty()) entry.complaint = "it has no url";
  if (entry.complaint.empty()) {
    builder.keep(entry.link);
  } else {
    builder.leave_out(entry.complaint);
  }
  return simdjson::SUCCESS;
}

error_code read_files(json::array files, PageBuilder& builder) {
  for (auto item : files) {
    if (item.error()) return item.error();
    json::object object;
    const error_code error = item.value_unsafe().get_object().get(object);
    if (error == simdjson::INCORRECT_TYPE) {
      builder.begin().filename = "?";
      builder.leave_out("it is not an object");
      continue;
    }
    if (error) return error;
    if (const error_code inner = read_file(object, builder)) return inner;
    if (!builder.has_room()) return simdjson::CAPACITY;
  }
  return simdjson::SUCCESS;
}

struct Head {
  bool has_files = false;
  bool files_are_list = true;
  std::string api_version = "1.0";  ///< PEP 691: the version of a page without one
};

error_code read_meta(json::value& value, Head& head) {
  json::object meta;
  if (const error_code error = value.get_object().get(meta)) {
    return error == simdjson::INCORRECT_TYPE ? simdjson::SUCCESS : error;
  }
  for (auto item : meta) {
    if (item.error()) return item.error();
    json::field& field = item.value_unsafe();
    if (field.key() != "api-version") continue;
    Complaint ignored;
    if (const error_code error = read_text(field.value(), head.api_version, ignored, {}))
      return error;
  }
  return simdjson::SUCCESS;
}

error_code read_page(json::document& document, PageBuilder& builder, Head& head) {
  json::object root;
  if (const error_code error = document.get_object().get(root)) return error;
  for (auto item : root) {
    if (item.error()) return item.error();
    json::field& field = item.value_unsafe();
    const json::raw_json_string key = field.key();
    if (key == "meta") {
      if (const error_code error = read_meta(field.value(), head)) return error;
    } else if (key == "name") {
      std::string name;
      Complaint ignored;
      if (const error_code error = read_text(field.value(), name, ignored, {})) return error;
      builder.set_name(name);
    } else if (key == "files") {
      json::array files;
      const error_code error = field.value().get_array().get(files);
      head.has_files = true;
      head.files_are_list = error != simdjson::INCORRECT_TYPE;
      if (error && head.files_are_list) return error;
      if (!head.files_are_list) continue;
      if (const error_code inner = read_files(files, builder)) return inner;
    }
  }
  // Past the last token there is no location; anything else is content after the object.
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS
             ? simdjson::SUCCESS
             : simdjson::TRAILING_CONTENT;
}

std::unexpected<Error> not_a_page(std::string_view page_url, std::string_view why) {
  return fail(ErrorKind::malformed,
              fmt::format("{} is not a page of a package index: {}", redact_url(page_url), why),
              "check the index URL: it usually ends in /simple");
}

}  // namespace

Result<ProjectPage> parse_json_page(std::string body, std::string_view page_url, Report& report) {
  body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  // What it allocates for one page serves the next.
  thread_local json::parser parser;
  json::document document;
  if (const error_code error = parser.iterate(body).get(document)) {
    return not_a_page(page_url, simdjson::error_message(error));
  }
  PageBuilder builder(page_url, std::string(without_fragment(page_url)), body.size(), report);
  Head head;
  const error_code error = read_page(document, builder, head);
  if (!builder.has_room()) return std::unexpected(builder.too_large());
  if (const Result<void> version = check_api_version(head.api_version, page_url); !version) {
    return std::unexpected(version.error());
  }
  if (error) return not_a_page(page_url, simdjson::error_message(error));
  if (!head.has_files) return not_a_page(page_url, "it has no 'files'");
  if (!head.files_are_list) return not_a_page(page_url, "its 'files' is not a list");
  return builder.finish();
}

}  // namespace axle::index
