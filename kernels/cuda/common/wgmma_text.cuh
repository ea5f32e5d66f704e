// The operand lists of the tensor cores' instructions (common/wgmma.cuh, common/wgmma_bytes.cuh):
// an instruction names each of its N / 2 sums. AICF_NAMES<count> are the names of the first
// operands, AICF_SUMS_OF_<N>(constraint) the operands themselves, d[0] to d[N / 2 - 1]; the
// constraint is "+f" for sums in f32 and "+r" for sums of integers.
#pragma once

#define AICF_SUMS4(c, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define AICF_SUMS8(c, i) AICF_SUMS4(c, i), AICF_SUMS4(c, i + 4)
#define AICF_SUMS16(c, i) AICF_SUMS8(c, i), AICF_SUMS8(c, i + 8)
#define AICF_SUMS32(c, i) AICF_SUMS16(c, i), AICF_SUMS16(c, i + 16)
#define AICF_SUMS64(c, i) AICF_SUMS32(c, i), AICF_SUMS32(c, i + 32)
#define AICF_NAMES4 "%0, %1, %2, %3"
#define AICF_NAMES8 AICF_NAMES4 ", %4, %5, %6, %7"
#define AICF_NAMES16 AICF_NAMES8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define AICF_NAMES24 AICF_NAMES16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define AICF_NAMES32 \
  AICF_NAMES16       \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define AICF_NAMES40 AICF_NAMES32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define AICF_NAMES48 \
  AICF_NAMES32       \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define AICF_NAMES20 AICF_NAMES16 ", %16, %17, %18, %19"
#define AICF_NAMES28 AICF_NAMES24 ", %24, %25, %26, %27"
#define AICF_NAMES56 AICF_NAMES48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define AICF_NAMES64 \
  AICF_NAMES48       \
  ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define AICF_NAMES72 AICF_NAMES64 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define AICF_NAMES80 \
  AICF_NAMES64       \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define AICF_NAMES88 AICF_NAMES80 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define AICF_NAMES96 \
  AICF_NAMES80       \
  ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define AICF_NAMES112 \
  AICF_NAMES96        \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define AICF_NAMES128                                                                            \
  AICF_NAMES96                                                                                   \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
  ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, " \
  "%127"

#define AICF_SUMS_OF_8(c) AICF_SUMS4(c, 0)
#define AICF_SUMS_OF_16(c) AICF_SUMS8(c, 0)
#define AICF_SUMS_OF_32(c) AICF_SUMS16(c, 0)
#define AICF_SUMS_OF_40(c) AICF_SUMS16(c, 0), AICF_SUMS4(c, 16)
#define AICF_SUMS_OF_48(c) AICF_SUMS16(c, 0), AICF_SUMS8(c, 16)
#define AICF_SUMS_OF_56(c) AICF_SUMS16(c, 0), AICF_SUMS8(c, 16), AICF_SUMS4(c, 24)
#define AICF_SUMS_OF_64(c) AICF_SUMS32(c, 0)
#define AICF_SUMS_OF_80(c) AICF_SUMS32(c, 0), AICF_SUMS8(c, 32)
#define AICF_SUMS_OF_96(c) AICF_SUMS32(c, 0), AICF_SUMS16(c, 32)
#define AICF_SUMS_OF_112(c) AICF_SUMS32(c, 0), AICF_SUMS16(c, 32), AICF_SUMS8(c, 48)
#define AICF_SUMS_OF_128(c) AICF_SUMS64(c, 0)
#define AICF_SUMS_OF_144(c) AICF_SUMS64(c, 0), AICF_SUMS8(c, 64)
#define AICF_SUMS_OF_160(c) AICF_SUMS64(c, 0), AICF_SUMS16(c, 64)
#define AICF_SUMS_OF_176(c) AICF_SUMS64(c, 0), AICF_SUMS16(c, 64), AICF_SUMS8(c, 80)
#define AICF_SUMS_OF_192(c) AICF_SUMS64(c, 0), AICF_SUMS32(c, 64)
#define AICF_SUMS_OF_224(c) AICF_SUMS64(c, 0), AICF_SUMS32(c, 64), AICF_SUMS16(c, 96)
#define AICF_SUMS_OF_256(c) AICF_SUMS64(c, 0), AICF_SUMS64(c, 64)
