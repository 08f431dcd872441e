/* config.h: how the C of wasm2c is compiled. wasm-rt.h includes it first, so
 * that no compiler needs options.
 *
 * On 64-bit systems an instance reserves 8 GiB of addresses, which an access of
 * the module cannot leave. Go checks its own accesses, so one to addresses
 * without memory would be a bug of Go or of its compiler; it is a SIGSEGV. With
 * IP_BOUNDS_CHECK, and elsewhere, C checks each access again: it reserves less
 * and such a bug is IP_INTERNAL, but the library is twice as large, and slower. */
#ifndef IP_CONFIG_H
#define IP_CONFIG_H

#include <stdint.h>

#if UINTPTR_MAX > 0xffffffff && !defined(_WIN32) && !defined(IP_BOUNDS_CHECK)
#define WASM_RT_USE_MMAP 1
#define WASM_RT_MEMCHECK_GUARD_PAGES 1
#define WASM_RT_SKIP_SIGNAL_RECOVERY 1 /* no handlers */
#define WASM_RT_NONCONFORMING_ALLOW_OOB_READ_ELIMINATION 1
#else
#define WASM_RT_USE_MMAP 0
#define WASM_RT_MEMCHECK_BOUNDS_CHECK 1
#endif

/* WebAssembly rounds every product. A compiler that may would fuse it with a sum
 * (GCC does so on arm64, and on x86-64 with -mfma): other numbers. The Makefile
 * and CMake pass -ffp-contract=off; this is for other build systems. */
#include <float.h>
#if defined(__FAST_MATH__) || FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2
#error "infer_prep: want exact arithmetic: no -ffast-math, and on x86 -msse2 -mfpmath=sse"
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

/* Names of this copy, for programs that contain another module of wasm2c. */
#define wasm_rt_trap ip_wasm_rt_trap
#define wasm_rt_strerror ip_wasm_rt_strerror
#define wasm_rt_init ip_wasm_rt_init
#define wasm_rt_free ip_wasm_rt_free
#define wasm_rt_init_thread ip_wasm_rt_init_thread
#define wasm_rt_free_thread ip_wasm_rt_free_thread
#define wasm_rt_is_initialized ip_wasm_rt_is_initialized
#define wasm_rt_call_stack_depth ip_wasm_rt_call_stack_depth
#define wasm_rt_saved_call_stack_depth ip_wasm_rt_saved_call_stack_depth
#define g_wasm_rt_jmp_buf ip_g_wasm_rt_jmp_buf
#define wasm_rt_allocate_memory ip_wasm_rt_allocate_memory
#define wasm_rt_grow_memory ip_wasm_rt_grow_memory
#define wasm_rt_free_memory ip_wasm_rt_free_memory
#define wasm_rt_allocate_funcref_table ip_wasm_rt_allocate_funcref_table
#define wasm_rt_grow_funcref_table ip_wasm_rt_grow_funcref_table
#define wasm_rt_free_funcref_table ip_wasm_rt_free_funcref_table
#define wasm_rt_allocate_externref_table ip_wasm_rt_allocate_externref_table
#define wasm_rt_grow_externref_table ip_wasm_rt_grow_externref_table
#define wasm_rt_free_externref_table ip_wasm_rt_free_externref_table

#endif
