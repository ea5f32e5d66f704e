// Keys against openssl's files and RFC 8032's vectors, and what is no key.
#include "schema/keys.h"

#include <gtest/gtest.h>

namespace aicf::schema {
namespace {

// The first key of RFC 8032, section 7.1, as `openssl pkey` writes it.
constexpr std::string_view kSecret =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
    "-----END PRIVATE KEY-----\n";
constexpr std::string_view kPublic =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
    "-----END PUBLIC KEY-----\n";
constexpr std::string_view kName = "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

TEST(Keys, AreThoseOfTheStandard) {
  const auto key = SecretKey::Parse(kSecret);
  ASSERT_TRUE(key.ok()) << key.status().ToString();
  EXPECT_EQ(KeyName(key->Public()), kName);
  EXPECT_EQ(PublicKeyPem(key->Public()), kPublic);
  EXPECT_EQ(key->Pem(), kSecret);
  const auto signature = key->Sign("");
  constexpr uint8_t kFirst[] = {0xe5, 0x56, 0x43, 0x00, 0xc3, 0x60, 0xac, 0x72};
  EXPECT_TRUE(std::equal(std::begin(kFirst), std::end(kFirst), signature.begin()));
}

TEST(Keys, PublicFilesHoldOneOrMore) {
  const auto one = ParsePublicKeys(kPublic);
  ASSERT_TRUE(one.ok()) << one.status().ToString();
  ASSERT_EQ(one->size(), 1u);
  EXPECT_EQ(KeyName((*one)[0]), kName);
  const auto second = SecretKey::New();
  ASSERT_TRUE(second.ok());
  const auto two = ParsePublicKeys(
      StrCat("# our keys\r\n", kPublic, "and next year's\n", PublicKeyPem(second->Public())));
  ASSERT_TRUE(two.ok()) << two.status().ToString();
  ASSERT_EQ(two->size(), 2u);
  EXPECT_EQ((*two)[1], second->Public());
}

TEST(Keys, NewOnesDiffer) {
  const auto a = SecretKey::New(), b = SecretKey::New();
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_FALSE(a->Public() == b->Public());
  const auto again = SecretKey::Parse(a->Pem());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->Public(), a->Public());
}

TEST(Keys, WhatIsNone) {
  const auto edited = [](std::string_view text, std::string_view from, std::string_view to) {
    std::string out(text);
    return out.replace(out.find(from), from.size(), to);
  };
  struct {
    std::string text, sentence;
  } cases[] = {
      {"", "holds no"},
      {"-----BEGIN ", "has no end"},
      {"-----BEGIN PUBLIC KEY-----\n", "no END line"},
      {std::string(kSecret), "holds \"PRIVATE KEY\", expected \"PUBLIC KEY\""},
      {edited(kPublic, "Ro=", "Rp="), "damaged"},    // bits behind the last byte
      {edited(kPublic, "MCow", "MCox"), "damaged"},  // another length
      {edited(kPublic, "K2VwA", "K2VxA"), "not of Ed25519"},
      {edited(kPublic, "11qY", "11q"), "damaged"},
      {edited(kPublic, "11qY", "11q*"), "damaged"},
      {edited(kPublic, "Ro=\n", std::string(4000, 'A')), "damaged"},
      {StrCat(kPublic, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
       "CERTIFICATE"},
  };
  for (const auto& c : cases) {
    const auto keys = ParsePublicKeys(c.text);
    ASSERT_FALSE(keys.ok()) << c.text;
    EXPECT_EQ(keys.status().code(), Code::kInvalidArgument);
    EXPECT_NE(keys.status().message().find(c.sentence), std::string::npos)
        << keys.status().message();
  }
  EXPECT_FALSE(SecretKey::Parse(kPublic).ok());
  EXPECT_FALSE(SecretKey::Parse(StrCat(kSecret, kSecret)).ok());
  const std::string encrypted = edited(edited(kSecret, "BEGIN PRIVATE", "BEGIN ENCRYPTED PRIVATE"),
                                       "END PRIVATE", "END ENCRYPTED PRIVATE");
  EXPECT_NE(SecretKey::Parse(encrypted).status().message().find("decrypt it first"),
            std::string::npos);
}

// No message may repeat what lies in a key file.
TEST(Keys, MessagesHoldNoSecret) {
  std::string damaged(kSecret);
  damaged[60] = '*';
  const auto key = SecretKey::Parse(damaged);
  ASSERT_FALSE(key.ok());
  EXPECT_EQ(key.status().message().find("MC4C"), std::string::npos);
  EXPECT_EQ(key.status().message().find("ILJh"), std::string::npos);
}

}  // namespace
}  // namespace aicf::schema
