#include "wheel/bundle/ssh_signature.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "foundation/text/base64.h"
#include "tests/wheel/bundle/signed_samples.h"

namespace {

using namespace axle::wheel;
using namespace axle::wheel::testing;

const std::string begin_line = "-----BEGIN SSH SIGNATURE-----\n";
const std::string end_line = "-----END SSH SIGNATURE-----\n";

SshSignature parsed(std::string_view name) {
  const auto signature = parse_ssh_signature(signed_sample(name).signature, "sig");
  REQUIRE_MESSAGE(signature.has_value(), signature.error().message);
  return *signature;
}

std::string wire(std::string_view text) {
  std::string out(4, '\0');
  for (std::size_t i = 0; i < 4; ++i)
    out[i] = static_cast<char>((text.size() >> (8 * (3 - i))) & 0xFF);
  return out.append(text);
}

std::string armoured(const std::string& bytes) {
  return begin_line + axle::text::encode_base64(bytes) + "\n" + end_line;
}

/// The fields of a signature as PROTOCOL.sshsig orders them, each of which a test may change.
struct Fields {
  std::string magic = "SSHSIG";
  std::string version = std::string("\0\0\0\1", 4);
  std::string key;
  std::string name_space;
  std::string reserved = {};
  std::string hash;
  std::string algorithm;
  std::string made;
  std::string after_made = {};
  std::string after = {};

  explicit Fields(const SshSignature& of)
      : key(of.key),
        name_space(of.name_space),
        hash(of.hash),
        algorithm(of.algorithm),
        made(of.bytes) {}
  [[nodiscard]] std::string bytes() const {
    return magic + version + wire(key) + wire(name_space) + wire(reserved) + wire(hash) +
           wire(wire(algorithm) + wire(made) + after_made) + after;
  }
};

void check_unsupported(const SshSignature& signature, const std::string& kind,
                       const std::string& key_kind) {
  const auto checked = check_ssh_signature(signature, signed_message, "sig");
  REQUIRE_FALSE(checked.has_value());
  CHECK(checked.error().kind == axle::ErrorKind::unsupported);
  CHECK(checked.error().message == "sig: a signature of the kind \"" + kind +
                                       "\" by a key of the kind \"" + key_kind +
                                       "\" is not verified here");
}

void check_mismatch(const SshSignature& signature, std::string_view message = signed_message) {
  const auto checked = check_ssh_signature(signature, message, "sig");
  REQUIRE_FALSE(checked.has_value());
  CHECK(checked.error().kind == axle::ErrorKind::mismatch);
  CHECK(checked.error().message ==
        "sig: the key " + ssh_key_fingerprint(signature.key) + " has not signed this");
}

std::string not_a_signature(const std::string& text) {
  const auto signature = parse_ssh_signature(text, "sig");
  if (signature) return "it is read";
  CHECK(signature.error().kind == axle::ErrorKind::malformed);
  CHECK(signature.error().hint == "sign it again (ssh-keygen -Y sign)");
  return signature.error().message;
}

const std::string refused = "sig is not a signature of an SSH key";

}  // namespace

TEST_CASE("signatures of ssh-keygen are read and verified") {
  for (const SignedSample& sample : signed_samples()) {
    CAPTURE(sample.name);
    const SshSignature signature = parsed(sample.name);
    const std::string key(sample.key);
    const std::string type = key.substr(0, key.find(' '));
    CHECK(signature.key == axle::text::decode_base64(key.substr(type.size() + 1)));
    CHECK(signature.name_space == sample.name_space);
    CHECK(signature.hash == sample.hash);
    CHECK(signature.algorithm == (type == "ssh-rsa" ? "rsa-sha2-512" : type));
    CHECK(ssh_key_type(signature.key) == type);
    CHECK(ssh_key_fingerprint(signature.key) == sample.fingerprint);
    const auto again = parse_ssh_signature(armoured(Fields(signature).bytes()), "sig");
    REQUIRE(again.has_value());
    CHECK(again->bytes == signature.bytes);
    if (sample.name == "rsa_1024") {
      check_unsupported(signature, "rsa-sha2-512", "ssh-rsa");
      continue;
    }
    const auto checked = check_ssh_signature(signature, signed_message, "sig");
    CHECK_MESSAGE(checked.has_value(), checked.error().message);
    check_mismatch(signature, "what was signed");
    check_mismatch(signature, "");
    check_mismatch(signature, std::string(signed_message) + '\0');
  }
}

TEST_CASE("a signature is for its namespace, by its key, of its hash") {
  SshSignature signature = parsed("ed25519");
  signature.name_space = "git";
  check_mismatch(signature);
  signature = parsed("ed25519_for_git");
  CHECK(check_ssh_signature(signature, signed_message, "sig").has_value());
  signature.name_space = "axle-bundle";
  check_mismatch(signature);
  signature = parsed("ed25519");
  signature.hash = "sha256";
  check_mismatch(signature);
  signature.hash = "sha512";
  signature.bytes = parsed("ed25519_sha256").bytes;
  check_mismatch(signature);
  signature = parsed("ed25519");
  signature.key.back() = static_cast<char>(signature.key.back() ^ 1);
  const auto checked = check_ssh_signature(signature, signed_message, "sig");
  CHECK_FALSE(checked.has_value());
}

TEST_CASE("no bit of what is signed with can be changed") {
  for (const std::string name : {"ed25519", "ecdsa_p256", "ecdsa_p521", "rsa_2048"}) {
    const SshSignature whole = parsed(name);
    for (std::size_t at = 0; at < whole.bytes.size(); ++at) {
      SshSignature signature = whole;
      signature.bytes[at] = static_cast<char>(signature.bytes[at] ^ 0x10);
      CAPTURE(at);
      CHECK_FALSE(check_ssh_signature(signature, signed_message, "sig").has_value());
    }
    for (std::size_t at = 0; at < whole.key.size(); ++at) {
      SshSignature signature = whole;
      signature.key[at] = static_cast<char>(signature.key[at] ^ 0x04);
      CAPTURE(at);
      CHECK_FALSE(check_ssh_signature(signature, signed_message, "sig").has_value());
    }
    SshSignature shorter = whole;
    shorter.bytes.pop_back();
    CHECK_FALSE(check_ssh_signature(shorter, signed_message, "sig").has_value());
    SshSignature longer = whole;
    longer.bytes += '\0';
    CHECK_FALSE(check_ssh_signature(longer, signed_message, "sig").has_value());
  }
}

TEST_CASE("kinds that are not verified are refused with both kinds") {
  SshSignature signature = parsed("rsa_2048");
  signature.algorithm = "ssh-rsa";  // SHA-1
  check_unsupported(signature, "ssh-rsa", "ssh-rsa");
  signature.algorithm = "rsa-sha2-256";
  check_mismatch(signature);
  signature = parsed("ed25519");
  signature.hash = "md5";
  check_unsupported(signature, "ssh-ed25519", "ssh-ed25519");
  signature.hash = "SHA512";
  check_unsupported(signature, "ssh-ed25519", "ssh-ed25519");
  signature = parsed("ed25519");
  signature.algorithm = "ecdsa-sha2-nistp256";
  check_unsupported(signature, "ecdsa-sha2-nistp256", "ssh-ed25519");
  signature = parsed("ecdsa_p256");
  signature.algorithm = "ecdsa-sha2-nistp384";
  check_unsupported(signature, "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp256");
  for (const std::string kind :
       {"sk-ssh-ed25519@openssh.com", "ssh-dss", "ssh-ed25519-cert-v01@openssh.com", ""}) {
    signature = parsed("ed25519");
    signature.key = wire(kind) + wire(std::string(32, 'k'));
    signature.algorithm = kind;
    check_unsupported(signature, kind, kind);
  }
  signature.key = "";
  signature.algorithm = "a\nb";
  check_unsupported(signature, "a\\x0ab", "");
}

TEST_CASE("keys and signatures that are malformed within are not verified") {
  const auto wrong_key = [](std::string_view name, const std::string& key) {
    SshSignature signature = parsed(name);
    signature.key = key;
    return !check_ssh_signature(signature, signed_message, "sig").has_value();
  };
  const auto wrong_bytes = [](std::string_view name, const std::string& bytes) {
    SshSignature signature = parsed(name);
    signature.bytes = bytes;
    return !check_ssh_signature(signature, signed_message, "sig").has_value();
  };
  CHECK(wrong_key("ed25519", wire("ssh-ed25519")));
  CHECK(wrong_key("ed25519", wire("ssh-ed25519") + wire("")));
  CHECK(wrong_key("ed25519", wire("ssh-ed25519") + wire(std::string(31, 'k'))));
  CHECK(wrong_key("ed25519", wire("ssh-ed25519") + wire(std::string(33, 'k'))));
  CHECK(wrong_key("ed25519", parsed("ed25519").key + '\0'));
  CHECK(wrong_bytes("ed25519", ""));
  const std::string point = parsed("ecdsa_p256").key.substr(4 + 19 + 4 + 8 + 4);
  const std::string type = wire("ecdsa-sha2-nistp256");
  CHECK_FALSE(wrong_key("ecdsa_p256", type + wire("nistp256") + wire(point)));
  CHECK(wrong_key("ecdsa_p256", type + wire("nistp384") + wire(point)));
  CHECK(wrong_key("ecdsa_p256", type + wire("nistp256") + wire(point.substr(1))));
  CHECK(wrong_key("ecdsa_p256", type + wire("nistp256") + wire(std::string(1, '\0'))));
  CHECK(wrong_key("ecdsa_p256", type + wire("nistp256") + wire(point) + '\0'));
  CHECK(wrong_key("ecdsa_p256", type + wire("nistp256")));
  const std::string one("\x01", 1);
  const std::string numbers = parsed("ecdsa_p256").bytes;
  CHECK(wrong_bytes("ecdsa_p256", wire(one) + wire(one)));
  CHECK(wrong_bytes("ecdsa_p256", wire("") + wire("")));
  CHECK(wrong_bytes("ecdsa_p256", wire(std::string(1, '\0')) + wire(std::string(1, '\0'))));
  CHECK(wrong_bytes("ecdsa_p256", numbers + wire(one)));
  CHECK(wrong_bytes("ecdsa_p256", wire(std::string(1, '\0') + one) + wire(one)));
  CHECK(wrong_bytes("ecdsa_p256", wire("\x80") + wire(one)));
  const std::string rsa = wire("ssh-rsa");
  const std::string modulus = "\x7F" + std::string(255, '\xFF');
  CHECK(wrong_key("rsa_2048", rsa + wire(one) + wire(modulus)));
  CHECK(wrong_key("rsa_2048", rsa + wire("") + wire(modulus)));
  CHECK(wrong_key("rsa_2048", rsa + wire(one)));
  CHECK(wrong_key("rsa_2048", rsa + wire("\x03") + wire(modulus) + "x"));
}

TEST_CASE("the lines around a signature must be there") {
  const std::string whole(signed_sample("ed25519").signature);
  const std::string body =
      whole.substr(begin_line.size(), whole.size() - begin_line.size() - end_line.size());
  REQUIRE(begin_line + body + end_line == whole);
  std::string carriage;
  for (const char c : whole) carriage += c == '\n' ? "\r\n" : std::string(1, c);
  std::string one_line = body;
  std::erase(one_line, '\n');
  for (const std::string& good : {whole, carriage, whole.substr(0, whole.size() - 1),
                                  whole + "\n\n", begin_line + one_line + "\n" + end_line})
    CHECK(parse_ssh_signature(good, "sig")->bytes == parsed("ed25519").bytes);
  for (const std::string& bad :
       {std::string(), body, begin_line, begin_line + end_line, begin_line + body, body + end_line,
        " " + whole, "\n" + whole, whole + "x", whole + " ", whole + whole,
        begin_line + "A" + body + end_line, begin_line + " " + body + end_line,
        begin_line + "\t" + body + end_line, begin_line + "=" + body + end_line,
        begin_line + "Comment: x\n" + body + end_line,
        "-----BEGIN SSH SIGNATURE----\n" + body + end_line,
        begin_line + body + "-----END SSH SIGNATURE----\n",
        "-----BEGIN PGP SIGNATURE-----\n" + body + end_line})
    CHECK_MESSAGE(not_a_signature(bad) == refused, bad);
}

TEST_CASE("a signature whose fields are not those of PROTOCOL.sshsig is refused") {
  const SshSignature good = parsed("ed25519");
  CHECK(not_a_signature(armoured(Fields(good).bytes())) == "it is read");
  std::vector<std::string> bad;
  const auto changed = [&](auto change) {
    Fields fields(good);
    change(fields);
    bad.push_back(fields.bytes());
  };
  changed([](Fields& f) { f.magic = "SSHSIh"; });
  changed([](Fields& f) { f.magic = ""; });
  changed([](Fields& f) { f.version = std::string("\0\0\0\0", 4); });
  changed([](Fields& f) { f.version = std::string("\0\0\0\2", 4); });
  changed([](Fields& f) { f.version = std::string("\1\0\0\0", 4); });
  changed([](Fields& f) { f.name_space = ""; });
  changed([](Fields& f) { f.reserved = "x"; });
  changed([](Fields& f) { f.after_made = "x"; });
  changed([](Fields& f) { f.after_made = wire(""); });
  changed([](Fields& f) { f.after = "x"; });
  changed([](Fields& f) { f.after = std::string(4, '\0'); });
  const std::string bytes = Fields(good).bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) bad.push_back(bytes.substr(0, size));
  // The length of the key: more than there is, and so much that an addition would wrap.
  std::string far = bytes;
  far.replace(10, 4, "\xFF\xFF\xFF\xFF");
  bad.push_back(far);
  far.replace(10, 4, std::string("\0\0\x10\0", 4));
  bad.push_back(far);
  for (const std::string& one : bad) CHECK(not_a_signature(armoured(one)) == refused);
  // Keys in hardware add a flag and a counter.
  Fields hardware(good);
  hardware.algorithm = "sk-ssh-ed25519@openssh.com";
  hardware.after_made = std::string("\1\0\0\0\2", 5);
  const auto signature = parse_ssh_signature(armoured(hardware.bytes()), "sig");
  REQUIRE(signature.has_value());
  check_unsupported(*signature, "sk-ssh-ed25519@openssh.com", "ssh-ed25519");
}

TEST_CASE("what is no key has no type") {
  CHECK(ssh_key_type("").empty());
  CHECK(ssh_key_type("ssh-ed25519").empty());
  CHECK(ssh_key_type(std::string("\0\0\0\5abcd", 8)).empty());
  CHECK(ssh_key_type(wire("ssh-ed25519")) == "ssh-ed25519");
  // sha256sum of nothing, as ssh-keygen would show it
  CHECK(ssh_key_fingerprint("") == "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU");
}
