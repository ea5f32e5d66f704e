/// The programs sign artifacts and require signatures. In every way in which a file can differ from
/// what the key's owner signed, they end with exit code 5 and one line.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

class Signing : public ::testing::Test {
 protected:
  void SetUp() override {
    plain_ = PutArtifact(dir_);
    NewKey("key");
    NewKey("other");
    Sign("key", "signed.aicf");
  }

  void NewKey(const std::string& name) const {
    ExpectSuccess(RunTool("aicf-sign", {"--new-key=" + (dir_ / (name + ".pem")),
                                        "--public-key=" + (dir_ / (name + ".pub"))}));
  }
  void Sign(const std::string& key, const std::string& output) const {
    ExpectSuccess(
        RunTool("aicf-sign", {plain_, "--key=" + (dir_ / (key + ".pem")), "-o", dir_ / output}));
  }
  std::string Required(const std::string& key = "key") const {
    return "--require-signature=" + (dir_ / (key + ".pub"));
  }

  void ExpectRefused(const std::string& file, const std::string& part) const {
    SCOPED_TRACE(file);
    const std::vector<std::string> run = {dir_ / file, Required(), "--duration=0"};
    ExpectFailure("aicf-run", RunTool("aicf-run", run), 5, part);
    const std::vector<std::string> steps = {dir_ / file, Required(), "--verify"};
    ExpectFailure("aicf-run", RunTool("aicf-run", steps), 5, part);
    ExpectFailure("aicf-inspect", RunTool("aicf-inspect", steps), 5, part);
    const std::vector<std::string> compile = {"--from=" + (dir_ / file), Required(), "-o",
                                              dir_ / "no.aicf"};
    ExpectFailure("aicf-compile", RunTool("aicf-compile", compile), 5, part);
  }

  TempDir dir_;
  std::string plain_;
};

TEST_F(Signing, TheRightKeyLetsItThrough) {
  const std::string file = dir_ / "signed.aicf";
  ExpectSuccess(RunTool("aicf-run", {file, Required(), "--duration=0", "--warm-up=0"}));
  ExpectSuccess(RunTool("aicf-run", {file, Required(), "--verify"}));
  ExpectSuccess(RunTool("aicf-run", {file, "--duration=0", "--warm-up=0"}));
  const ToolResult verified = RunTool("aicf-inspect", {file, "--verify", Required()});
  ExpectSuccess(verified);
  EXPECT_NE(verified.out.find(", valid"), std::string::npos) << verified.out;
  ExpectSuccess(RunTool("aicf-compile", {"--from=" + file, Required(), "-o", dir_ / "again.aicf"}));
  // Somebody's key file with several keys, ours among them.
  PutFile(dir_ / "both.pub", GetFile(dir_ / "other.pub") + GetFile(dir_ / "key.pub"));
  ExpectSuccess(RunTool("aicf-inspect", {file, "--verify", Required("both")}));
}

TEST_F(Signing, ShowsWhoSigned) {
  const std::string key = GetFile(dir_ / "key.pub").substr(27, 60);
  const ToolResult text = RunTool("aicf-inspect", {dir_ / "signed.aicf", "--summary"});
  ExpectSuccess(text);
  EXPECT_NE(text.out.find(key + ", valid"), std::string::npos) << text.out;
  const auto header = [&](const std::string& file) {
    return nlohmann::json::parse(RunTool("aicf-inspect", {file, "--json"}).out).at("header");
  };
  EXPECT_EQ(header(dir_ / "signed.aicf").at("signature").at("key"), key);
  EXPECT_EQ(header(dir_ / "signed.aicf").at("signature").at("valid"), true);
  EXPECT_TRUE(header(plain_).at("signature").is_null());
}

TEST_F(Signing, CompilingSignsTheSameWay) {
  const ToolResult r = RunTool("aicf-compile", {dir_ / "tiny.onnx", "-o", dir_ / "made.aicf",
                                                "--sign=" + (dir_ / "key.pem")});
  ExpectSuccess(r);
  EXPECT_NE(r.out.find("signed"), std::string::npos) << r.out;
  ExpectSuccess(RunTool("aicf-run", {dir_ / "made.aicf", Required(), "--duration=0"}));
  // A signature is no part of what a model is compiled to.
  ExpectSuccess(RunTool("aicf-compile", {"--rebuild=" + (dir_ / "made.aicf"), dir_ / "tiny.onnx"}));
}

TEST_F(Signing, EverythingElseIsRefused) {
  ExpectRefused("tiny.aicf", "the artifact is not signed");
  Sign("other", "others.aicf");
  ExpectRefused("others.aicf", "which is not trusted");
  const std::string good = GetFile(dir_ / "signed.aicf");
  PutFile(dir_ / "cut.aicf", good.substr(0, good.size() - 1));
  ExpectRefused("cut.aicf", "cut.aicf");
  std::string flipped = good;
  flipped[good.size() - 20] ^= 1;
  PutFile(dir_ / "flipped.aicf", flipped);
  ExpectRefused("flipped.aicf", "hash mismatch");
}

TEST_F(Signing, KeysThatAreNone) {
  const std::string file = dir_ / "signed.aicf";
  const auto run = [&](const std::string& flag) {
    return RunTool("aicf-run", {file, flag, "--duration=0"});
  };
  PutFile(dir_ / "empty.pub", "");
  ExpectFailure("aicf-run", run(Required("empty")), 2, "holds no \"PUBLIC KEY\"");
  ExpectFailure("aicf-run", run(Required("absent")), 8, "absent.pub");
  ExpectFailure("aicf-run", RunTool("aicf-run", {file, "--require-signature="}), 2,
                "--require-signature");
  ExpectFailure("aicf-run", run("--require-signature=" + (dir_ / "key.pem")), 2,
                "expected \"PUBLIC KEY\"");
  const auto sign = [&](const std::string& key) {
    return RunTool("aicf-sign", {plain_, "--key=" + key, "-o", dir_ / "never.aicf"});
  };
  ExpectFailure("aicf-sign", sign(dir_ / "key.pub"), 2, "expected \"PRIVATE KEY\"");
  ExpectFailure("aicf-sign", sign(dir_ / "absent.pem"), 8, "absent.pem");
  for (const std::string& name : dir_.Entries()) EXPECT_NE(name, "never.aicf");
}

TEST_F(Signing, KeysAreTheOwnersAndNeverReplaced) {
  struct stat info = {};
  ASSERT_EQ(stat((dir_ / "key.pem").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  const std::string before = GetFile(dir_ / "key.pem");
  ExpectFailure("aicf-sign",
                RunTool("aicf-sign", {"--new-key=" + (dir_ / "key.pem"),
                                      "--public-key=" + (dir_ / "fresh.pub")}),
                8, "key.pem");
  EXPECT_EQ(GetFile(dir_ / "key.pem"), before);
  for (const std::string& name : dir_.Entries()) EXPECT_NE(name, "fresh.pub");
}

TEST_F(Signing, Usage) {
  const auto expect = [](const std::vector<std::string>& args, const std::string& part) {
    ExpectFailure("aicf-sign", RunTool("aicf-sign", args), 2, part);
  };
  expect({}, "the artifact is missing");
  expect({plain_}, "--key=FILE is missing");
  expect({plain_, "--key=k"}, "-o FILE is missing");
  expect({"--new-key=" + (dir_ / "n.pem")}, "--public-key=FILE is missing");
  expect({plain_, "--new-key=" + (dir_ / "n.pem")}, "--new-key");
  expect({"--public-key=" + (dir_ / "n.pub")}, "--public-key");
  ExpectFailure("aicf-sign",
                RunTool("aicf-sign", {plain_, "--key=" + (dir_ / "key.pem"), "-o", plain_}), 8,
                "tiny.aicf");
  ExpectFailure(
      "aicf-compile",
      RunTool("aicf-compile", {dir_ / "tiny.onnx", "--check", "--sign=" + (dir_ / "key.pem")}), 2,
      "--sign: no artifact is written");
  ExpectFailure("aicf-compile",
                RunTool("aicf-compile", {dir_ / "tiny.onnx", "-o", dir_ / "n.aicf", Required()}), 2,
                "needs --from or --rebuild");
}

}  // namespace
}  // namespace aicf::testing
