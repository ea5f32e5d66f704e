#include "models/ppocr/image.h"

#include <png.h>

namespace ppocr {

using aicf::Code;
using aicf::Error;

aicf::Result<Image> ReadPng(const std::string& path) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&png, path.c_str()) == 0) {
    return Error(Code::kIo, "image '", path, "': ", png.message);
  }
  png.format = PNG_FORMAT_RGB;
  constexpr uint32_t kMaxExtent = 1 << 14;
  if (png.width == 0 || png.height == 0 || png.width > kMaxExtent || png.height > kMaxExtent) {
    png_image_free(&png);
    return Error(Code::kInvalidArgument, "image '", path, "' is ", png.width, "x", png.height,
                 ", supported are 1x1 to ", kMaxExtent, "x", kMaxExtent);
  }
  Image image;
  image.width = static_cast<int>(png.width);
  image.height = static_cast<int>(png.height);
  image.rgb.resize(PNG_IMAGE_SIZE(png));
  const png_color white{255, 255, 255};
  if (png_image_finish_read(&png, &white, image.rgb.data(), 0, nullptr) == 0) {
    const std::string why = png.message;
    png_image_free(&png);
    return Error(Code::kInvalidArgument, "image '", path, "': ", why);
  }
  return image;
}

}  // namespace ppocr
