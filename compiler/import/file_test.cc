// Model files as the operating system gives them, and files that are no model.
#include "compiler/import/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "compiler/compiler.h"
#include "compiler/import/onnx_budget.h"
#include "compiler/import/testing.h"

namespace aicf {
namespace {

namespace fs = std::filesystem;

class ModelFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "aicf-file-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string Put(std::string_view bytes) const {
    std::ofstream(root_ / "m.onnx", std::ios::binary) << bytes;
    return (root_ / "m.onnx").string();
  }
  void ExpectRefused(std::string_view bytes, Code code) const {
    const auto graph = ImportOnnx(Put(bytes));
    ASSERT_FALSE(graph.ok());
    EXPECT_EQ(graph.status().code(), code) << graph.status().ToString();
  }

  fs::path root_;
};

std::string Bytes(testing::ModelBuilder model) { return model.proto().SerializeAsString(); }

TEST_F(ModelFiles, ImportsAFile) {
  const auto graph = ImportOnnx(Put(Bytes(testing::ReluModel())));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->nodes.size(), 1u);
}

TEST_F(ModelFiles, FollowsALinkThatTheUserNamed) {
  const std::string path = Put(Bytes(testing::ReluModel()));
  fs::create_symlink(path, root_ / "link.onnx");
  EXPECT_TRUE(ImportOnnx((root_ / "link.onnx").string()).ok());
}

TEST_F(ModelFiles, RefusesWhatIsNoFile) {
  ASSERT_EQ(mkfifo((root_ / "pipe").c_str(), 0600), 0);
  for (const std::string& path :
       {(root_ / "absent").string(), root_.string(), (root_ / "pipe").string(),
        std::string("/dev/zero"), std::string(5000, 'a')}) {
    const auto graph = ImportOnnx(path);
    ASSERT_FALSE(graph.ok()) << path;
    EXPECT_EQ(graph.status().code(), Code::kIo) << graph.status().ToString();
  }
}

TEST_F(ModelFiles, A4RefusesTwoGibibytesBeforeReading) {
  const std::string path = Put("");
  ASSERT_EQ(truncate(path.c_str(), off_t{1} << 31), 0);
  const auto graph = ImportOnnx(path);
  ASSERT_EQ(graph.status().code(), Code::kBadModel);
  EXPECT_NE(graph.status().message().find("2147483648 bytes"), std::string::npos);
}

TEST_F(ModelFiles, A1A2RefusesOtherContents) {
  ExpectRefused("", Code::kBadModel);
  ExpectRefused("\x89PNG\r\n\x1a\n0000", Code::kBadModel);
  ExpectRefused(
      "\x7f"
      "ELF\x02\x01\x01",
      Code::kBadModel);
  ExpectRefused("\x1f\x8b\x08", Code::kBadModel);
  std::mt19937 rng(3);
  for (int i = 0; i < 300; ++i) {
    std::string noise(rng() % 200 + 1, '\0');
    for (char& c : noise) c = static_cast<char>(rng());
    EXPECT_FALSE(ImportOnnx(Put(noise)).ok());
  }
}

TEST_F(ModelFiles, A3EveryTruncationIsRefused) {
  const std::string whole = Bytes(testing::ReluModel());
  ASSERT_TRUE(ImportOnnx(Put(whole)).ok());
  for (size_t n = 0; n < whole.size(); ++n) {
    const auto graph = ImportOnnx(Put(whole.substr(0, n)));
    ASSERT_FALSE(graph.ok()) << n;
    const Code code = graph.status().code();
    EXPECT_TRUE(code == Code::kBadModel || code == Code::kUnsupported) << graph.status().ToString();
  }
}

TEST_F(ModelFiles, EveryFlippedBitIsImportedOrRefused) {
  const std::string whole = Bytes(testing::ReluModel());
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto graph = ImportOnnx(Put(damaged));
    if (graph.ok()) continue;
    EXPECT_TRUE(graph.status().code() == Code::kBadModel ||
                graph.status().code() == Code::kUnsupported)
        << graph.status().ToString();
  }
}

TEST_F(ModelFiles, A5RefusesDeepNesting) {
  // If in If in If, by hand: a parsed message of this depth could not be built or destroyed.
  std::string graph;
  const auto wrap = [](char tag, const std::string& body) {
    std::string out(1, tag);
    for (size_t n = body.size();; n >>= 7) {
      out += static_cast<char>((n & 0x7f) | (n >= 0x80 ? 0x80 : 0));
      if (n < 0x80) break;
    }
    return out + body;
  };
  for (int i = 0; i < 2000; ++i)
    graph = wrap(0x0a, wrap(0x2a, wrap(0x32, graph)));  // node.attribute.g
  ExpectRefused(wrap(0x3a, graph), Code::kBadModel);
}

TEST_F(ModelFiles, A21RefusesAmplificationByBudget) {
  // Empty nodes: two bytes each in the file, hundreds parsed.
  std::string nodes;
  for (int i = 0; i < 100000; ++i) nodes += std::string("\x0a\x00", 2);
  std::string model = "\x3a";
  size_t n = nodes.size();
  for (; n >= 0x80; n >>= 7) model += static_cast<char>((n & 0x7f) | 0x80);
  model += static_cast<char>(n);
  model += nodes;
  const std::string path = Put(model);
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Budgets budgets;
  budgets.Set(Budget::kModelBytes, int64_t{20} << 20);
  EXPECT_EQ(CheckParseBudget(fd.get(), budgets).code(), Code::kResource);
  budgets.Set(Budget::kModelBytes, int64_t{30} << 20);
  EXPECT_TRUE(CheckParseBudget(fd.get(), budgets).ok());
}

TEST_F(ModelFiles, ExternalDataComesFromTheModelsDirectory) {
  testing::ModelBuilder model(17);
  model.Input("x", {2});
  onnx::TensorProto& w = model.Tensor("w", {2}, onnx::TensorProto::FLOAT);
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& entry = *w.add_external_data();
  entry.set_key("location");
  entry.set_value("w.bin");
  model.Node("Add", {"x", "w"}, {"y"});
  model.Output("y");
  const std::string path = Put(Bytes(model));
  EXPECT_EQ(ImportOnnx(path).status().code(), Code::kIo);
  const float values[] = {1.5f, -2};
  std::ofstream(root_ / "w.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(values), sizeof values);
  const auto graph = ImportOnnx(path);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->values[0].constant.at<float>(1), -2);
  // B13
  entry.set_value("m.onnx");
  const auto itself = ImportOnnx(Put(Bytes(model)));
  EXPECT_EQ(itself.status().code(), Code::kBadModel);
  EXPECT_NE(itself.status().message().find("the model itself"), std::string::npos);
}

}  // namespace
}  // namespace aicf
