/// Files named *.isa.cc are compiled once per instruction set with AICF_ISA = baseline, avx2 or avx512
/// (those with products of bytes also avx512vnni, which has all that avx512 has) and put their
/// functions in namespace aicf::cpu::AICF_ISA. Inline helpers they share must live in
/// that namespace too: an inline function of another namespace, compiled for AVX-512, could be the copy
/// that the linker keeps for everyone.
#pragma once

#if !defined(AICF_ISA)
#error "isa.h belongs in *.isa.cc files only"
#endif

#define AICF_ISA_BEGIN namespace aicf::cpu::AICF_ISA {
#define AICF_ISA_END }
