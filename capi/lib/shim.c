// The functions of infer_prep.h. They check what must be checked before Go
// runs: a fork of the process has no Go threads, so a call into Go may hang
// there. The form in plain C (IP_WASM2C, capi/wasm2c/host.c) has no threads.
#include "_cgo_export.h"

#include <string.h>

#ifdef IP_WASM2C
static int forked(void) { return 0; }
#elif defined(_WIN32)
#include <windows.h>

// loaded keeps the DLL in the process after FreeLibrary: Go's runtime cannot be
// unloaded.
__attribute__((constructor)) static void loaded(void)
{
	HMODULE self;
	GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, (LPCSTR)(void *)loaded, &self);
}

// Windows has no fork.
static int forked(void) { return 0; }
#else
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static pid_t owner;

// child is 1 in a fork by fork().
static volatile int child;

// mark is a page that the kernel wipes in a fork of any kind. It spares a system
// call in every function. NULL where the kernel has no such pages; emulators of
// user programs say they have, hence child.
static volatile char *mark;

static void in_child(void) { child = 1; }

#ifdef IP_MUSL
// Weak, as cgo links this file alone first.
__attribute__((weak)) void _rt0_amd64_linux_lib(int argc, char **argv);

// start starts Go with no arguments, no environment and no auxiliary vector.
static void start(void)
{
	static char *none[16];
	_rt0_amd64_linux_lib(0, none);
}
#else
static void start(void) {}
#endif

__attribute__((constructor)) static void loaded(void)
{
	start();
	owner = getpid();
	pthread_atfork(NULL, NULL, in_child);
#ifdef MADV_WIPEONFORK
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return;
	if (madvise(page, size, MADV_WIPEONFORK)) {
		munmap(page, size);
		return;
	}
	mark = page;
	*mark = 1;
#endif
}

static int forked(void) { return child || (mark ? !*mark : getpid() != owner); }
#endif

// failed writes a status and a text to *e and returns the status.
static ip_status failed(ip_error *e, ip_status status, const char *text)
{
	ipc_set_error(e, status, text, strlen(text));
	return status;
}

// begin returns IP_OK and empties *e, or an error that no call must go beyond.
static ip_status begin(ip_error *e)
{
	if (forked())
		return failed(e, IP_FORKED, "infer_prep: the process is a fork of the one that loaded the library; load it after fork, or fork before");
	return failed(e, IP_OK, "");
}

static ip_status null(ip_error *e, const char *text) { return failed(e, IP_INPUT, text); }

// NONE is a pointer to n things, NULL if there are none: the pointer may then be
// any number, at which Go's runtime would end the process.
#define NONE(p, n) ((n) ? (void *)(p) : NULL)

static uintptr_t id(const void *handle) { return (uintptr_t)handle; }

// ipc_set_error is in C so that it can be used in a fork, too.
void ipc_set_error(ip_error *e, ip_status status, const char *text, size_t n)
{
	const size_t head = offsetof(ip_error, message);
	if (!e || e->struct_size < head + 4)
		return;
	size_t room = e->struct_size - head - 1;
	e->status = status;
	if (n <= room) {
		memcpy(e->message, text, n);
		e->message[n] = 0;
		return;
	}
	n = room - 3;
	while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) // within a rune
		n--;
	memcpy(e->message, text, n);
	memcpy(e->message + n, "...", 4);
}

uint32_t ip_api_version(void) { return IP_API_VERSION; }

const char *ip_version(void) { return IP_VERSION; }

const char *ip_status_name(ip_status status)
{
	static const char *const names[] = {
		"IP_OK", "IP_INTERNAL", "IP_FORMAT", "IP_UNSUPPORTED", "IP_LIMIT", "IP_GRAPH", "IP_UNKNOWN_OP",
		"IP_PARAM", "IP_INPUT", "IP_CAPACITY", "IP_FORKED", "IP_HANDLE", "IP_IO",
	};
	return names[status >= 0 && (size_t)status < sizeof names / sizeof *names ? status : IP_INTERNAL];
}

char *ipc_capabilities;

ip_status ip_capabilities(const char **json, ip_error *e)
{
	ip_status s = begin(e);
	if (json)
		*json = NULL;
	if (s)
		return s;
	if (!json)
		return null(e, "infer_prep: capabilities: json is NULL");
	char *text = NULL;
	s = ipgo_capabilities(&text, e);
	*json = text;
	return s;
}

ip_status ip_graph_open(const void *data, size_t n, const ip_options *options, ip_graph **graph, ip_error *e)
{
	ip_status s = begin(e);
	if (graph)
		*graph = NULL;
	if (s)
		return s;
	if (!graph || (!data && n))
		return null(e, "infer_prep: open: data or graph is NULL");
	uintptr_t handle = 0;
	s = ipgo_graph_open(NULL, NONE(data, n), n, (ip_options *)options, &handle, e);
	*graph = (ip_graph *)handle;
	return s;
}

ip_status ip_graph_open_name(const char *name, const ip_options *options, ip_graph **graph, ip_error *e)
{
	ip_status s = begin(e);
	if (graph)
		*graph = NULL;
	if (s)
		return s;
	if (!graph || !name)
		return null(e, "infer_prep: open: name or graph is NULL");
	uintptr_t handle = 0;
	s = ipgo_graph_open((char *)name, NULL, 0, (ip_options *)options, &handle, e);
	*graph = (ip_graph *)handle;
	return s;
}

static ip_status release(const void *handle, int32_t kind)
{
	if (!handle)
		return IP_OK;
	return forked() ? IP_FORKED : ipgo_free(id(handle), kind);
}

ip_status ip_graph_free(ip_graph *graph) { return release(graph, 0); }

ip_status ip_result_free(ip_result *result) { return release(result, 1); }

ip_status ip_tokens_free(ip_tokens *tokens) { return release(tokens, 2); }

ip_status ip_video_free(ip_video *video) { return release(video, 3); }

int32_t ip_graph_count(const ip_graph *graph, int32_t list)
{
	return forked() ? -1 : ipgo_graph_count(id(graph), list);
}

int32_t ip_graph_find(const ip_graph *graph, int32_t list, const char *name)
{
	return forked() || !name ? -1 : ipgo_graph_find(id(graph), list, (char *)name);
}

ip_status ip_graph_describe(const ip_graph *graph, int32_t list, int32_t i, ip_column *column, ip_error *e)
{
	ip_status s = begin(e);
	if (s)
		return s;
	if (!column)
		return null(e, "infer_prep: describe: column is NULL");
	return ipgo_graph_describe(id(graph), list, i, column, e);
}

ip_status ip_graph_sizes(const ip_graph *graph, int64_t height, int64_t width, ip_column *columns, int32_t n, ip_error *e)
{
	ip_status s = begin(e);
	if (s)
		return s;
	if (!columns && n)
		return null(e, "infer_prep: sizes: columns is NULL");
	return ipgo_graph_sizes(id(graph), height, width, NONE(columns, n), n, e);
}

ip_status ip_probe(const void *image, size_t n, ip_image_info *info, ip_error *e)
{
	ip_status s = begin(e);
	if (s)
		return s;
	if (!info || (!image && n))
		return null(e, "infer_prep: probe: image or info is NULL");
	return ipgo_probe(NONE(image, n), n, info, e);
}

ip_status ip_run_into(const ip_graph *graph, const ip_input *in, int32_t nin, ip_tensor *out, int32_t nout, ip_error *e)
{
	ip_status s = begin(e);
	if (s)
		return s;
	if ((!in && nin) || (!out && nout))
		return null(e, "infer_prep: run: in or out is NULL");
	return ipgo_run_into(id(graph), NONE(in, nin), nin, NONE(out, nout), nout, e);
}

// batch is the state of ip_run_batch.
typedef struct {
	const ip_graph *graph;
	const char *in;
	char *out;
	int32_t nin, nout;
	size_t in_step, out_step; // bytes from an image to the next
	ip_status *each;
	ip_error *e;
	size_t done;   // images, counted atomically
	char lock;     // of the members below
	size_t first;  // that failed; the number of images if none did
	ip_status why; // it failed
} batch;

static void batch_body(void *context, size_t i)
{
	batch *b = context;
	ip_error e = IP_ERROR_INIT;
	ip_status s = ip_run_into(b->graph, (const ip_input *)(b->in + i * b->in_step), b->nin, (ip_tensor *)(b->out + i * b->out_step), b->nout, &e);
	if (b->each)
		b->each[i] = s;
	if (s) {
		while (__atomic_test_and_set(&b->lock, __ATOMIC_ACQUIRE))
			;
		if (i < b->first) {
			b->first = i;
			b->why = s;
			ipc_set_error(b->e, s, e.message, strlen(e.message));
		}
		__atomic_clear(&b->lock, __ATOMIC_RELEASE);
	}
	__atomic_add_fetch(&b->done, 1, __ATOMIC_RELEASE);
}

ip_status ip_run_batch(const ip_graph *graph, const ip_input *in, int32_t nin, ip_tensor *out, int32_t nout, size_t n, ip_status *each, ip_parallel parallel, void *host, ip_error *e)
{
	ip_status s = begin(e);
	if (s)
		return s;
	if (nin < 0 || nout < 0)
		return failed(e, IP_INPUT, "infer_prep: run_batch: nin or nout is negative");
	if (n && ((!in && nin) || (!out && nout)))
		return null(e, "infer_prep: run_batch: in or out is NULL");
	batch b = { .graph = graph, .in = (const char *)in, .out = (char *)out, .nin = nin, .nout = nout, .each = each, .e = e, .first = n };
	if (n && nin)
		b.in_step = (size_t)in->struct_size * (size_t)nin;
	if (n && nout)
		b.out_step = (size_t)out->struct_size * (size_t)nout;
	for (size_t i = 0; each && i < n; i++)
		each[i] = IP_INPUT; // until parallel comes to it
	if (parallel && n) {
		parallel(host, n, batch_body, &b);
	} else {
		for (size_t i = 0; i < n; i++)
			batch_body(&b, i);
	}
	if (b.first < n)
		return b.why;
	if (__atomic_load_n(&b.done, __ATOMIC_ACQUIRE) != n)
		return failed(e, IP_INPUT, "infer_prep: run_batch: parallel returned before it had called body once for every image");
	return IP_OK;
}

ip_status ip_run(const ip_graph *graph, const ip_input *in, int32_t nin, ip_result **result, ip_error *e)
{
	ip_status s = begin(e);
	if (result)
		*result = NULL;
	if (s)
		return s;
	if (!result || (!in && nin))
		return null(e, "infer_prep: run: in or result is NULL");
	uintptr_t handle = 0;
	s = ipgo_run(id(graph), NONE(in, nin), nin, &handle, e);
	*result = (ip_result *)handle;
	return s;
}

ip_status ip_result_tensor(const ip_result *result, int32_t i, ip_tensor *tensor, ip_error *e)
{
	ip_status s = begin(e);
	if (s)
		return s;
	if (!tensor)
		return null(e, "infer_prep: result: tensor is NULL");
	return ipgo_result_tensor(id(result), i, tensor, e);
}

int32_t ip_result_count(const ip_result *result) { return forked() ? -1 : ipgo_result_count(id(result)); }

ip_status ip_result_describe(const ip_result *result, int32_t i, ip_column *column, ip_error *e)
{
	ip_status s = begin(e);
	if (s)
		return s;
	if (!column)
		return null(e, "infer_prep: result: column is NULL");
	return ipgo_result_describe(id(result), i, column, e);
}

ip_status ip_collate(const ip_graph *graph, const ip_result *const *results, size_t n, ip_result **joined, ip_error *e)
{
	ip_status s = begin(e);
	if (joined)
		*joined = NULL;
	if (s)
		return s;
	if (!joined || (!results && n))
		return null(e, "infer_prep: collate: results or batch is NULL");
	uintptr_t handle = 0;
	s = ipgo_collate(id(graph), NONE(results, n), n, &handle, e);
	*joined = (ip_result *)handle;
	return s;
}

ip_status ip_video_open(const void *data, size_t n, const ip_options *options, ip_video **video, ip_error *e)
{
	ip_status s = begin(e);
	if (video)
		*video = NULL;
	if (s)
		return s;
	if (!video || (!data && n))
		return null(e, "infer_prep: video: data or video is NULL");
	uintptr_t handle = 0;
	s = ipgo_video_open(NULL, NONE(data, n), n, (ip_options *)options, &handle, e);
	*video = (ip_video *)handle;
	return s;
}

ip_status ip_video_open_name(const char *name, const ip_options *options, ip_video **video, ip_error *e)
{
	ip_status s = begin(e);
	if (video)
		*video = NULL;
	if (s)
		return s;
	if (!video || !name)
		return null(e, "infer_prep: video: name or video is NULL");
	uintptr_t handle = 0;
	s = ipgo_video_open((char *)name, NULL, 0, (ip_options *)options, &handle, e);
	*video = (ip_video *)handle;
	return s;
}

ip_status ip_video_sample(const ip_video *video, const ip_clip *clip, int64_t *numbers, uint64_t capacity, uint64_t *count, ip_error *e)
{
	ip_status s = begin(e);
	if (count)
		*count = 0;
	if (s)
		return s;
	if (!clip || !count || (!numbers && capacity))
		return null(e, "infer_prep: video: clip, numbers or count is NULL");
	return ipgo_video_sample(id(video), (ip_clip *)clip, NONE(numbers, capacity), capacity, count, e);
}

ip_status ip_video_run(const ip_video *video, const ip_clip *clips, int32_t n, ip_result **result, ip_error *e)
{
	ip_status s = begin(e);
	if (result)
		*result = NULL;
	if (s)
		return s;
	if (!result || (!clips && n))
		return null(e, "infer_prep: video: clips or result is NULL");
	uintptr_t handle = 0;
	s = ipgo_video_run(id(video), NONE(clips, n), n, &handle, e);
	*result = (ip_result *)handle;
	return s;
}

ip_status ip_tokens_open(const char *folder, ip_tokens **tokens, ip_error *e)
{
	ip_status s = begin(e);
	if (tokens)
		*tokens = NULL;
	if (s)
		return s;
	if (!tokens || !folder)
		return null(e, "infer_prep: tokens: folder or tokens is NULL");
	uintptr_t handle = 0;
	s = ipgo_tokens_open((char *)folder, NULL, &handle, e);
	*tokens = (ip_tokens *)handle;
	return s;
}

ip_status ip_tokens_open_files(const ip_token_files *files, ip_tokens **tokens, ip_error *e)
{
	ip_status s = begin(e);
	if (tokens)
		*tokens = NULL;
	if (s)
		return s;
	if (!tokens || !files)
		return null(e, "infer_prep: tokens: files or tokens is NULL");
	uintptr_t handle = 0;
	s = ipgo_tokens_open(NULL, (ip_token_files *)files, &handle, e);
	*tokens = (ip_tokens *)handle;
	return s;
}

ip_status ip_tokens_images(const ip_tokens *tokens, const int64_t *sizes, int32_t n, ip_image_tokens *images, char *text, uint64_t capacity, uint64_t *text_bytes, ip_error *e)
{
	ip_status s = begin(e);
	if (s)
		return s;
	if (n < 0 || (n && (!sizes || !images)) || (!text && capacity))
		return failed(e, IP_INPUT, "infer_prep: tokens: n is negative, or sizes, images or text is NULL");
	static char none;
	if (text && !capacity)
		text = &none;
	return ipgo_tokens_images(id(tokens), NONE(sizes, n), n, NONE(images, n), text, capacity, text_bytes, e);
}
