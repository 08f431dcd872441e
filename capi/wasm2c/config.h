/* config.h: how the C of wasm2c is compiled. wasm-rt.h includes it first, so
 * that no compiler needs options.
 *
 * Every access to the module's memory is checked: a bug is a trap, which the
 * library turns into IP_INTERNAL, and it needs no signal handlers. */
#ifndef IP_CONFIG_H
#define IP_CONFIG_H

#include <stdint.h>

#define WASM_RT_MEMCHECK_BOUNDS_CHECK 1

/* Memory that is reserved at once does not move, which makes accesses faster. */
#if UINTPTR_MAX > 0xffffffff && !defined(_WIN32)
#define WASM_RT_USE_MMAP 1
#else
#define WASM_RT_USE_MMAP 0
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
