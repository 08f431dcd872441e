/* host.c: the functions that shim.c calls, by instances of the module.
 *
 * An instance is for one thread at a time. Idle instances are in a list, from
 * which a call takes one; there are thus as many as calls at once. A graph or
 * another object is opened in an instance when a call with it first takes the
 * instance: the object has the bytes for that. After a trap the instance is
 * freed, and the next call takes another.
 *
 * Inputs are copied to the instance's memory and outputs from it. A run of a
 * video asks for its frames one by one. Results are in memory of malloc. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "host.h"

#include <stdarg.h>
#include <stdio.h>

#include "wasm-rt-impl.h"

/* The lock of all that the library shares between threads. IP_NO_THREADS leaves
 * it out, for programs of one thread on systems without threads. */
#ifdef IP_NO_THREADS
#define LOCK() ((void)0)
#define UNLOCK() ((void)0)
#define WAIT() ((void)0)
#define WAKE() ((void)0)
#elif defined(_WIN32)
#include <windows.h>
static SRWLOCK mutex = SRWLOCK_INIT;
static CONDITION_VARIABLE changed = CONDITION_VARIABLE_INIT;
#define LOCK() AcquireSRWLockExclusive(&mutex)
#define UNLOCK() ReleaseSRWLockExclusive(&mutex)
#define WAIT() SleepConditionVariableSRW(&changed, &mutex, INFINITE, 0)
#define WAKE() WakeAllConditionVariable(&changed)
#else
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
#define LOCK() pthread_mutex_lock(&mutex)
#define UNLOCK() pthread_mutex_unlock(&mutex)
#define WAIT() pthread_cond_wait(&changed, &mutex)
#define WAKE() pthread_cond_broadcast(&changed)
#endif

#ifndef _WIN32
#include <unistd.h>
#endif

enum { KIND_GRAPH, KIND_RESULT, KIND_TOKENS, KIND_VIDEO };

/* The most bytes of an argument of a call. The instance's memory ends at 4 GiB. */
#define MOST ((uint64_t)1 << 30)

/* An arena larger than this is freed after its call, and so is an instance with
 * more memory, which never shrinks. */
#define ARENA_KEPT (8u << 20)
#define MEMORY_KEPT (512u << 20)

/* The structs of infer_prep.h that have pointers, as capi/lib/abi.go has them. */

typedef struct {
	uint32_t struct_size;
	int32_t jobs;
	int64_t max_pixels, max_bytes;
	int32_t max_scans, ignored;
	uint64_t format, backend, decoder, ignored_keys;
} wire_options;

typedef struct {
	uint32_t struct_size;
	int32_t dtype, layout, rank;
	int64_t shape[IP_MAX_RANK], strides[IP_MAX_RANK];
	uint64_t bytes, data;
} wire_input;

typedef struct {
	uint32_t struct_size;
	int32_t dtype, layout, rank;
	int64_t shape[IP_MAX_RANK];
	uint64_t bytes, capacity, data;
} wire_tensor;

typedef struct {
	uint32_t struct_size;
	int32_t pairs;
	uint64_t processor, preprocessor, tokenizer, call, tokens;
} wire_files;

typedef struct {
	uint32_t struct_size;
	int32_t unused;
	int64_t count;
	double fps, duration;
	uint64_t frames;
} wire_clip;

typedef struct {
	uint64_t at, n;
} wire_reply;

typedef struct {
	wire_tensor tensor;
	char name[sizeof(((ip_column *)0)->name)];
} wire_output;

/* The others have the same layout on every machine. */
typedef char same_column[sizeof(ip_column) == 176 ? 1 : -1];
typedef char same_info[sizeof(ip_image_info) == 72 ? 1 : -1];
typedef char same_image[sizeof(ip_image_tokens) == 40 ? 1 : -1];
typedef char same_wire[sizeof(wire_options) == 64 && sizeof(wire_input) == 160 && sizeof(wire_tensor) == 104 && sizeof(wire_files) == 48 && sizeof(wire_clip) == 40 && sizeof(wire_output) == 176 ? 1 : -1];

/* object is what a handle stands for. */
typedef struct object {
	struct object *next; /* in its bucket */
	uintptr_t id;
	int32_t kind;
	int32_t refs; /* one of the table, and one of each call */

	/* Graphs, tokens and videos. */
	void *source; /* the bytes that open it in an instance */
	size_t source_n;
	wire_options limits;
	int32_t jobs, running;

	/* Graphs. */
	int32_t count[2];
	ip_column *columns[2];

	/* Results. Their columns are those of the outputs. */
	uintptr_t of; /* the graph whose run it is of; 0: a batch, or of a video */
	ip_tensor *tensors;
	int32_t tensors_n;
	void *memory;
} object;

/* binding is an object that is open in an instance. */
typedef struct {
	uintptr_t id;
	int32_t kind;
	uint64_t handle; /* the instance's own */
} binding;

typedef struct instance {
	struct instance *next; /* in the list of idle ones */
	w2c_ip module;
	ip_wasi wasi;
	binding *bindings;
	size_t bindings_n, bindings_cap;
	/* The arena is memory in the module for the arguments of a call. One that
	 * became too small in a call is freed after it. */
	uint32_t arena, size, used;
	uint32_t old[32];
	int old_n;
} instance;

enum { BUCKETS = 1024 };

static object *table[BUCKETS];
static uintptr_t last_id;
static size_t opened; /* objects in the table that are no results */
static instance *idle;
static char *capabilities;

/* ---- errors ---- */

static ip_status failf(ip_error *e, ip_status status, const char *format, ...)
{
	char text[1100];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n < 0)
		n = 0;
	ipc_set_error(e, status, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
	return status;
}

static ip_status no_memory(ip_error *e) { return failf(e, IP_LIMIT, "infer_prep: the system has no memory left"); }

static ip_status too_large(ip_error *e, uint64_t n)
{
	return failf(e, IP_LIMIT, "infer_prep: %llu bytes of arguments: this build takes at most %llu", (unsigned long long)n, (unsigned long long)MOST);
}

static ip_status closed(ip_error *e, uintptr_t h)
{
	return failf(e, IP_HANDLE, "infer_prep: handle %llu: no such object, or it is closed", (unsigned long long)h);
}

/* wrong returns the first of the n structs at p, which begin with their size,
 * with an invalid size, and sets *size to it; -1 if there is none. */
static int64_t wrong(const void *p, int64_t n, size_t want, size_t align, uint32_t *size)
{
	uint32_t step = 0;
	for (int64_t i = 0; i < n; i++) {
		memcpy(size, (const char *)p + (size_t)i * step, sizeof *size);
		if (i == 0)
			step = *size;
		if (*size < want || *size != step || *size % align)
			return i;
	}
	return -1;
}

/* sized checks n structs. */
static ip_status sized(ip_error *e, const char *what, const void *p, int32_t n, size_t want, size_t align)
{
	uint32_t size = 0;
	if (n < 0)
		return failf(e, IP_INPUT, "infer_prep: invalid argument: %d structs of %s", (int)n, what);
	int64_t i = wrong(p, n, want, align, &size);
	if (i >= 0)
		return failf(e, IP_INPUT, "infer_prep: invalid argument: struct_size of %s %d is %u, want sizeof of the struct, %u", what, (int)i, (unsigned)size, (unsigned)want);
	return IP_OK;
}

#define SIZED(e, what, p, n) sized(e, #what, p, n, sizeof(what), sizeof(void *))

/* ---- objects ---- */

static object **find(uintptr_t id)
{
	object **o = &table[id % BUCKETS];
	while (*o && (*o)->id != id)
		o = &(*o)->next;
	return o;
}

static void destroy_object(object *o)
{
	free(o->source);
	free(o->columns[0]);
	free(o->columns[1]);
	free(o->tensors);
	free(o->memory);
	free(o);
}

static object *new_object(int32_t kind)
{
	object *o = calloc(1, sizeof *o);
	if (o) {
		o->kind = kind;
		o->refs = 1;
	}
	return o;
}

/* get returns the object of a handle, which the caller drops. NULL if there is
 * none. */
static object *get(uintptr_t h, int32_t kind)
{
	LOCK();
	object *o = *find(h);
	if (o && o->kind == kind)
		o->refs++;
	else
		o = NULL;
	UNLOCK();
	return o;
}

static void drop(object *o)
{
	LOCK();
	int32_t left = --o->refs;
	UNLOCK();
	if (left == 0)
		destroy_object(o);
}

static void next_id(object *o)
{
	LOCK();
	o->id = ++last_id;
	UNLOCK();
}

/* put enters an object, which has an id, in the table. */
static void put(object *o)
{
	LOCK();
	o->next = table[o->id % BUCKETS];
	table[o->id % BUCKETS] = o;
	opened += o->kind != KIND_RESULT;
	UNLOCK();
}

/* ---- instances ---- */

static void destroy_instance(instance *x)
{
	wasm2c_ip_free(&x->module);
	ip_wasi_free(&x->wasi);
	free(x->bindings);
	free(x);
}

/* guarded calls f, which may call the module. It returns 0, or 1 after a trap:
 * the instance is then to be destroyed. f must not hold what only it frees. */
static int guarded(void (*f)(instance *, void *), instance *x, void *arg)
{
	WASM_RT_SAVE_STACK_DEPTH();
	x->wasi.said_n = 0;
	if (WASM_RT_SETJMP(g_wasm_rt_jmp_buf))
		return 1;
	f(x, arg);
	return 0;
}

/* trapped is the error of a call after a trap. */
static ip_status trapped(ip_error *e, const instance *x)
{
	char said[sizeof x->wasi.said + 1];
	memcpy(said, x->wasi.said, x->wasi.said_n);
	said[x->wasi.said_n] = 0;
	if (strstr(said, "out of memory") || strstr(said, "cannot allocate memory"))
		return failf(e, IP_LIMIT, "infer_prep: out of memory: this build has 4 GiB for a run");
	return failf(e, IP_INTERNAL, "infer_prep: internal error: %s", said[0] ? said : "a trap in WebAssembly");
}

static void start(instance *x, void *arg)
{
	(void)arg;
	wasm2c_ip_instantiate(&x->module, &x->wasi);
	ip_wasi_init(&x->wasi, w2c_ip_memory(&x->module));
	w2c_ip_0x5Finitialize(&x->module);
}

static instance *new_instance(ip_error *e)
{
	instance *x = calloc(1, sizeof *x);
	if (!x) {
		no_memory(e);
		return NULL;
	}
	ip_wasi_init(&x->wasi, NULL);
	if (guarded(start, x, NULL)) {
		if (x->module.w2c_memory.data)
			trapped(e, x);
		else
			no_memory(e);
		destroy_instance(x);
		return NULL;
	}
	return x;
}

/* at returns n bytes of the module's memory, until it grows. */
static void *at(instance *x, uint64_t address, uint64_t n)
{
	uint64_t size = x->module.w2c_memory.size;
	if (n > size || address > size - n)
		wasm_rt_trap(WASM_RT_TRAP_OOB);
	return x->module.w2c_memory.data + address;
}

/* room returns the address of n bytes for an argument of the current call. */
static uint32_t room(instance *x, uint64_t n)
{
	n = n ? (n + 15) & ~(uint64_t)15 : 16;
	if (n > MOST + 16)
		wasm_rt_trap(WASM_RT_TRAP_OOB); /* the caller has checked it */
	if (n > x->size - x->used) {
		uint64_t size = x->size < MOST ? 2 * (uint64_t)x->size : MOST;
		if (x->size)
			x->old[x->old_n++] = x->arena;
		x->size = 0;
		x->used = 0;
		size = size < 4096 ? 4096 : size;
		size = size < n ? n : size;
		x->arena = w2c_ip_alloc(&x->module, (u32)size);
		x->size = (u32)size;
	}
	x->used += (u32)n;
	return x->arena + x->used - (u32)n;
}

/* finish ends the use of all that room returned. */
static void finish(instance *x)
{
	x->used = 0;
	while (x->old_n)
		w2c_ip_free(&x->module, x->old[--x->old_n]);
	if (x->size > ARENA_KEPT) {
		w2c_ip_free(&x->module, x->arena);
		x->size = 0;
	}
}

static uint32_t copy_in(instance *x, const void *p, size_t n)
{
	uint32_t a = room(x, n);
	if (n)
		memcpy(at(x, a, n), p, n);
	return a;
}

static uint32_t text_in(instance *x, const char *text) { return text ? copy_in(x, text, strlen(text) + 1) : 0; }

/* failure copies the text of the last call's error. */
static ip_status failure(instance *x, ip_error *e, ip_status status)
{
	wire_reply r;
	uint32_t a = room(x, sizeof r);
	w2c_ip_failure(&x->module, a);
	memcpy(&r, at(x, a, sizeof r), sizeof r);
	ipc_set_error(e, status, at(x, r.at, r.n), (size_t)r.n);
	return status;
}

static binding *bound(instance *x, uintptr_t id)
{
	for (size_t i = 0; i < x->bindings_n; i++)
		if (x->bindings[i].id == id)
			return &x->bindings[i];
	return NULL;
}

/* note notes that an instance has an object. The bindings have room for it. */
static void note(instance *x, const object *o, uint64_t handle)
{
	binding b = { o->id, o->kind, handle };
	x->bindings[x->bindings_n++] = b;
}

static int room_to_bind(instance *x)
{
	if (x->bindings_n < x->bindings_cap)
		return 1;
	size_t cap = x->bindings_cap ? 2 * x->bindings_cap : 8;
	binding *l = realloc(x->bindings, cap * sizeof *l);
	if (!l)
		return 0;
	x->bindings = l;
	x->bindings_cap = cap;
	return 1;
}

/* sweep closes in an instance what the host has closed. */
static void sweep(instance *x, void *arg)
{
	(void)arg;
	for (size_t i = 0; i < x->bindings_n;) {
		LOCK();
		int open = *find(x->bindings[i].id) != NULL;
		UNLOCK();
		if (open) {
			i++;
			continue;
		}
		w2c_ip_close(&x->module, x->bindings[i].handle, (u32)x->bindings[i].kind);
		x->bindings[i] = x->bindings[--x->bindings_n];
	}
}

/* take returns an instance, one that has o, which may be NULL, if one is idle. */
static instance *take(const object *o, ip_error *e)
{
	LOCK();
	instance **p = &idle;
	if (o)
		for (instance **q = &idle; *q; q = &(*q)->next)
			if (bound(*q, o->id)) {
				p = q;
				break;
			}
	instance *x = *p;
	if (x)
		*p = x->next;
	UNLOCK();
	if (!x)
		x = new_instance(e);
	if (x && !room_to_bind(x)) {
		destroy_instance(x);
		no_memory(e);
		return NULL;
	}
	return x;
}

/* give takes an instance back. */
static void give(instance *x)
{
	if (x->module.w2c_memory.size > MEMORY_KEPT || guarded(sweep, x, NULL)) {
		destroy_instance(x);
		return;
	}
	LOCK();
	int keep = opened > 0 || !idle;
	if (keep) {
		x->next = idle;
		idle = x;
	}
	UNLOCK();
	if (!keep)
		destroy_instance(x);
}

typedef struct {
	object *o;
	ip_error *e;
	ip_status status;
	uint64_t handle;
} reopening;

static void reopen(instance *x, void *arg)
{
	reopening *r = arg;
	wire_options l = r->o->limits;
	uint32_t data = copy_in(x, r->o->source, r->o->source_n), options = copy_in(x, &l, sizeof l), handle = room(x, 8);
	r->status = (ip_status)w2c_ip_reopen(&x->module, (u32)r->o->kind, data, (u32)r->o->source_n, options, handle);
	if (r->status)
		failure(x, r->e, r->status);
	else
		memcpy(&r->handle, at(x, handle, 8), 8);
	finish(x);
}

/* with takes an instance that has o open and calls f, which sets *status. */
static ip_status with(object *o, ip_error *e, void (*f)(instance *, void *), void *arg, const ip_status *status)
{
	LOCK();
	while (o->running >= o->jobs)
		WAIT();
	o->running++;
	UNLOCK();
	ip_status s = IP_LIMIT;
	instance *x = take(o, e);
	int sound = x != NULL;
	if (x && !bound(x, o->id)) {
		reopening r = { o, e, IP_INTERNAL, 0 };
		if (guarded(reopen, x, &r))
			s = trapped(e, x), sound = 0;
		else if (r.status)
			s = r.status;
		else
			note(x, o, r.handle), s = IP_OK;
	} else if (x) {
		s = IP_OK;
	}
	if (s == IP_OK) {
		if (guarded(f, x, arg))
			s = trapped(e, x), sound = 0;
		else
			s = *status;
	}
	if (sound)
		give(x);
	else if (x)
		destroy_instance(x);
	LOCK();
	o->running--;
	WAKE();
	UNLOCK();
	return s;
}

/* alone calls f with any instance. */
static ip_status alone(ip_error *e, void (*f)(instance *, void *), void *arg, const ip_status *status)
{
	instance *x = take(NULL, e);
	if (!x)
		return IP_LIMIT;
	if (guarded(f, x, arg)) {
		ip_status s = trapped(e, x);
		destroy_instance(x);
		return s;
	}
	give(x);
	return *status;
}

#if !defined(_WIN32) && !defined(IP_NO_THREADS)
/* In a child of fork() other threads do not go on: what they ran has ended, and
 * the instances that they had are lost. */
static void before_fork(void) { LOCK(); }
static void in_parent(void) { UNLOCK(); }

static void in_child(void)
{
	for (int i = 0; i < BUCKETS; i++)
		for (object *o = table[i]; o; o = o->next)
			o->running = 0;
	UNLOCK();
}

__attribute__((constructor)) static void loaded(void) { pthread_atfork(before_fork, in_parent, in_child); }
#endif

static int32_t processors(void)
{
#if defined(_WIN32) && !defined(IP_NO_THREADS)
	SYSTEM_INFO i;
	GetSystemInfo(&i);
	return (int32_t)i.dwNumberOfProcessors;
#elif defined(_SC_NPROCESSORS_ONLN)
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 && n < 1 << 20 ? (int32_t)n : 1;
#else
	return 1;
#endif
}

/* ---- opening ---- */

typedef struct {
	object *o;
	const char *folder, *name;
	const void *data;
	size_t n;
	const ip_options *options;
	const ip_token_files *files;
	ip_error *e;
	ip_status status;
} opening;

/* keep_source copies what opens the object in other instances. */
static ip_status keep_source(instance *x, object *o, uint64_t handle, ip_error *e)
{
	wire_reply r;
	uint32_t reply = room(x, sizeof r);
	ip_status s = (ip_status)w2c_ip_source(&x->module, handle, reply);
	if (s)
		return failure(x, e, s);
	memcpy(&r, at(x, reply, sizeof r), sizeof r);
	const void *from = at(x, r.at, r.n);
	o->source = malloc((size_t)r.n + 1);
	if (!o->source)
		return no_memory(e);
	memcpy(o->source, from, (size_t)r.n);
	o->source_n = (size_t)r.n;
	return IP_OK;
}

/* keep_columns copies the descriptions of a graph's columns. */
static ip_status keep_columns(instance *x, object *o, uint64_t handle, ip_error *e)
{
	uint32_t column = room(x, sizeof(ip_column));
	for (int32_t list = 0; list < 2; list++) {
		int32_t n = o->count[list] = (int32_t)w2c_ip_count(&x->module, handle, (u32)list);
		if (n < 0)
			return failf(e, IP_INTERNAL, "infer_prep: internal error: a graph of %d columns", (int)n);
		o->columns[list] = calloc((size_t)n + 1, sizeof(ip_column));
		if (!o->columns[list])
			return no_memory(e);
		for (int32_t i = 0; i < n; i++) {
			ip_column c = IP_COLUMN_INIT;
			memcpy(at(x, column, sizeof c), &c, sizeof c);
			ip_status s = (ip_status)w2c_ip_describe(&x->module, handle, (u32)list, (u32)i, column);
			if (s)
				return failure(x, e, s);
			memcpy(&o->columns[list][i], at(x, column, sizeof c), sizeof c);
		}
	}
	return IP_OK;
}

/* opened_here ends the opening of an object in an instance. */
static ip_status opened_here(instance *x, object *o, uint32_t at_handle, ip_error *e)
{
	uint64_t handle;
	memcpy(&handle, at(x, at_handle, 8), 8);
	ip_status s = keep_source(x, o, handle, e);
	if (s == IP_OK && o->kind == KIND_GRAPH)
		s = keep_columns(x, o, handle, e);
	if (s)
		w2c_ip_close(&x->module, handle, (u32)o->kind);
	else
		note(x, o, handle);
	return s;
}

/* options_in copies the options, and keeps the limits for other instances. */
static uint32_t options_in(instance *x, opening *p)
{
	wire_options w;
	memset(&w, 0, sizeof w);
	w.struct_size = sizeof w;
	w.jobs = 1;
	if (p->options) {
		w.max_pixels = p->options->max_pixels;
		w.max_bytes = p->options->max_bytes;
		w.max_scans = p->options->max_scans;
	}
	p->o->limits = w;
	if (p->options) {
		w.format = text_in(x, p->options->format);
		w.backend = text_in(x, p->options->backend);
		w.decoder = text_in(x, p->options->decoder);
		w.ignored = p->options->ignored;
		if (w.ignored)
			w.ignored_keys = room(x, 8 * (uint64_t)w.ignored);
		for (int32_t i = 0; i < w.ignored; i++) {
			uint64_t key = text_in(x, p->options->ignored_keys[i]);
			memcpy(at(x, w.ignored_keys + 8 * (uint64_t)i, 8), &key, 8);
		}
	}
	return copy_in(x, &w, sizeof w);
}

/* open_configured opens a graph or a video processor. */
static void open_configured(instance *x, void *arg)
{
	opening *p = arg;
	uint32_t options = options_in(x, p), folder = text_in(x, p->folder), name = text_in(x, p->name), handle = room(x, 8);
	uint32_t data = p->n ? copy_in(x, p->data, p->n) : 0;
	if (p->o->kind == KIND_GRAPH)
		p->status = (ip_status)w2c_ip_open(&x->module, folder, name, data, (u32)p->n, options, handle);
	else
		p->status = (ip_status)w2c_ip_openvideo(&x->module, folder, name, data, (u32)p->n, options, handle);
	p->status = p->status ? failure(x, p->e, p->status) : opened_here(x, p->o, handle, p->e);
	finish(x);
}

/* here returns the folder that a relative name starts from, NULL for others. */
static const char *here(const char *name, char to[4096])
{
#ifndef _WIN32
	if (name && *name != '/' && strncmp(name, "preset:", 7))
		return getcwd(to, 4096);
#endif
	(void)name, (void)to;
	return NULL;
}

/* no_files refuses names of files where the module cannot read them. */
static ip_status no_files(const char *name, ip_error *e)
{
#ifdef _WIN32
	return failf(e, IP_UNSUPPORTED, "infer_prep: open %s: this build reads no files on Windows: read the file and pass its content", name);
#else
	(void)name, (void)e;
	return IP_OK;
#endif
}

/* open_object opens an object and sets its handle. */
static ip_status open_object(opening *p, int32_t kind, void (*f)(instance *, void *), int32_t jobs, uintptr_t *h)
{
	object *o = p->o = new_object(kind);
	if (!o)
		return no_memory(p->e);
	o->jobs = jobs > 0 ? jobs : processors();
	next_id(o);
	/* It is in the table before its instance is given back, which would close
	 * it. */
	instance *x = take(NULL, p->e);
	ip_status s = IP_LIMIT;
	if (x && guarded(f, x, p)) {
		s = trapped(p->e, x);
		destroy_instance(x);
		x = NULL;
	} else if (x) {
		s = p->status;
	}
	if (s == IP_OK) {
		*h = o->id;
		put(o);
	}
	if (x)
		give(x);
	if (s)
		destroy_object(o);
	return s;
}

/* length returns the bytes of a text, and adds up to MOST. */
static uint64_t length(const char *text) { return text ? (uint64_t)strlen(text) + 1 : 0; }

/* configured opens a graph or a video processor. reads says whether name is of a
 * file. */
static ip_status configured(int32_t kind, const char *name, int reads, const void *data, size_t n, const ip_options *options, uintptr_t *h, ip_error *e)
{
	char folder[4096];
	ip_status s = IP_OK;
	uint64_t total = (uint64_t)n + length(name);
	int32_t jobs = 0;
	if (options) {
		s = SIZED(e, ip_options, options, 1);
		if (s)
			return s;
		if (options->ignored < 0 || (options->ignored > 0 && !options->ignored_keys))
			return failf(e, IP_INPUT, "infer_prep: open: invalid argument: %d ignored keys at %p", (int)options->ignored, (void *)options->ignored_keys);
		total += length(options->format) + length(options->backend) + length(options->decoder);
		for (int32_t i = 0; i < options->ignored; i++)
			total += 16 + length(options->ignored_keys[i]);
		jobs = options->jobs;
	}
	if (total > MOST)
		return too_large(e, total);
	if (name && reads)
		s = no_files(name, e);
	if (s)
		return s;
	opening p = { NULL, here(name, folder), name, data, n, options, NULL, e, IP_INTERNAL };
	return open_object(&p, kind, open_configured, jobs, h);
}

ip_status ipgo_graph_open(char *name, void *data, size_t n, ip_options *options, uintptr_t *h, ip_error *e)
{
	int preset = (name && !strncmp(name, "preset:", 7)) || (options && options->struct_size >= sizeof *options && options->format && !strcmp(options->format, "preset"));
	return configured(KIND_GRAPH, name, !preset, data, n, options, h, e);
}

ip_status ipgo_video_open(char *name, void *data, size_t n, ip_options *options, uintptr_t *h, ip_error *e)
{
	return configured(KIND_VIDEO, name, 1, data, n, options, h, e);
}

static void open_tokens(instance *x, void *arg)
{
	opening *p = arg;
	wire_files w;
	uint32_t files = 0;
	if (p->files) {
		memset(&w, 0, sizeof w);
		w.struct_size = sizeof w;
		w.pairs = p->files->pairs;
		w.processor = text_in(x, p->files->processor);
		w.preprocessor = text_in(x, p->files->preprocessor);
		w.tokenizer = text_in(x, p->files->tokenizer);
		w.call = text_in(x, p->files->call);
		if (w.pairs)
			w.tokens = room(x, 16 * (uint64_t)w.pairs);
		for (int64_t i = 0; i < 2 * (int64_t)w.pairs; i++) {
			uint64_t text = text_in(x, p->files->tokens[i]);
			memcpy(at(x, w.tokens + 8 * (uint64_t)i, 8), &text, 8);
		}
		files = copy_in(x, &w, sizeof w);
	}
	uint32_t folder = text_in(x, p->folder), name = text_in(x, p->name), handle = room(x, 8);
	p->status = (ip_status)w2c_ip_opentokens(&x->module, folder, name, files, handle);
	p->status = p->status ? failure(x, p->e, p->status) : opened_here(x, p->o, handle, p->e);
	finish(x);
}

ip_status ipgo_tokens_open(char *name, ip_token_files *files, uintptr_t *h, ip_error *e)
{
	char folder[4096];
	uint64_t total = length(name);
	ip_status s = files ? SIZED(e, ip_token_files, files, 1) : no_files(name, e);
	if (s)
		return s;
	if (files) {
		if (files->pairs < 0 || (files->pairs > 0 && !files->tokens))
			return failf(e, IP_INPUT, "infer_prep: tokens: invalid argument: %d pairs at %p", (int)files->pairs, (void *)files->tokens);
		total += length(files->processor) + length(files->preprocessor) + length(files->tokenizer) + length(files->call);
		for (int64_t i = 0; i < 2 * (int64_t)files->pairs; i++)
			total += 16 + length(files->tokens[i]);
	}
	if (total > MOST)
		return too_large(e, total);
	opening p = { NULL, here(name, folder), name, NULL, 0, NULL, files, e, IP_INTERNAL };
	return open_object(&p, KIND_TOKENS, open_tokens, 0, h);
}

ip_status ipgo_free(uintptr_t h, int32_t kind)
{
	LOCK();
	object **p = find(h), *o = *p;
	if (!o || o->kind != kind) {
		UNLOCK();
		return IP_HANDLE;
	}
	*p = o->next;
	instance *l = NULL;
	if (kind != KIND_RESULT) {
		/* Idle instances close it, and are given back. */
		opened--;
		for (instance **q = &idle; *q;) {
			instance *x = *q;
			if (!bound(x, h) && opened) {
				q = &x->next;
				continue;
			}
			*q = x->next;
			x->next = l;
			l = x;
		}
	}
	UNLOCK();
	while (l) {
		instance *next = l->next;
		give(l);
		l = next;
	}
	drop(o);
	return IP_OK;
}

/* ---- descriptions ---- */

static void read_capabilities(instance *x, void *arg)
{
	opening *p = arg;
	wire_reply r;
	uint32_t reply = room(x, sizeof r);
	p->status = (ip_status)w2c_ip_capabilities(&x->module, reply);
	if (p->status) {
		failure(x, p->e, p->status);
	} else {
		memcpy(&r, at(x, reply, sizeof r), sizeof r);
		const void *from = at(x, r.at, r.n);
		char *text = malloc((size_t)r.n + 1);
		if (text) {
			memcpy(text, from, (size_t)r.n);
			text[r.n] = 0;
		} else {
			p->status = no_memory(p->e);
		}
		LOCK();
		if (text && !capabilities) {
			capabilities = text;
			text = NULL;
		}
		UNLOCK();
		free(text); /* another thread was first */
	}
	finish(x);
}

ip_status ipgo_capabilities(char **text, ip_error *e)
{
	LOCK();
	*text = capabilities;
	UNLOCK();
	if (*text)
		return IP_OK;
	opening p = { NULL, NULL, NULL, NULL, 0, NULL, NULL, e, IP_INTERNAL };
	ip_status s = alone(e, read_capabilities, &p, &p.status);
	LOCK();
	*text = capabilities;
	UNLOCK();
	return s;
}

int32_t ipgo_graph_count(uintptr_t h, int32_t list)
{
	int32_t n = -1;
	LOCK();
	object *o = *find(h);
	if (o && o->kind == KIND_GRAPH && (list == IP_INPUTS || list == IP_OUTPUTS))
		n = o->count[list];
	UNLOCK();
	return n;
}

int32_t ipgo_graph_find(uintptr_t h, int32_t list, char *name)
{
	object *o = get(h, KIND_GRAPH);
	int32_t found = -1;
	if (!o)
		return -1;
	if (list == IP_INPUTS || list == IP_OUTPUTS)
		for (int32_t i = 0; i < o->count[list] && found < 0; i++)
			if (!strcmp(o->columns[list][i].name, name))
				found = i;
	drop(o);
	return found;
}

/* set_column copies a column to one of the host. */
static void set_column(ip_column *to, const ip_column *c)
{
	uint32_t size = to->struct_size;
	memcpy(to, c, sizeof *c);
	to->struct_size = size;
}

ip_status ipgo_graph_describe(uintptr_t h, int32_t list, int32_t i, ip_column *column, ip_error *e)
{
	object *o = get(h, KIND_GRAPH);
	if (!o)
		return closed(e, h);
	ip_status s = SIZED(e, ip_column, column, 1);
	int32_t n = list == IP_INPUTS || list == IP_OUTPUTS ? o->count[list] : 0;
	if (!s && (i < 0 || i >= n))
		s = failf(e, IP_INPUT, "infer_prep: describe: invalid argument: column %d of list %d, which has %d", (int)i, (int)list, (int)n);
	if (!s)
		set_column(column, &o->columns[list][i]);
	drop(o);
	return s;
}

typedef struct {
	const object *o;
	int64_t height, width;
	ip_column *columns;
	int32_t n;
	ip_error *e;
	ip_status status;
} sizing;

static void read_sizes(instance *x, void *arg)
{
	sizing *p = arg;
	ip_column c = IP_COLUMN_INIT;
	uint32_t columns = room(x, (uint64_t)p->n * sizeof c);
	for (int32_t i = 0; i < p->n; i++)
		memcpy(at(x, columns + (uint64_t)i * sizeof c, sizeof c), &c, sizeof c);
	p->status = (ip_status)w2c_ip_sizes(&x->module, bound(x, p->o->id)->handle, (u64)p->height, (u64)p->width, columns, (u32)p->n);
	if (p->status)
		failure(x, p->e, p->status);
	for (int32_t i = 0; i < p->n && !p->status; i++)
		set_column((ip_column *)((char *)p->columns + (size_t)i * p->columns->struct_size), at(x, columns + (uint64_t)i * sizeof c, sizeof c));
	finish(x);
}

ip_status ipgo_graph_sizes(uintptr_t h, int64_t height, int64_t width, ip_column *columns, int32_t n, ip_error *e)
{
	object *o = get(h, KIND_GRAPH);
	if (!o)
		return closed(e, h);
	ip_status s = SIZED(e, ip_column, columns, n);
	if (!s && n > o->count[IP_OUTPUTS])
		s = failf(e, IP_INPUT, "infer_prep: sizes: invalid argument: %d columns, the graph has %d outputs", (int)n, (int)o->count[IP_OUTPUTS]);
	if (!s) {
		sizing p = { o, height, width, columns, n, e, IP_INTERNAL };
		s = with(o, e, read_sizes, &p, &p.status);
	}
	drop(o);
	return s;
}

typedef struct {
	const void *image;
	size_t n;
	ip_image_info *info;
	ip_error *e;
	ip_status status;
} probing;

static void read_header(instance *x, void *arg)
{
	probing *p = arg;
	ip_image_info i = IP_IMAGE_INFO_INIT;
	uint32_t image = copy_in(x, p->image, p->n), info = copy_in(x, &i, sizeof i);
	p->status = (ip_status)w2c_ip_probe(&x->module, image, (u32)p->n, info);
	if (p->status) {
		failure(x, p->e, p->status);
	} else {
		uint32_t size = p->info->struct_size;
		memcpy(p->info, at(x, info, sizeof i), sizeof i);
		p->info->struct_size = size;
	}
	finish(x);
}

ip_status ipgo_probe(void *image, size_t n, ip_image_info *info, ip_error *e)
{
	ip_status s = SIZED(e, ip_image_info, info, 1);
	if (s)
		return s;
	if (n > MOST)
		return too_large(e, n);
	probing p = { image, n, info, e, IP_INTERNAL };
	return alone(e, read_header, &p, &p.status);
}

/* ---- runs ---- */

typedef struct {
	const object *o;
	const ip_input *in;
	int32_t nin;
	ip_tensor *out; /* NULL: result receives the outputs */
	int32_t nout;
	object *result;
	ip_error *e;
	ip_status status;
} running;

static const ip_input *input(const running *p, int32_t i) { return (const ip_input *)((const char *)p->in + (size_t)i * p->in->struct_size); }

static ip_tensor *output(const running *p, int32_t i) { return (ip_tensor *)((char *)p->out + (size_t)i * p->out->struct_size); }

/* gather copies pixels, whose strides are any, to dense ones. */
static void gather(unsigned char *to, const ip_input *in)
{
	const unsigned char *from = in->data;
	const int64_t *n = in->shape, *s = in->strides;
	int dense = 1;
	for (int i = 0; i < IP_MAX_RANK; i++)
		dense &= s[i] == 0;
	if (dense) {
		memcpy(to, from, (size_t)(n[0] * n[1] * n[2]));
		return;
	}
	for (int64_t i = 0; i < n[0]; i++) {
		const unsigned char *row = from + i * s[0];
		if (s[2] == 1 && (s[1] == n[2] || n[1] == 1)) {
			memcpy(to, row, (size_t)(n[1] * n[2]));
			to += n[1] * n[2];
			continue;
		}
		for (int64_t j = 0; j < n[1]; j++)
			for (int64_t k = 0; k < n[2]; k++)
				*to++ = row[j * s[1] + k * s[2]];
	}
}

/* input_in describes an input to the module. data is its address there, which
 * is 0 if the host's is NULL. */
static wire_input input_in(const ip_input *in, uint64_t data)
{
	wire_input w;
	memset(&w, 0, sizeof w);
	w.struct_size = sizeof w;
	w.dtype = in->dtype;
	w.layout = in->layout;
	w.rank = in->rank;
	memcpy(w.shape, in->shape, sizeof w.shape);
	memcpy(w.strides, in->strides, sizeof w.strides);
	w.bytes = in->bytes;
	w.data = in->data ? data : 0;
	return w;
}

/* elements_in copies the n bytes of the elements of an input that the module has
 * checked. image says whether it is to be an image. */
static void elements_in(void *to, const ip_input *in, uint64_t n, int image)
{
	if (in->dtype != IP_BYTES && image)
		gather(to, in);
	else if (n)
		memcpy(to, in->data, (size_t)n);
}

/* inputs copies the inputs to the module and returns the address of their
 * list; 0 after an error. */
static uint32_t inputs(instance *x, running *p, uint64_t handle)
{
	uint32_t list = room(x, (uint64_t)p->nin * sizeof(wire_input)), sizes = room(x, (uint64_t)p->nin * 8);
	for (int32_t i = 0; i < p->nin; i++) {
		wire_input w = input_in(input(p, i), list); /* until it is copied */
		memcpy(at(x, list + (uint64_t)i * sizeof w, sizeof w), &w, sizeof w);
	}
	p->status = (ip_status)w2c_ip_inputs(&x->module, handle, list, (u32)p->nin, sizes);
	if (p->status) {
		failure(x, p->e, p->status);
		return 0;
	}
	uint64_t total = 0;
	for (int32_t i = 0; i < p->nin; i++) {
		uint64_t n;
		memcpy(&n, at(x, sizes + (uint64_t)i * 8, 8), 8);
		total = n > MOST || total > MOST ? MOST + 1 : total + n;
	}
	if (total > MOST) {
		p->status = too_large(p->e, total);
		return 0;
	}
	for (int32_t i = 0; i < p->nin; i++) {
		const ip_input *in = input(p, i);
		uint64_t n;
		memcpy(&n, at(x, sizes + (uint64_t)i * 8, 8), 8);
		uint32_t data = room(x, n);
		wire_input w = input_in(in, data);
		memset(w.strides, 0, sizeof w.strides);
		w.bytes = n;
		elements_in(at(x, data, n), in, n, p->o->columns[IP_INPUTS][i].dtype == IP_BYTES);
		memcpy(at(x, list + (uint64_t)i * sizeof w, sizeof w), &w, sizeof w);
	}
	return list;
}

/* set_tensor describes an output, without data and capacity. */
static void set_tensor(ip_tensor *to, const wire_tensor *w)
{
	to->dtype = w->dtype;
	to->layout = w->layout;
	to->rank = w->rank;
	memcpy(to->shape, w->shape, sizeof to->shape);
	to->bytes = w->bytes;
}

/* lend copies n outputs, which list describes, to the memory of the result r.
 * Their names are those of columns; NULL: list is of wire_output. */
static ip_status lend(instance *x, object *r, uint64_t list, int32_t n, const ip_column *columns, ip_error *e)
{
	const size_t step = columns ? sizeof(wire_tensor) : sizeof(wire_output);
	uint64_t total = 0;
	wire_tensor w;
	for (int32_t i = 0; i < n; i++) {
		memcpy(&w, at(x, list + (uint64_t)i * step, sizeof w), sizeof w);
		total += (w.bytes + 63) & ~(uint64_t)63;
	}
	r->tensors = calloc((size_t)n + 1, sizeof *r->tensors);
	r->columns[IP_OUTPUTS] = calloc((size_t)n + 1, sizeof(ip_column));
	r->memory = (size_t)total == total ? malloc((size_t)total + 64) : NULL;
	r->tensors_n = n;
	if (!r->tensors || !r->memory || !r->columns[IP_OUTPUTS])
		return no_memory(e);
	unsigned char *to = r->memory;
	to += (64 - (uintptr_t)to % 64) % 64;
	for (int32_t i = 0; i < n; i++) {
		memcpy(&w, at(x, list + (uint64_t)i * step, sizeof w), sizeof w);
		set_tensor(&r->tensors[i], &w);
		ip_column *c = &r->columns[IP_OUTPUTS][i];
		c->dtype = w.dtype;
		c->layout = w.layout;
		c->rank = w.rank;
		memcpy(c->shape, w.shape, sizeof c->shape);
		c->bytes = (int64_t)w.bytes;
		memcpy(c->name, columns ? columns[i].name : at(x, list + (uint64_t)i * step + sizeof w, sizeof c->name), sizeof c->name);
		if (w.bytes) {
			memcpy(to, at(x, w.data, w.bytes), (size_t)w.bytes);
			r->tensors[i].data = to;
		}
		to += (w.bytes + 63) & ~(uint64_t)63;
	}
	return IP_OK;
}

static void run_graph(instance *x, void *arg)
{
	running *p = arg;
	uint64_t handle = bound(x, p->o->id)->handle;
	uint32_t in = inputs(x, p, handle);
	if (!in) {
		finish(x);
		return;
	}
	uint32_t list = room(x, (uint64_t)p->nout * sizeof(wire_tensor));
	for (int32_t i = 0; i < p->nout; i++) {
		wire_tensor w;
		memset(&w, 0, sizeof w);
		w.struct_size = sizeof w;
		w.capacity = p->out ? output(p, i)->capacity : INT64_MAX;
		w.data = p->out && !output(p, i)->data ? 0 : list;
		memcpy(at(x, list + (uint64_t)i * sizeof w, sizeof w), &w, sizeof w);
	}
	p->status = (ip_status)w2c_ip_run(&x->module, handle, in, (u32)p->nin, list, (u32)p->nout);
	for (int32_t i = 0; p->out && i < p->nout; i++) {
		wire_tensor w;
		ip_tensor *t = output(p, i);
		memcpy(&w, at(x, list + (uint64_t)i * sizeof w, sizeof w), sizeof w);
		if (p->status == IP_OK || p->status == IP_CAPACITY)
			set_tensor(t, &w);
		if (p->status == IP_OK && w.bytes && w.bytes <= t->capacity)
			memcpy(t->data, at(x, w.data, w.bytes), (size_t)w.bytes);
	}
	if (p->status)
		failure(x, p->e, p->status);
	else if (!p->out)
		p->status = lend(x, p->result, list, p->nout, p->o->columns[IP_OUTPUTS], p->e);
	finish(x);
}

/* run checks what the module does not see, and runs. */
static ip_status run(running *p, object *o)
{
	ip_status s = SIZED(p->e, ip_input, p->in, p->nin);
	if (!s && p->nin != o->count[IP_INPUTS])
		s = failf(p->e, IP_INPUT, "infer_prep: run: invalid argument: %d inputs, the graph has %d", (int)p->nin, (int)o->count[IP_INPUTS]);
	return s ? s : with(o, p->e, run_graph, p, &p->status);
}

ip_status ipgo_run_into(uintptr_t h, ip_input *in, int32_t nin, ip_tensor *out, int32_t nout, ip_error *e)
{
	static ip_tensor none;
	object *o = get(h, KIND_GRAPH);
	if (!o)
		return closed(e, h);
	ip_status s = SIZED(e, ip_tensor, out, nout);
	if (!s && nout > o->count[IP_OUTPUTS])
		s = failf(e, IP_INPUT, "infer_prep: run: invalid argument: memory for %d outputs, the graph has %d", (int)nout, (int)o->count[IP_OUTPUTS]);
	running p = { o, in, nin, nout ? out : &none, nout, NULL, e, IP_INTERNAL };
	if (!s)
		s = run(&p, o);
	drop(o);
	return s;
}

/* lent_as ends a call that lends r: it sets its handle, or frees it after an
 * error. */
static ip_status lent_as(object *r, ip_status s, uintptr_t *lent)
{
	if (!s) {
		next_id(r);
		*lent = r->id;
		put(r);
	} else if (r) {
		destroy_object(r);
	}
	return s;
}

ip_status ipgo_run(uintptr_t h, ip_input *in, int32_t nin, uintptr_t *lent, ip_error *e)
{
	object *o = get(h, KIND_GRAPH);
	if (!o)
		return closed(e, h);
	object *r = new_object(KIND_RESULT);
	running p = { o, in, nin, NULL, o->count[IP_OUTPUTS], r, e, IP_INTERNAL };
	ip_status s = r ? run(&p, o) : no_memory(e);
	drop(o);
	if (r)
		r->of = h;
	return lent_as(r, s, lent);
}

int32_t ipgo_result_count(uintptr_t h)
{
	object *r = get(h, KIND_RESULT);
	if (!r)
		return -1;
	int32_t n = r->tensors_n;
	drop(r);
	return n;
}

ip_status ipgo_result_describe(uintptr_t h, int32_t i, ip_column *column, ip_error *e)
{
	object *r = get(h, KIND_RESULT);
	if (!r)
		return closed(e, h);
	ip_status s = SIZED(e, ip_column, column, 1);
	if (!s && (i < 0 || i >= r->tensors_n))
		s = failf(e, IP_INPUT, "infer_prep: result: invalid argument: output %d of %d", (int)i, (int)r->tensors_n);
	if (!s)
		set_column(column, &r->columns[IP_OUTPUTS][i]);
	drop(r);
	return s;
}

/* ---- batches ---- */

typedef struct {
	object *o;
	object **results;
	size_t n;
	object *result;
	ip_error *e;
	ip_status status;
} joining;

static void join(instance *x, void *arg)
{
	joining *p = arg;
	const int32_t m = p->o->count[IP_OUTPUTS];
	wire_tensor w;
	uint32_t list = room(x, (uint64_t)p->n * (uint64_t)m * sizeof w), out = room(x, (uint64_t)m * sizeof w);
	for (size_t i = 0; i < p->n; i++) {
		for (int32_t k = 0; k < m; k++) {
			const ip_tensor *t = &p->results[i]->tensors[k];
			memset(&w, 0, sizeof w);
			w.struct_size = sizeof w;
			w.dtype = t->dtype;
			w.layout = t->layout;
			w.rank = t->rank;
			memcpy(w.shape, t->shape, sizeof w.shape);
			w.bytes = t->bytes;
			w.data = t->bytes ? copy_in(x, t->data, (size_t)t->bytes) : 0;
			memcpy(at(x, list + ((uint64_t)i * (uint64_t)m + (uint64_t)k) * sizeof w, sizeof w), &w, sizeof w);
		}
	}
	memset(&w, 0, sizeof w);
	w.struct_size = sizeof w;
	for (int32_t k = 0; k < m; k++)
		memcpy(at(x, out + (uint64_t)k * sizeof w, sizeof w), &w, sizeof w);
	p->status = (ip_status)w2c_ip_collate(&x->module, bound(x, p->o->id)->handle, list, (u32)p->n, out, (u32)m);
	if (p->status) {
		failure(x, p->e, p->status);
	} else {
		p->status = lend(x, p->result, out, m, p->o->columns[IP_OUTPUTS], p->e);
	}
	finish(x);
}

ip_status ipgo_collate(uintptr_t h, void *results, size_t n, uintptr_t *lent, ip_error *e)
{
	const size_t most = (size_t)1 << 24;
	object *o = get(h, KIND_GRAPH);
	if (!o)
		return closed(e, h);
	ip_status s = IP_OK;
	if (n > most)
		s = failf(e, IP_INPUT, "infer_prep: collate: invalid argument: %llu results, want at most %llu", (unsigned long long)n, (unsigned long long)most);
	joining p = { o, NULL, 0, NULL, e, IP_INTERNAL };
	if (!s) {
		p.results = calloc(n + 1, sizeof *p.results);
		p.result = new_object(KIND_RESULT);
		if (!p.results || !p.result)
			s = no_memory(e);
	}
	uint64_t total = 0;
	for (; !s && p.n < n; p.n++) {
		uintptr_t id = (uintptr_t)((const void *const *)results)[p.n];
		object *r = get(id, KIND_RESULT);
		if (!r) {
			s = failf(e, IP_HANDLE, "infer_prep: collate: result %llu: handle %llu: no such object, or it is closed", (unsigned long long)p.n, (unsigned long long)id);
			break;
		}
		p.results[p.n] = r;
		if (r->of != h)
			s = failf(e, IP_INPUT, "infer_prep: collate: result %llu: invalid argument: not a result of a run of this graph", (unsigned long long)p.n);
		for (int32_t k = 0; k < r->tensors_n; k++)
			total += r->tensors[k].bytes + 2 * sizeof(wire_tensor);
	}
	if (!s && total > MOST)
		s = too_large(e, total);
	if (!s)
		s = with(o, e, join, &p, &p.status);
	for (size_t i = 0; p.results && i < n && p.results[i]; i++)
		drop(p.results[i]);
	free(p.results);
	drop(o);
	return lent_as(p.result, s, lent);
}

/* ---- videos ---- */

/* clip_in describes a clip to the module. frames is 0, or an address that the
 * module does not read. */
static wire_clip clip_in(const ip_clip *c, uint64_t frames)
{
	wire_clip w;
	memset(&w, 0, sizeof w);
	w.struct_size = sizeof w;
	w.count = c->count;
	w.fps = c->fps;
	w.duration = c->duration;
	w.frames = frames;
	return w;
}

typedef struct {
	const object *o;
	const ip_clip *clip;
	int64_t *numbers;
	uint64_t capacity, *count;
	ip_error *e;
	ip_status status;
} sampling;

static void sample(instance *x, void *arg)
{
	sampling *p = arg;
	wire_clip w = clip_in(p->clip, 0);
	uint64_t handle = bound(x, p->o->id)->handle;
	uint32_t clip = copy_in(x, &w, sizeof w), count = room(x, 8), numbers = 0;
	/* The first call is for the number. */
	p->status = (ip_status)w2c_ip_sample(&x->module, handle, clip, 0, 0, count);
	if (p->status == IP_CAPACITY) {
		memcpy(p->count, at(x, count, 8), 8);
		if (*p->count <= p->capacity)
			numbers = room(x, 8 * *p->count);
		p->status = (ip_status)w2c_ip_sample(&x->module, handle, clip, numbers, p->capacity, count);
	}
	if (p->status)
		failure(x, p->e, p->status);
	else
		memcpy(p->numbers, at(x, numbers, 8 * *p->count), 8 * (size_t)*p->count);
	finish(x);
}

ip_status ipgo_video_sample(uintptr_t h, ip_clip *clip, int64_t *numbers, uint64_t capacity, uint64_t *count, ip_error *e)
{
	object *o = get(h, KIND_VIDEO);
	if (!o)
		return closed(e, h);
	ip_status s = SIZED(e, ip_clip, clip, 1);
	sampling p = { o, clip, numbers, capacity, count, e, IP_INTERNAL };
	if (!s)
		s = with(o, e, sample, &p, &p.status);
	drop(o);
	return s;
}

typedef struct video_run {
	const object *o;
	instance *x;
	const ip_clip *clips;
	int32_t n;
	object *result;
	ip_error *e;
	ip_status status;
	ip_input frame; /* the last of which the module asked */
} video_run;

static const ip_clip *clip_of(const ip_clip *clips, int32_t i) { return (const ip_clip *)((const char *)clips + (size_t)i * clips->struct_size); }

/* asked returns the clip of which the module asks. */
static const ip_clip *asked(const ip_wasi *w, u32 clip)
{
	if (!w->video || clip >= (u32)w->video->n)
		wasm_rt_trap(WASM_RT_TRAP_UNREACHABLE);
	return clip_of(w->video->clips, (int32_t)clip);
}

/* The functions that capi/lib/video_wasm.go calls. It has checked that a clip
 * has frames, and k. */

void w2c_wasi__snapshot__preview1_ip_sizes(ip_wasi *w, u32 clip, u32 to)
{
	const ip_clip *c = asked(w, clip);
	uint32_t size = 0;
	int64_t found[3];
	found[0] = wrong(c->frames, c->count, sizeof(ip_input), sizeof(void *), &size);
	found[1] = size;
	found[2] = sizeof(ip_input);
	memcpy(at(w->video->x, to, sizeof found), found, sizeof found);
}

void w2c_wasi__snapshot__preview1_ip_frame(ip_wasi *w, u32 clip, u64 k, u32 to)
{
	const ip_clip *c = asked(w, clip);
	w->video->frame = *(const ip_input *)((const char *)c->frames + (size_t)k * c->frames->struct_size);
	wire_input in = input_in(&w->video->frame, to);
	memcpy(at(w->video->x, to, sizeof in), &in, sizeof in);
}

void w2c_wasi__snapshot__preview1_ip_data(ip_wasi *w, u32 to, u64 n)
{
	elements_in(at(w->video->x, to, n), &w->video->frame, n, 1);
}

static void run_video(instance *x, void *arg)
{
	video_run *p = arg;
	wire_reply r;
	uint64_t handle = bound(x, p->o->id)->handle;
	uint32_t list = room(x, (uint64_t)p->n * sizeof(wire_clip)), reply = room(x, sizeof r);
	for (int32_t i = 0; i < p->n; i++) {
		const ip_clip *c = clip_of(p->clips, i);
		wire_clip w = clip_in(c, c->frames ? list : 0);
		memcpy(at(x, list + (uint64_t)i * sizeof w, sizeof w), &w, sizeof w);
	}
	p->x = x;
	x->wasi.video = p;
	p->status = (ip_status)w2c_ip_runvideo(&x->module, handle, list, (u32)p->n, reply);
	x->wasi.video = NULL;
	if (p->status) {
		failure(x, p->e, p->status);
	} else {
		memcpy(&r, at(x, reply, sizeof r), sizeof r);
		p->status = lend(x, p->result, r.at, (int32_t)(r.n / sizeof(wire_output)), NULL, p->e);
	}
	finish(x);
}

ip_status ipgo_video_run(uintptr_t h, ip_clip *clips, int32_t n, uintptr_t *lent, ip_error *e)
{
	object *o = get(h, KIND_VIDEO);
	if (!o)
		return closed(e, h);
	ip_status s = SIZED(e, ip_clip, clips, n);
	if (!s && (uint64_t)n * sizeof(wire_clip) > MOST)
		s = too_large(e, (uint64_t)n * sizeof(wire_clip));
	object *r = s ? NULL : new_object(KIND_RESULT);
	video_run p = { o, NULL, clips, n, r, e, IP_INTERNAL, IP_INPUT_INIT };
	if (!s)
		s = r ? with(o, e, run_video, &p, &p.status) : no_memory(e);
	drop(o);
	return lent_as(r, s, lent);
}

ip_status ipgo_result_tensor(uintptr_t h, int32_t i, ip_tensor *to, ip_error *e)
{
	object *r = get(h, KIND_RESULT);
	if (!r)
		return closed(e, h);
	ip_status s = SIZED(e, ip_tensor, to, 1);
	if (!s && (i < 0 || i >= r->tensors_n))
		s = failf(e, IP_INPUT, "infer_prep: result: invalid argument: output %d of %d", (int)i, (int)r->tensors_n);
	if (!s) {
		uint32_t size = to->struct_size;
		*to = r->tensors[i];
		to->struct_size = size;
		to->capacity = to->bytes;
	}
	drop(r);
	return s;
}

/* ---- tokens ---- */

typedef struct {
	const object *o;
	const int64_t *sizes;
	int32_t n;
	ip_image_tokens *images;
	char *text;
	uint64_t capacity;
	uint64_t *bytes;
	ip_error *e;
	ip_status status;
} counting;

static void count_tokens(instance *x, void *arg)
{
	counting *p = arg;
	ip_image_tokens w = IP_IMAGE_TOKENS_INIT;
	uint64_t handle = bound(x, p->o->id)->handle, total = 0;
	uint32_t sizes = copy_in(x, p->sizes, 16 * (size_t)p->n), images = room(x, (uint64_t)p->n * sizeof w), bytes = room(x, 8), text = 0;
	for (int32_t i = 0; i < p->n; i++)
		memcpy(at(x, images + (uint64_t)i * sizeof w, sizeof w), &w, sizeof w);
	p->status = (ip_status)w2c_ip_images(&x->module, handle, sizes, (u32)p->n, images, 0, 0, bytes);
	memcpy(&total, at(x, bytes, 8), 8);
	if (!p->status) {
		for (int32_t i = 0; i < p->n; i++) {
			ip_image_tokens *to = (ip_image_tokens *)((char *)p->images + (size_t)i * p->images->struct_size);
			uint32_t size = to->struct_size;
			memcpy(to, at(x, images + (uint64_t)i * sizeof w, sizeof w), sizeof w);
			to->struct_size = size;
		}
		if (p->bytes)
			*p->bytes = total;
		if (p->text) {
			text = room(x, total + 1);
			p->status = (ip_status)w2c_ip_images(&x->module, handle, sizes, (u32)p->n, images, text, p->capacity, bytes);
		}
	}
	if (p->status)
		failure(x, p->e, p->status);
	else if (p->text && total)
		memcpy(p->text, at(x, text, total), (size_t)total);
	finish(x);
}

ip_status ipgo_tokens_images(uintptr_t h, int64_t *sizes, int32_t n, ip_image_tokens *images, char *text, uint64_t capacity, uint64_t *bytes, ip_error *e)
{
	object *o = get(h, KIND_TOKENS);
	if (!o)
		return closed(e, h);
	ip_status s = SIZED(e, ip_image_tokens, images, n);
	if (!s && (uint64_t)n * (16 + sizeof *images) > MOST)
		s = too_large(e, (uint64_t)n * (16 + sizeof *images));
	counting p = { o, sizes, n, images, text, capacity, bytes, e, IP_INTERNAL };
	if (!s)
		s = with(o, e, count_tokens, &p, &p.status);
	drop(o);
	return s;
}
