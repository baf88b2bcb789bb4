#include "runtime/files/safetensors.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "runtime/files/shard_index.h"
#include "tests/runtime/files/made_file.h"

namespace {

using namespace axle::runtime;
using namespace axle::runtime::testing;

struct Refused {
  std::string what;
  std::string file;
  axle_status status;
  const char* message;  ///< a part of it
};

std::string entry(const char* type, const char* shape, const char* offsets) {
  return std::string("{\"dtype\":\"") + type + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

std::string one_tensor(const std::string& entry_text, std::size_t data = 8) {
  return safetensors("{\"x\":" + entry_text + "}", std::string(data, 'd'));
}

Result<void> read(const std::string& file) {
  TensorSource tensors("fuzz");
  SafetensorsMetadata metadata;
  return read_safetensors(ModelFile::in_memory(bytes_of(file), "m.safetensors"), tensors, metadata);
}

/// A part of JSON that cannot be a value here, where `%` stands in `form`.
std::string with(std::string form, const std::string& part) {
  return form.replace(form.find('%'), 1, part);
}

const std::vector<Refused>& refused_files() {
  const std::string sound = entry("F32", "[2]", "[0,8]");
  static const std::vector<Refused> files{
      {"nothing", "", AXLE_MALFORMED, "0 bytes are too few"},
      {"seven bytes", "1234567", AXLE_MALFORMED, "7 bytes are too few"},
      {"no header", raw(std::uint64_t{0}), AXLE_MALFORMED, "does not begin with"},
      {"header beyond the end", raw(std::uint64_t{9}) + "{}", AXLE_MALFORMED,
       "a header of 9 bytes in a file of 10"},
      {"length with the highest bit", raw(UINT64_MAX) + "{}", AXLE_MALFORMED, "a header of 18446"},
      {"header beyond the limit", raw(std::uint64_t{100'000'001}) + std::string(100'000'001, ' '),
       AXLE_MALFORMED, "a header of 100000001 bytes"},
      {"space before", safetensors(" {}"), AXLE_MALFORMED, "does not begin with"},
      {"byte order mark", safetensors("\xEF\xBB\xBF{}"), AXLE_MALFORMED, "does not begin with"},
      {"an array", safetensors("[]"), AXLE_MALFORMED, "does not begin with"},
      {"unclosed", safetensors("{"), AXLE_MALFORMED, "no valid JSON at byte 2"},
      {"two texts", safetensors("{}{}"), AXLE_MALFORMED, "no valid JSON at byte 3"},
      {"NUL", safetensors(std::string("{}\0", 3)), AXLE_MALFORMED, "no valid JSON"},
      {"no UTF-8", safetensors("{\"\xFF\":1}"), AXLE_MALFORMED, "no valid JSON"},
      {"no object", one_tensor("[]"), AXLE_MALFORMED, "\"x\": its entry is no JSON object"},
      {"null", one_tensor("null"), AXLE_MALFORMED, "\"x\": its entry is no JSON object"},
      {"empty entry", one_tensor("{}"), AXLE_MALFORMED, "has not dtype, shape and data_offsets"},
      {"no offsets", one_tensor("{\"dtype\":\"F32\",\"shape\":[2]}"), AXLE_MALFORMED,
       "has not dtype, shape and data_offsets"},
      {"unknown field", one_tensor(with("{\"strides\":1,%", sound.substr(1))), AXLE_MALFORMED,
       "a field that the format does not have"},
      {"field twice", one_tensor(with("{\"dtype\":\"F32\",%", sound.substr(1))), AXLE_MALFORMED,
       "a field of its entry is there twice"},
      {"unknown type", one_tensor(entry("F4", "[2]", "[0,8]")), AXLE_UNSUPPORTED,
       "tensor \"x\" is of type \"F4\", which is not supported"},
      {"type no text", one_tensor("{\"dtype\":4}"), AXLE_MALFORMED, "its dtype is no text"},
      {"type nested", one_tensor("{\"dtype\":[[[[\"F32\"]]]]}"), AXLE_MALFORMED,
       "its dtype is no text"},
      {"shape a number", one_tensor(entry("F32", "2", "[0,8]")), AXLE_MALFORMED,
       "its shape is no list"},
      {"shape an object", one_tensor(entry("F32", "{}", "[0,8]")), AXLE_MALFORMED,
       "its shape is no list"},
      {"negative length", one_tensor(entry("F32", "[-2]", "[0,8]")), AXLE_MALFORMED,
       "its shape is no list"},
      {"float length", one_tensor(entry("F32", "[2.0]", "[0,8]")), AXLE_MALFORMED,
       "its shape is no list"},
      {"length beyond 64 bits", one_tensor(entry("F32", "[18446744073709551616]", "[0,8]")),
       AXLE_MALFORMED, "its shape is no list"},
      {"nested shape", one_tensor(entry("F32", "[[2]]", "[0,8]")), AXLE_MALFORMED,
       "its shape is no list"},
      {"nine lengths", one_tensor(entry("F32", "[2,1,1,1,1,1,1,1,1]", "[0,8]")), AXLE_MALFORMED,
       "more than 8 lengths"},
      {"one offset", one_tensor(entry("F32", "[2]", "[0]")), AXLE_MALFORMED,
       "data_offsets are not two places"},
      {"three offsets", one_tensor(entry("F32", "[2]", "[0,8,8]")), AXLE_MALFORMED,
       "data_offsets are not two places"},
      {"negative offset", one_tensor(entry("F32", "[2]", "[-8,0]")), AXLE_MALFORMED,
       "data_offsets are not two places"},
      {"offsets reversed", one_tensor(entry("F32", "[2]", "[8,0]")), AXLE_MALFORMED,
       "do not take as many bytes"},
      {"too few bytes", one_tensor(entry("F32", "[2]", "[0,7]")), AXLE_MALFORMED,
       "do not take as many bytes"},
      {"product beyond 64 bits", one_tensor(entry("F32", "[4294967296,4294967296,2]", "[0,0]")),
       AXLE_MALFORMED, "do not take as many bytes"},
      {"bytes beyond 64 bits", one_tensor(entry("F64", "[2305843009213693953]", "[0,8]")),
       AXLE_MALFORMED, "do not take as many bytes"},
      {"beyond the end", one_tensor(entry("F32", "[2]", "[0,8]"), 7), AXLE_MALFORMED,
       "tensor \"x\" goes on behind the end of the file"},
      {"more data", one_tensor(entry("F32", "[2]", "[0,8]"), 9), AXLE_MALFORMED,
       "1 bytes follow the last tensor"},
      {"data of no tensor", safetensors("{}", "x"), AXLE_MALFORMED, "1 bytes follow"},
      {"gap at the beginning", one_tensor(entry("F32", "[1]", "[4,8]")), AXLE_MALFORMED,
       "begins at byte 4 of the data, not at 0"},
      {"overlap",
       safetensors("{\"a\":" + sound + ",\"b\":" + entry("F32", "[2]", "[4,12]") + "}",
                   std::string(12, 'd')),
       AXLE_MALFORMED, "tensor \"b\" begins at byte 4 of the data, not at 8"},
      {"gap",
       safetensors("{\"b\":" + entry("F32", "[1]", "[9,13]") + ",\"a\":" + sound + "}",
                   std::string(13, 'd')),
       AXLE_MALFORMED, "tensor \"b\" begins at byte 9 of the data, not at 8"},
      {"tensor twice",
       safetensors("{\"a\":" + sound + ",\"a\":" + entry("F32", "[2]", "[8,16]") + "}",
                   std::string(16, 'd')),
       AXLE_MALFORMED, "tensor \"a\" is there twice"},
      {"metadata no object", safetensors("{\"__metadata__\":[]}"), AXLE_MALFORMED,
       "\"__metadata__\" is no JSON object"},
      {"metadata null", safetensors("{\"__metadata__\":null}"), AXLE_MALFORMED,
       "\"__metadata__\" is no JSON object"},
      {"metadata number", safetensors("{\"__metadata__\":{\"k\":1}}"), AXLE_MALFORMED,
       "metadata \"k\" is no text"},
      {"metadata nested", safetensors("{\"__metadata__\":{\"k\":{}}}"), AXLE_MALFORMED,
       "metadata \"k\" is no text"},
      {"metadata key twice", safetensors("{\"__metadata__\":{\"k\":\"\",\"k\":\"\"}}"),
       AXLE_MALFORMED, "metadata \"k\" is there twice"},
      {"metadata twice", safetensors("{\"__metadata__\":{},\"__metadata__\":{}}"), AXLE_MALFORMED,
       "\"__metadata__\" is there twice"},
      {"fifty million brackets", safetensors("{\"x\":" + std::string(50'000'000, '[')),
       AXLE_MALFORMED, "brackets are nested deeper than 64"},
      {"terminal escapes", one_tensor("{\"dtype\":\"\\u001b[2J\\u009b\"}"), AXLE_UNSUPPORTED,
       "is of type \"?[2J??\""},
  };
  return files;
}

TEST_CASE("a safetensors file that is not what the format says is refused by name and reason") {
  for (const Refused& refused : refused_files()) {
    CAPTURE(refused.what);
    const Result<void> result = read(refused.file);
    REQUIRE_FALSE(result.has_value());
    CAPTURE(result.error().message);
    CHECK(result.error().status == refused.status);
    CHECK(result.error().message.starts_with("m.safetensors: "));
    CHECK(result.error().message.find(refused.message) != std::string::npos);
  }
}

TEST_CASE("every beginning of a safetensors file is refused") {
  const std::string whole = one_tensor(entry("F32", "[2]", "[0,8]"));
  CHECK(read(whole).has_value());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(read(whole.substr(0, size)).has_value());
  }
}

TEST_CASE("tensors and metadata of a safetensors file are found") {
  const Folder folder;
  const std::string path = folder.write(
      "m.safetensors",
      safetensors("{\"__metadata__\":{\"format\":\"pt\",\"\":\"\"},\"b\":" +
                      entry("F16", "[2,3]", "[4,16]") + ",\"a\":" + entry("I32", "[]", "[0,4]") +
                      ",\"none\":" + entry("BOOL", "[0,18446744073709551615]", "[16,16]") + "}    ",
                  "aaaabbbbbbbbbbbb"));
  const Result<SafetensorsFile> file = SafetensorsFile::open(path);
  REQUIRE(file.has_value());
  CHECK(file->metadata() == SafetensorsMetadata{{"format", "pt"}, {"", ""}});
  REQUIRE(file->tensors().tensors().size() == 3);
  CHECK(file->tensors().tensors()[0].name == "a");
  const Tensor* const b = file->tensors().find("b");
  REQUIRE(b != nullptr);
  CHECK(b->type == TensorType::float16);
  CHECK(b->shape == std::vector<std::size_t>{2, 3});
  CHECK(b->rows() == 2);
  CHECK(text_of(*b) == std::string(12, 'b'));
  CHECK(file->tensors().find("a")->rows() == 1);
  CHECK(file->tensors().find("none")->bytes == 0);
  const Result<const Tensor*> missing = file->tensors().require("c");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().message == path + ": tensor \"c\" is missing");
}

TEST_CASE("what is no regular file is not read") {
  const Folder folder;
  REQUIRE(mkfifo(folder.at("pipe").c_str(), 0600) == 0);
  const std::pair<std::string, const char*> paths[] = {{folder.at("none"), "No such file"},
                                                       {folder.path(), "Is a directory"},
                                                       {folder.at("pipe"), "not a regular file"}};
  for (const auto& [path, message] : paths) {
    const Result<SafetensorsFile> file = SafetensorsFile::open(path);
    REQUIRE_FALSE(file.has_value());
    CHECK(file.error().status == AXLE_IO);
    CHECK(file.error().message.find(path + ": ") == 0);
    CHECK(file.error().message.find(message) != std::string::npos);
  }
  CHECK_FALSE(SafetensorsFile::open(folder.write("empty", "")).has_value());
}

std::string index_of(const std::string& map) { return "{\"weight_map\":" + map + "}"; }

TEST_CASE("an index that is not what its format says is refused") {
  const std::pair<std::string, const char*> refused[] = {
      {"", "no valid JSON"},
      {"[]", "the index is no JSON object"},
      {"3", "the index is no JSON object"},
      {"{}", "there is no \"weight_map\""},
      {"{\"metadata\":{\"weight_map\":{\"a\":\"b\"}}}", "there is no \"weight_map\""},
      {index_of("[]"), "\"weight_map\" is no JSON object"},
      {index_of("\"a\""), "\"weight_map\" is no JSON object"},
      {index_of("null"), "\"weight_map\" is no JSON object"},
      {"{\"weight_map\":{},\"weight_map\":{}}", "\"weight_map\" is there twice"},
      {index_of("{\"a\":1}"), "the file of tensor \"a\" is no text"},
      {index_of("{\"a\":{}}"), "the file of tensor \"a\" is no text"},
      {index_of("{\"a\":[\"f\"]}"), "the file of tensor \"a\" is no text"},
      {index_of("{\"a\":\"\"}"), "tensor \"a\" is no file's name"},
      {index_of("{\"a\":\"..\"}"), "tensor \"a\" is no file's name"},
      {index_of("{\"a\":\"../b\"}"), "tensor \"a\" is no file's name: \"../b\""},
      {index_of("{\"a\":\"/etc/b\"}"), "tensor \"a\" is no file's name"},
      {index_of("{\"a\":\"b\\u0000\"}"), "tensor \"a\" is no file's name"},
      {index_of("{\"a\":\"f\",\"a\":\"f\"}"), "tensor \"a\" is there twice"},
      {index_of("{\"a\":\"f\""), "no valid JSON"}};
  for (const auto& [text, message] : refused) {
    CAPTURE(text);
    const auto result = parse_shard_index(text, "i.json");
    REQUIRE_FALSE(result.has_value());
    CAPTURE(result.error().message);
    CHECK(result.error().status == AXLE_MALFORMED);
    CHECK(result.error().message.starts_with("i.json: "));
    CHECK(result.error().message.find(message) != std::string::npos);
  }
}

TEST_CASE("an index may hold other things") {
  const auto files = parse_shard_index(
      "{\"metadata\":{\"total_size\":8,\"more\":[{\"weight_map\":[1,-1,1.5,null,true]},[]]},"
      "\"weight_map\":{\"a\":\"1\",\"b\":\"2\",\"weight_map\":\"1\"},\"last\":[{}]}",
      "i.json");
  REQUIRE(files.has_value());
  CHECK(*files == std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}, {"weight_map", "1"}});
}

std::string four_bytes(const char* name) {
  return safetensors("{\"__metadata__\":{\"of\":\"" + std::string(name) + "\"},\"" + name +
                         "\":" + entry("I32", "[1]", "[0,4]") + "}",
                     "dddd");
}

/// The message of a folder that cannot be opened.
std::string refusal(const Folder& folder) {
  const Result<SafetensorsFolder> opened = SafetensorsFolder::open(folder.path());
  return opened ? "" : opened.error().message;
}

TEST_CASE("a folder is one file, or the shards of its index") {
  const Folder folder;
  const std::string index = folder.at("model.safetensors.index.json");
  CHECK(refusal(folder) == folder.at("model.safetensors") +
                               ": No such file or directory; model.safetensors.index.json is not "
                               "there either");
  folder.write("model.safetensors.index.json", index_of("{\"a\":\"1\",\"b\":\"2\"}"));
  folder.write("1", four_bytes("a"));
  CHECK(refusal(folder) ==
        folder.at("2") + ": No such file or directory; by " + index + " tensor \"b\" is in it");
  folder.write("2", four_bytes("c"));
  CHECK(refusal(folder) == folder.at("2") + ": tensor \"b\" is not in it; by " + index + " it is");
  folder.write("2", four_bytes("a"));
  CHECK(refusal(folder) ==
        folder.at("2") + ": tensor \"a\" is in another file of this model as well");
  folder.write("2", four_bytes("b").substr(0, 40));
  CHECK(refusal(folder).starts_with(folder.at("2") + ": a header of "));
  folder.write("2", four_bytes("b"));
  Result<SafetensorsFolder> opened = SafetensorsFolder::open(folder.path());
  REQUIRE(opened.has_value());
  const SafetensorsFolder moved = std::move(*opened);
  CHECK(moved.tensors().tensors().size() == 2);
  CHECK(moved.tensors().find("b")->bytes == 4);
  CHECK(moved.metadata() == SafetensorsMetadata{{"of", "a"}});

  folder.write("model.safetensors.index.json", index_of("{\"a\":\"2\",\"b\":\"1\"}"));
  CHECK(refusal(folder) == folder.at("1") + ": tensor \"b\" is not in it; by " + index + " it is");
  folder.write("model.safetensors", four_bytes("whole"));
  opened = SafetensorsFolder::open(folder.path());
  REQUIRE(opened.has_value());
  CHECK(opened->tensors().find("whole") != nullptr);
}

}  // namespace
