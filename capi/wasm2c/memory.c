/* memory.c: the memory of instances. wabt's own would abort() where the system
 * has no memory left; here it is a trap. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#endif
#include "wasm-rt.h"

#if WASM_RT_USE_MMAP
#include <sys/mman.h>
#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif
/* An access adds an offset of 32 bits to an address of 32 bits, and its size. */
#define RESERVED (((size_t)2 << 32) + 65536)
#endif

/* The memory is little-endian, and host.c copies numbers as they are. */
#if WABT_BIG_ENDIAN
#error "infer_prep: this library is for little-endian machines"
#endif

void wasm_rt_allocate_memory(wasm_rt_memory_t *m, uint64_t pages, uint64_t max, bool is64, uint32_t page)
{
	uint64_t size = pages * page;
	m->data = NULL;
	m->page_size = page;
	m->pages = pages;
	m->max_pages = max;
	m->size = size;
	m->is64 = is64;
#if WASM_RT_USE_MMAP
	void *p = mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p != MAP_FAILED && mprotect(p, size, PROT_READ | PROT_WRITE))
		munmap(p, RESERVED);
	else if (p != MAP_FAILED)
		m->data = p;
#else
	if ((size_t)size == size)
		m->data = calloc((size_t)size, 1);
#endif
	if (!m->data)
		wasm_rt_trap(WASM_RT_TRAP_OOB);
	m->data_end = m->data + size;
}

uint64_t wasm_rt_grow_memory(wasm_rt_memory_t *m, uint64_t pages)
{
	uint64_t old = m->pages, size = (old + pages) * m->page_size;
	if (pages == 0)
		return old;
	if (pages > m->max_pages || old + pages > m->max_pages || (size_t)size != size)
		return (uint64_t)-1;
#if WASM_RT_USE_MMAP
	if (mprotect(m->data + m->size, pages * m->page_size, PROT_READ | PROT_WRITE))
		return (uint64_t)-1;
#else
	uint8_t *p = realloc(m->data, (size_t)size);
	if (!p)
		return (uint64_t)-1;
	memset(p + m->size, 0, (size_t)(pages * m->page_size));
	m->data = p;
#endif
	m->pages = old + pages;
	m->size = size;
	m->data_end = m->data + size;
	return old;
}

void wasm_rt_free_memory(wasm_rt_memory_t *m)
{
	if (!m->data)
		return;
#if WASM_RT_USE_MMAP
	munmap(m->data, RESERVED);
#else
	free(m->data);
#endif
	m->data = NULL;
}
