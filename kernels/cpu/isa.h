/// Files named *.isa.cc are compiled once per instruction set with AICF_ISA = baseline, avx2 or
/// avx512. Those with products of bytes are also compiled for avx512vnni, which has all that avx512
/// has. They put their functions in namespace aicf::cpu::AICF_ISA. Inline helpers that they share
/// must live in that namespace too. An inline function of another namespace would be compiled for
/// AVX-512 under the same name as elsewhere, and the linker could keep that copy for everyone.
#pragma once

#if !defined(AICF_ISA)
#error "isa.h belongs in *.isa.cc files only"
#endif

#define AICF_ISA_BEGIN namespace aicf::cpu::AICF_ISA {
#define AICF_ISA_END }
