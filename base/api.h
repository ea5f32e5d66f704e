/// AICF_API marks what the shared libraries export; everything else stays hidden.
#pragma once

#define AICF_API [[gnu::visibility("default")]]
