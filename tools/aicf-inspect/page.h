/// The report's page without its data, put together at build time from page/
/// (cmake/embed_page.cmake).
#pragma once

#include <string_view>

namespace aicf::tools {

struct EmbeddedPage {
  std::string_view before_data, after_data;
};

EmbeddedPage ReportTemplate();

}  // namespace aicf::tools
