// Hugging Face folders, on a real directory.
#include "compiler/import/safetensors/folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace aicf::safetensors {
namespace {

namespace fs = std::filesystem;

std::string OneTensor(const std::string& name, const std::string& data) {
  const std::string size = std::to_string(data.size());
  const std::string header = "{\"" + name + "\":{\"dtype\":\"U8\",\"shape\":[" + size +
                             "],\"data_offsets\":[0," + size + "]}}";
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

class SafetensorsFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "aicf-folder-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directory(root_ / "m");
    Write("m/s1.safetensors", OneTensor("a", "aaaa"));
    Write("m/s2.safetensors", OneTensor("b", "bb"));
    Write("outside.safetensors", OneTensor("b", "bb"));
  }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(root_ / name, std::ios::binary) << bytes;
  }
  Result<SafetensorsFile> ReadIndex(const std::string& index) const {
    Write("m/model.safetensors.index.json", index);
    return ReadFolder((root_ / "m").string());
  }
  void ExpectIndexRefused(const std::string& index, const std::string& expected,
                          Code code = Code::kBadModel) const {
    const auto file = ReadIndex(index);
    ASSERT_FALSE(file.ok()) << index;
    EXPECT_EQ(file.status().code(), code) << file.status().ToString();
    EXPECT_NE(file.status().message().find(expected), std::string::npos) << file.status().message();
  }
  void ExpectShardRefused(const std::string& shard, const std::string& expected,
                          Code code = Code::kBadModel) const {
    ExpectIndexRefused("{\"weight_map\":{\"a\":\"s1.safetensors\",\"b\":\"" + shard + "\"}}",
                       expected, code);
  }

  fs::path root_;
};

constexpr char kMap[] = R"("weight_map":{"b":"s2.safetensors","a":"s1.safetensors"})";
std::string Index(const std::string& more = "") { return "{" + more + kMap + "}"; }

TEST_F(SafetensorsFolder, ReadsASingleFileBeforeAnIndex) {
  Write("m/model.safetensors", OneTensor("only", "x"));
  const auto file = ReadIndex("not read");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(file->tensors[0].name, "only");
}

TEST_F(SafetensorsFolder, ReadsShards) {
  for (const char* metadata :
       {"", R"("metadata":{"total_size":6},)", R"("metadata":{"total_size":6.0,"x":-1,"y":null},)",
        R"("metadata":{"z":true,"w":"text","v":1},)"}) {
    const auto file = ReadIndex(Index(metadata));
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    ASSERT_EQ(file->tensors.size(), 2u);
    EXPECT_EQ(file->Find("b")->IntAt(1), 'b');
    EXPECT_EQ(file->Find("a")->count(), 4);
  }
}

TEST_F(SafetensorsFolder, NeitherFile) {
  const auto file = ReadFolder(root_.string());
  EXPECT_EQ(file.status().code(), Code::kIo);
  EXPECT_NE(file.status().message().find("has neither"), std::string::npos);
  EXPECT_EQ(ReadFolder((root_ / "absent").string()).status().code(), Code::kIo);
}

TEST_F(SafetensorsFolder, D9ShardsStayInTheFolder) {
  for (const char* shard : {"../outside.safetensors", "/etc/x.safetensors", "m/s2.safetensors",
                            "..\\\\outside.safetensors", "", ".safetensors", "..", "s2.bin",
                            "s2.safetensors\\u0000.safetensors"}) {
    ExpectShardRefused(shard, "is no file name that ends in");
  }
  fs::create_symlink(root_ / "outside.safetensors", root_ / "m/link.safetensors");
  ExpectShardRefused("link.safetensors", "symbolic link");
  fs::create_hard_link(root_ / "outside.safetensors", root_ / "m/hard.safetensors");
  ExpectShardRefused("hard.safetensors", "hard links");
  fs::create_directory(root_ / "m/folder.safetensors");
  ExpectShardRefused("folder.safetensors", "not a regular file");
  ExpectShardRefused("absent.safetensors", "cannot open", Code::kIo);
}

TEST_F(SafetensorsFolder, D9TensorsAreWhereTheIndexSays) {
  ExpectIndexRefused(R"({"weight_map":{"a":"s1.safetensors"},"metadata":{"total_size":6}})",
                     "but the tensors have 4");
  ExpectIndexRefused(R"({"weight_map":{"a":"s2.safetensors","b":"s2.safetensors"}})",
                     "tensor \"a\" is missing in \"s2.safetensors\"");
  ExpectIndexRefused(R"({"weight_map":{"x":"s1.safetensors"}})", "expected it in no shard");
  Write("m/s2.safetensors", OneTensor("a", "aaaa"));
  ExpectIndexRefused(Index(), "tensor \"a\" is in \"s2.safetensors\", expected it in");
  Write("m/s2.safetensors", "short");
  ExpectIndexRefused(Index(), "\"s2.safetensors\": the file has 5 bytes");
}

TEST_F(SafetensorsFolder, IndexesOfAnotherForm) {
  ExpectIndexRefused("", "does not begin with");
  ExpectIndexRefused("{}", "no weight_map");
  ExpectIndexRefused("{\"other\":1}", "the key \"other\"");
  ExpectIndexRefused("{\"weight_map\":[]}", "found an array");
  ExpectIndexRefused("{\"weight_map\":1}", "found a number");
  ExpectIndexRefused("{\"weight_map\":{\"a\":1}}", "expected a shard's name");
  ExpectIndexRefused("{\"weight_map\":{\"a\":{}}}", "found an object");
  ExpectIndexRefused("{\"weight_map\":{\"a\":null}}", "found null");
  ExpectIndexRefused(std::string("{") + kMap + "," + kMap + "}", "two keys \"weight_map\"");
  ExpectIndexRefused(R"({"weight_map":{"a":"s1.safetensors","a":"s1.safetensors"}})",
                     "two keys \"a\"");
  ExpectIndexRefused(Index(R"("metadata":{},"metadata":{},)"), "two keys \"metadata\"");
  ExpectIndexRefused(Index(R"("metadata":{"total_size":6,"total_size":6},)"), "\"total_size\"");
  for (const char* total : {"7", "-6", "6.5", "\"6\"", "true", "null", "1e300"}) {
    const auto file = ReadIndex(Index(StrCat("\"metadata\":{\"total_size\":", total, "},")));
    EXPECT_EQ(file.status().code(), Code::kBadModel) << total;
  }
  ExpectIndexRefused(Index("\"metadata\":{\"x\":{}},"), "found an object");
}

TEST_F(SafetensorsFolder, EveryTruncationIsRefused) {
  const std::string whole = Index(R"("metadata":{"total_size":6},)");
  ASSERT_TRUE(ReadIndex(whole).ok());
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_EQ(ReadIndex(whole.substr(0, n)).status().code(), Code::kBadModel) << n;
  }
}

}  // namespace
}  // namespace aicf::safetensors
