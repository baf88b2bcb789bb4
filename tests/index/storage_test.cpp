#include <doctest/doctest.h>

#include "index/storage/dav_access.h"
#include "index/storage/signature.h"
#include "index/storage/storage_address.h"
#include "index/storage/storage_refusal.h"
#include "wheel/hash/sha256.h"

using namespace axle::index;
using axle::ErrorKind;

namespace {

constexpr const char* example_time = "20130524T000000Z";
const StorageKeys example_keys{
    "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", {}};
const std::string no_body = axle::wheel::render_hex(axle::wheel::sha256(""));

/// The signature alone of a request to the bucket of the examples.
std::string signature_of(RequestToSign request,
                         std::vector<std::pair<std::string, std::string>> more) {
  request.headers = {{"host", "examplebucket.s3.amazonaws.com"},
                     {"x-amz-content-sha256", request.payload_sha256},
                     {"x-amz-date", example_time}};
  request.headers.insert(request.headers.end(), more.begin(), more.end());
  const std::string line = sign_request(request, example_keys, {"us-east-1"}, example_time);
  REQUIRE(
      line.starts_with("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/"
                       "aws4_request, SignedHeaders=" +
                       std::string(more.empty() ? "host;" : "")));
  return line.substr(line.find("Signature=") + 10);
}

StorageAccess access_of(const std::string& address, std::string endpoint, std::string region) {
  const auto parsed = parse_storage_address(address);
  REQUIRE(parsed);
  return {*parsed, std::move(endpoint), std::move(region), {"AKID", "the/secret", "the-token"}};
}

HttpResponse answer(int status, std::string body, std::string region = {}) {
  HttpResponse response;
  response.status = status;
  response.body = std::move(body);
  if (!region.empty()) response.said["x-amz-bucket-region"] = std::move(region);
  return response;
}

}  // namespace

TEST_CASE("requests are signed as in Amazon's examples") {
  // Amazon S3 API reference, "Signature Calculations for the Authorization Header: Transferring
  // Payload in a Single Chunk", the four examples.
  CHECK(
      signature_of({.method = "GET", .path = "/test.txt", .headers = {}, .payload_sha256 = no_body},
                   {{"range", "bytes=0-9"}}) ==
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  CHECK(signature_of({.method = "PUT",
                      .path = "/test%24file.text",
                      .headers = {},
                      .payload_sha256 =
                          axle::wheel::render_hex(axle::wheel::sha256("Welcome to Amazon S3."))},
                     {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                      {"x-amz-storage-class", "REDUCED_REDUNDANCY"}}) ==
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
  CHECK(signature_of({.method = "GET",
                      .path = "/",
                      .query = {{"lifecycle", ""}},
                      .headers = {},
                      .payload_sha256 = no_body},
                     {}) == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  CHECK(signature_of({.method = "GET",
                      .path = "/",
                      .query = {{"prefix", "J"}, {"max-keys", "2"}},
                      .headers = {},
                      .payload_sha256 = no_body},
                     {}) == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST_CASE("a query is sorted by encoded names, and encoded once") {
  CHECK(render_query({}).empty());
  CHECK(render_query({{"uploadId", "a/b+c=&"}, {"partNumber", "10"}}) ==
        "partNumber=10&uploadId=a%2Fb%2Bc%3D%26");
  CHECK(render_query({{"prefix", "ü x~"}, {"list-type", "2"}}) == "list-type=2&prefix=%C3%BC%20x~");
  CHECK(signing_time(1369353600) == example_time);
  CHECK(signing_time(951782400) == "20000229T000000Z");
}

TEST_CASE("an address names a bucket and a prefix") {
  const auto whole = parse_storage_address("s3://wheels");
  REQUIRE(whole);
  CHECK(whole->prefix.empty());
  CHECK(whole->text() == "s3://wheels");
  const auto below = parse_storage_address("S3://wheels.example/team/a b//");
  REQUIRE(below);
  CHECK(below->bucket == "wheels.example");
  CHECK(below->prefix == "team/a b/");
  CHECK(below->text() == "s3://wheels.example/team/a b");
  CHECK(is_storage_address("S3://x"));
  CHECK_FALSE(is_storage_address("s3:/x"));
  CHECK_FALSE(is_storage_address("/srv/s3://x"));
  for (const char* bad : {"s3://", "s3:///a", "s3://-a", "s3://a/../b", "s3://a/./b", "s3://a//b",
                          "s3://a/\x01", "s3://key:secret@a/b", "s3://a:9000/b", "s3://a%2fb/c"}) {
    CAPTURE(bad);
    const auto parsed = parse_storage_address(bad);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().kind == ErrorKind::malformed);
    CHECK(parsed.error().message.find("secret") == std::string::npos);
    CHECK(parsed.error().hint.find("s3://BUCKET") != std::string::npos);
  }
}

TEST_CASE("where a bucket is") {
  const std::pair<StorageAccess, const char*> rows[] = {
      {access_of("s3://wheels/a", "", "eu-central-1"),
       "https://wheels.s3.eu-central-1.amazonaws.com"},
      {access_of("s3://wheels", "", "cn-north-1"), "https://wheels.s3.cn-north-1.amazonaws.com.cn"},
      // A certificate covers no dots.
      {access_of("s3://wheels.example", "", "us-east-1"),
       "https://s3.us-east-1.amazonaws.com/wheels.example"},
      {access_of("s3://wheels", "http://127.0.0.1:9000/", "us-east-1"),
       "http://127.0.0.1:9000/wheels"},
      {access_of("s3://wheels", "HTTPS://Storage.Example:443/s3//", "us-east-1"),
       "https://storage.example/s3/wheels"},
      {access_of("s3://wheels", "http://[::1]:80", "us-east-1"), "http://[::1]/wheels"},
      {access_of("s3://wheels", "https://storage.example:80", "us-east-1"),
       "https://storage.example:80/wheels"}};
  for (const auto& [access, url] : rows) CHECK(bucket_url(access) == url);
}

TEST_CASE("keys are sent over https, to this machine, or where somebody says so") {
  for (const char* good : {"", "https://storage.example", "https://storage.example:9000/s3",
                           "http://localhost:9000", "http://127.0.0.1", "http://127.8.9.10:1",
                           "http://[::1]:9000", "http://trusted.example:9000"})
    CHECK_MESSAGE(check_endpoint(good, {"trusted.example"}), good);
  for (const char* open : {"http://storage.example", "http://127.0.0.1.example", "http://10.0.0.1",
                           "http://localhost.example", "http://127.evil"}) {
    CAPTURE(open);
    const auto checked = check_endpoint(open, {"trusted.example"});
    REQUIRE_FALSE(checked);
    CHECK(checked.error().kind == ErrorKind::unsupported);
    CHECK(checked.error().hint.find("--trusted-host") != std::string::npos);
  }
  for (const char* bad : {"storage.example", "ftp://storage.example", "https://", "https://a:b@c",
                          "https://a?b", "https://a#b", "https://user@a"}) {
    CAPTURE(bad);
    const auto checked = check_endpoint(bad, {});
    REQUIRE_FALSE(checked);
    CHECK(checked.error().kind == ErrorKind::malformed);
  }
}

TEST_CASE("the address of a WebDAV folder has one form") {
  const std::pair<const char*, const char*> rows[] = {
      {"https://Files.Example/dav/wheels/", "https://files.example/dav/wheels"},
      {"HTTPS://me:word@files.example:443", "https://files.example"},
      {"https://files.example:8443/a%20b/%64/c+d//", "https://files.example:8443/a%20b/d/c%2Bd"},
      {"http://127.0.0.1:80/x", "http://127.0.0.1/x"},
      {"http://[::1]:8080/x", "http://[::1]:8080/x"},
      {"http://trusted.example/x", "http://trusted.example/x"}};
  for (const auto& [text, url] : rows) {
    CAPTURE(text);
    const auto parsed = parse_dav_address(text, {"trusted.example"});
    REQUIRE(parsed);
    CHECK(*parsed == url);
    CHECK(parse_dav_address(*parsed, {"trusted.example"}) == *parsed);
  }
  for (const char* bad : {"s3://x",
                          "https://",
                          "https:///x",
                          "https://h/x?y",
                          "https://h/x#y",
                          "https://h//x",
                          "https://h/./x",
                          "https://h/%2E%2E/x",
                          "https://h/a%2Fb",
                          "https://h/a%00",
                          "https://h/a\\b",
                          "https://h:x/",
                          "https://h:123456/",
                          "https://a b/",
                          "https://a,b/",
                          "https://:a:/",
                          "https://a:b:1/",
                          "https://[::1/",
                          "https://[]/",
                          "https://[a]b/",
                          "https://["}) {
    CAPTURE(bad);
    const auto parsed = parse_dav_address(bad, {});
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().kind == ErrorKind::malformed);
  }
  for (const char* open : {"http://files.example/x", "http://127.evil.example/x",
                           "http://127.0.0.1@files.example/x"}) {
    CAPTURE(open);
    const auto parsed = parse_dav_address(open, {"trusted.example"});
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().kind == ErrorKind::unsupported);
    CHECK(parsed.error().hint.find("--trusted-host") != std::string::npos);
  }
}

TEST_CASE("elements of an answer are found in whatever comes") {
  CHECK(xml_text("<a><UploadId>x&amp;lt;&#39;y</UploadId></a>", "UploadId") == "x&lt;'y");
  CHECK(xml_text("<Code></Code>", "Code").empty());
  CHECK(xml_text("<Code>never ends", "Code").empty());
  CHECK(xml_text("</Code><Code", "Code").empty());
  CHECK(refusal_code(answer(403, "<Error><Code>AccessDenied</Code></Error>")) == "AccessDenied");
  CHECK(refusal_code(answer(403, "<Code>a b</Code>")).empty());
  CHECK(refusal_code(answer(403, "<Code>" + std::string(5000, 'a') + "</Code>")).empty());
  CHECK(refusal_code(answer(403, "")).empty());
}

TEST_CASE("a refusal says what to do, and never a key") {
  const StorageAccess access = access_of("s3://wheels", "https://storage.example", "us-east-1");
  const auto refusal = [&](const HttpResponse& response) {
    return storage_refusal("write", "https://storage.example/wheels/x", response, access);
  };
  const axle::Error denied =
      refusal(answer(403,
                     "<Error><Code>AccessDenied</Code><Message>AKID may\nnot, the/secret the-token "
                     "\x1b[2J</Message></Error>"));
  CHECK(denied.kind == ErrorKind::io);
  CHECK(denied.message.find("https://storage.example/wheels/x") == 0);
  CHECK(denied.message.find("AccessDenied (status 403)") != std::string::npos);
  CHECK(denied.hint.find("s3:PutObject") != std::string::npos);
  for (const char* secret : {"AKID", "the/secret", "the-token", "\x1b", "\n"})
    CHECK(denied.message.find(secret) == std::string::npos);

  CHECK(refusal(answer(301, "", "eu-west-1")).hint.find("AWS_REGION=eu-west-1") !=
        std::string::npos);
  CHECK(refusal(answer(301, "<Endpoint>other.example</Endpoint>")).hint.find("other.example") !=
        std::string::npos);
  CHECK(refusal(answer(301, "<Endpoint>other.example AWS_X=1\n</Endpoint>")).hint ==
        "check AWS_ENDPOINT_URL_S3 and AWS_REGION");
  CHECK(refusal(answer(301, "<Region>a; rm -rf b</Region>")).hint ==
        "check AWS_ENDPOINT_URL_S3 and AWS_REGION");
  CHECK(refusal(answer(500, "")).hint.find("run the command again") != std::string::npos);
  CHECK(refusal(answer(404, "<html>")).hint.find("AWS_ENDPOINT_URL_S3") != std::string::npos);
  CHECK(refusal(answer(403, "<Code>RequestTimeTooSkewed</Code>")).hint.find("clock") !=
        std::string::npos);
}
