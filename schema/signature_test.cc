// Signed artifacts: what a required signature lets through, and that it is exactly what was signed.
#include "schema/signature.h"

#include <gtest/gtest.h>

#include "schema/testing.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using FileBytes = std::vector<std::byte>;

FileBytes Unsigned(const Program& program = ChainProgram()) {
  auto bytes = Serialize(ContentsOf(program));
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  return *std::move(bytes);
}

SecretKey NewKey() {
  auto key = SecretKey::New();
  EXPECT_TRUE(key.ok());
  return *std::move(key);
}

FileBytes Signed(const FileBytes& file, const SecretKey& key) {
  const auto artifact = Artifact::Parse(file, /*with_optional=*/true);
  EXPECT_TRUE(artifact.ok()) << artifact.status().ToString();
  auto bytes = Sign(**artifact, key);
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  return *std::move(bytes);
}

class Signature : public ::testing::Test {
 protected:
  /// As both ways of reading have it, which pass over different sections.
  Status Load(const FileBytes& file, const TrustedKeys* required) const {
    const auto whole = Artifact::Parse(file, /*with_optional=*/true, required);
    const auto part = Artifact::Parse(file, /*with_optional=*/false, required);
    EXPECT_EQ(whole.status().ToString(), part.status().ToString());
    return part.status();
  }
  void ExpectTaken(const FileBytes& file) const {
    const Status status = Load(file, &trusted_);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  void ExpectRefused(const FileBytes& file, const std::string& sentence) const {
    const Status status = Load(file, &trusted_);
    EXPECT_EQ(status.code(), Code::kBadArtifact) << status.ToString();
    EXPECT_NE(status.message().find(sentence), std::string::npos) << status.ToString();
  }

  const SecretKey key_ = NewKey(), other_ = NewKey();
  const TrustedKeys trusted_ = {key_.Public()};
  const FileBytes plain_ = Unsigned(), signed_ = Signed(plain_, key_);
};

TEST_F(Signature, OfATrustedKeyIsTaken) {
  ExpectTaken(signed_);
  ExpectTaken(Signed(Unsigned(FamiliesProgram()), key_));
  EXPECT_TRUE(Load(signed_, nullptr).ok());  // who asks for nothing may read it all the same
  const TrustedKeys both = {other_.Public(), key_.Public()};
  EXPECT_TRUE(Load(signed_, &both).ok());
}

TEST_F(Signature, IsDeterministicAndReplacesAnother) {
  EXPECT_EQ(Signed(plain_, key_), signed_);
  EXPECT_EQ(Signed(signed_, key_), signed_);
  EXPECT_EQ(Signed(Signed(plain_, other_), key_), signed_);
}

TEST_F(Signature, LeavesTheRestAsItWas) {
  const auto before = Artifact::Parse(plain_, true), after = Artifact::Parse(signed_, true);
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ((*before)->header().minor, 0);
  EXPECT_EQ((*after)->header().minor, 2);
  const auto rest = WithoutSignature((*after)->header());
  ASSERT_TRUE(rest.ok());
  EXPECT_EQ(rest->file_bytes, plain_.size());
  ASSERT_EQ(rest->sections.size(), (*before)->header().sections.size());
  for (size_t i = 0; i < rest->sections.size(); ++i) {
    EXPECT_EQ(rest->sections[i].hash, (*before)->header().sections[i].hash);
    EXPECT_EQ(rest->sections[i].offset, (*before)->header().sections[i].offset);
  }
}

TEST_F(Signature, RefusedWhereItIsAnotherOne) {
  ExpectRefused(plain_, "the artifact is not signed");
  ExpectRefused(Signed(plain_, other_), "which is not trusted");
  for (size_t bytes :
       {size_t{0}, size_t{40}, size_t{200}, signed_.size() / 2, signed_.size() - 1}) {
    ExpectRefused(FileBytes(signed_.begin(), signed_.begin() + static_cast<ptrdiff_t>(bytes)), "");
  }
}

// The table's row and the bytes of the signature section, which is the last.
size_t LastRow(const FileBytes& file) {
  RawHeader h;
  std::memcpy(&h, file.data(), sizeof h);
  return sizeof h + (h.section_count - 1) * sizeof(RawSection);
}

size_t SignatureAt(const FileBytes& file) { return file.size() - sizeof(RawSignature); }

TEST_F(Signature, RefusedWhereItIsOfAnotherFile) {
  FileBytes other = Signed(Unsigned(AddProgram()), key_);
  std::memcpy(other.data() + SignatureAt(other), signed_.data() + SignatureAt(signed_),
              sizeof(RawSignature));
  Reseal(other);
  ExpectRefused(other, "not of these contents");
}

// Another's signature under a trusted key's name.
TEST_F(Signature, RefusedWhereTheKeyIsClaimed) {
  FileBytes claimed = Signed(plain_, other_);
  std::memcpy(claimed.data() + SignatureAt(claimed) + offsetof(RawSignature, key),
              key_.Public().bytes.data(), 32);
  Reseal(claimed);
  ExpectRefused(claimed, "not of these contents");
}

TEST_F(Signature, RefusedWhereItIsTakenAway) {
  // As a section of a newer aicf, which readers pass over.
  FileBytes hidden = signed_;
  RawHeader h;
  std::memcpy(&h, hidden.data(), sizeof h);
  ++h.minor;
  std::memcpy(hidden.data(), &h, sizeof h);
  RawSection row;
  std::memcpy(&row, hidden.data() + LastRow(hidden), sizeof row);
  ++row.kind;
  std::memcpy(hidden.data() + LastRow(hidden), &row, sizeof row);
  Reseal(hidden);
  EXPECT_TRUE(Load(hidden, nullptr).ok());
  ExpectRefused(hidden, "the artifact is not signed");
}

TEST_F(Signature, OfAnotherSizeOrAlgorithm) {
  FileBytes newer = signed_;
  newer[SignatureAt(newer)] = std::byte{2};
  Reseal(newer);
  EXPECT_EQ(Load(newer, &trusted_).code(), Code::kUnsupported);
  FileBytes longer = signed_;
  longer.resize(longer.size() + 8);
  RawSection row;
  std::memcpy(&row, longer.data() + LastRow(longer), sizeof row);
  row.bytes += 8;
  std::memcpy(longer.data() + LastRow(longer), &row, sizeof row);
  RawHeader h;
  std::memcpy(&h, longer.data(), sizeof h);
  h.file_bytes += 8;
  std::memcpy(longer.data(), &h, sizeof h);
  Reseal(longer);
  ExpectRefused(longer, "112 bytes, expected 104");
}

// The point of it: hashes anybody can make right again, the signature nobody.
TEST_F(Signature, EveryBitWithTheHashesMadeRightAgain) {
  int same = 0, refused = 0;
  FileBytes file = signed_;
  for (size_t bit = 0; bit < signed_.size() * 8; ++bit) {
    file[bit / 8] ^= std::byte{1} << (bit % 8);
    Reseal(file);
    const auto loaded = Artifact::Parse(file, /*with_optional=*/false, &trusted_);
    if (loaded.ok()) {
      // A bit of a hash, which resealing has put back.
      ASSERT_EQ(file, signed_) << "bit " << bit;
      ++same;
    } else {
      ++refused;
      const Code code = loaded.status().code();
      EXPECT_TRUE(code == Code::kBadArtifact || code == Code::kUnsupported ||
                  code == Code::kResource)
          << bit << ": " << loaded.status().ToString();
    }
    file = signed_;
  }
  RawHeader h;
  std::memcpy(&h, signed_.data(), sizeof h);
  EXPECT_EQ(same, static_cast<int>(128 * (1 + h.section_count)));
  EXPECT_EQ(same + refused, static_cast<int>(signed_.size() * 8));
}

// The same walk finds what a statement without the sections' digests would let through: with no
// signature required most changes are only caught where they break something.
TEST_F(Signature, TheWalkSeesWhatAnUnsignedFileLetsThrough) {
  int changed = 0;
  for (size_t bit = 0; bit < signed_.size() * 8; bit += 8) {
    FileBytes file = signed_;
    file[bit / 8] ^= std::byte{1};
    Reseal(file);
    changed += Artifact::Parse(file, false).ok() && file != signed_;
  }
  EXPECT_GT(changed, 100);
}

TEST_F(Signature, DigestsArriveInPieces) {
  FileBytes bytes(2 * kDigestBlock + 17);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31);
  SectionDigest whole, pieces;
  whole.Update(bytes);
  for (size_t at = 0; at < bytes.size(); at += kDigestBlock) {
    pieces.Update(std::span(bytes).subspan(at, std::min<size_t>(kDigestBlock, bytes.size() - at)));
  }
  EXPECT_EQ(whole.Finish(), pieces.Finish());
}

TEST_F(Signature, SignerOfTellsWhetherItIsTrue) {
  const auto good = Artifact::Parse(signed_, true);
  ASSERT_TRUE(good.ok());
  const auto signer = SignerOf(**good);
  ASSERT_TRUE(signer.ok());
  EXPECT_EQ(signer->key, key_.Public());
  EXPECT_TRUE(signer->valid);
  FileBytes forged = signed_;
  forged[SignatureAt(forged) + 50] ^= std::byte{1};
  Reseal(forged);
  const auto bad = Artifact::Parse(forged, true);
  ASSERT_TRUE(bad.ok());
  EXPECT_FALSE(SignerOf(**bad)->valid);
}

}  // namespace
}  // namespace aicf::schema
