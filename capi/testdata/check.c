/* check.c: the tests of the C library. check MODE ARGUMENTS exits with 0 if the
 * checks of a mode hold. lib_test.go runs every mode. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#define __USE_MINGW_ANSI_STDIO 1 /* C99's printf on Windows */
#include "infer_prep.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef _WIN32
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#define CHECK(x)                                                              \
	do {                                                                  \
		if (!(x)) {                                                   \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
			exit(1);                                              \
		}                                                             \
	} while (0)

/* OK checks that a call that was given e succeeds. */
#define OK(x)                                                                             \
	do {                                                                              \
		ip_status s_ = (x);                                                       \
		if (s_ != IP_OK || e.status != IP_OK || e.message[0]) {                   \
			fprintf(stderr, "%s:%d: %s: %s: %s\n", __FILE__, __LINE__, #x, ip_status_name(s_), e.message); \
			exit(1);                                                          \
		}                                                                         \
	} while (0)

/* FAILS checks that a call that was given e fails with a status and a text. */
#define FAILS(status_, text, x)                                                           \
	do {                                                                              \
		ip_status s_ = (x);                                                       \
		if (s_ != (status_) || e.status != (status_) || !strstr(e.message, text)) { \
			fprintf(stderr, "%s:%d: %s: want %s: %s, got %s: %s\n", __FILE__, __LINE__, #x, \
				ip_status_name(status_), text, ip_status_name(s_), e.message); \
			exit(1);                                                          \
		}                                                                         \
	} while (0)

static ip_error e = IP_ERROR_INIT;

typedef struct {
	void *data;
	size_t n;
} file;

static file read_file(const char *name)
{
	file f = { NULL, 0 };
	FILE *in = fopen(name, "rb");
	if (!in) {
		perror(name);
		exit(1);
	}
	fseek(in, 0, SEEK_END);
	f.n = (size_t)ftell(in);
	rewind(in);
	f.data = malloc(f.n + 1);
	CHECK(f.data && fread(f.data, 1, f.n, in) == f.n);
	((char *)f.data)[f.n] = 0;
	fclose(in);
	return f;
}

static uint64_t fnv(const void *data, uint64_t n)
{
	const unsigned char *p = data;
	uint64_t h = 14695981039346656037u;
	for (uint64_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 1099511628211u;
	return h;
}

static ip_graph *open_name(const char *name)
{
	ip_graph *g;
	OK(ip_graph_open_name(name, NULL, &g, &e));
	return g;
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* rss returns the resident memory in KB; 0 on Windows, where the modes that
 * look at it only run. */
static long rss(void)
{
#ifdef _WIN32
	return 0;
#else
	long n = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	CHECK(f && fscanf(f, "%*d %ld", &n) == 1);
	fclose(f);
	return n * (sysconf(_SC_PAGESIZE) / 1024);
#endif
}

static void print_tensor(const char *name, const ip_tensor *t)
{
	printf("%s %d %d", name, (int)t->dtype, (int)t->layout);
	for (int32_t i = 0; i < t->rank; i++)
		printf(" %" PRId64, t->shape[i]);
	printf(" %016" PRIx64 "\n", fnv(t->data, t->bytes));
}

/* What the message of a missing file has. Windows has words of its own. */
#ifdef _WIN32
#define NO_FILE "nonexistent"
#else
#define NO_FILE "o such file" /* or "No" */
#endif

#define MAX_OUT 32

/* digest FORMAT GRAPH IMAGE...: prints the digests of all outputs, from ip_run
 * and, which must be equal, from ip_run_into. */
static void digest(int argc, char **argv)
{
	ip_options o = IP_OPTIONS_INIT;
	ip_graph *g;
	o.format = argv[0];
	OK(ip_graph_open_name(argv[1], &o, &g, &e));
	int32_t n = ip_graph_count(g, IP_OUTPUTS);
	CHECK(n > 0 && n <= MAX_OUT && ip_graph_count(g, IP_INPUTS) == 1);
	for (int i = 2; i < argc; i++) {
		file f = read_file(argv[i]);
		ip_input in = ip_encoded(f.data, f.n);
		ip_result *r;
		ip_status s = ip_run(g, &in, 1, &r, &e);
		if (s != IP_OK) {
			printf("error %s\n", e.message);
			CHECK(r == NULL && e.status == s);
			/* Memory that is large enough changes nothing. */
			ip_error lent_error = e;
			ip_tensor large[MAX_OUT];
			for (int32_t j = 0; j < n; j++) {
				ip_tensor zero = IP_TENSOR_INIT;
				large[j] = zero;
				large[j].capacity = 64 << 20;
				large[j].data = malloc(large[j].capacity);
				CHECK(large[j].data);
			}
			CHECK(ip_run_into(g, &in, 1, large, n, &e) == s && !strcmp(e.message, lent_error.message));
			for (int32_t j = 0; j < n; j++)
				free(large[j].data);
			free(f.data);
			continue;
		}
		ip_tensor lent[MAX_OUT], out[MAX_OUT];
		int needed = 0;
		for (int32_t j = 0; j < n; j++) {
			ip_column c = IP_COLUMN_INIT;
			ip_tensor zero = IP_TENSOR_INIT;
			lent[j] = out[j] = zero;
			OK(ip_graph_describe(g, IP_OUTPUTS, j, &c, &e));
			CHECK(ip_graph_find(g, IP_OUTPUTS, c.name) == j);
			OK(ip_result_tensor(r, j, &lent[j], &e));
			print_tensor(c.name, &lent[j]);
			CHECK(c.dtype == lent[j].dtype && (c.bytes == IP_UNKNOWN || (uint64_t)c.bytes == lent[j].bytes));
			needed |= lent[j].bytes > 0;
		}
		if (needed)
			FAILS(IP_CAPACITY, "bytes, its memory has 0", ip_run_into(g, &in, 1, out, n, &e));
		for (int32_t j = 0; j < n; j++) {
			CHECK(!needed || out[j].bytes == lent[j].bytes);
			out[j].capacity = lent[j].bytes;
			out[j].data = malloc(lent[j].bytes + 1);
			CHECK(out[j].data);
			((unsigned char *)out[j].data)[lent[j].bytes] = 0xa5;
		}
		OK(ip_run_into(g, &in, 1, out, n, &e));
		for (int32_t j = 0; j < n; j++) {
			CHECK(out[j].bytes == lent[j].bytes && out[j].rank == lent[j].rank && out[j].layout == lent[j].layout);
			CHECK(!memcmp(out[j].shape, lent[j].shape, sizeof out[j].shape));
			CHECK(!out[j].bytes || !memcmp(out[j].data, lent[j].data, out[j].bytes));
			CHECK(((unsigned char *)out[j].data)[out[j].bytes] == 0xa5);
			free(out[j].data);
		}
		CHECK(ip_result_free(r) == IP_OK);
		free(f.data);
	}
	CHECK(ip_graph_free(g) == IP_OK);
}

/* api IMAGE: literal cases of every function. */
static void api(const char *image)
{
	file f = read_file(image);
	ip_graph *g = open_name("preset:imagenet"), *none = g;
	const char *json;

	CHECK(ip_api_version() == IP_API_VERSION && !strcmp(ip_version(), IP_VERSION));
	CHECK(!strcmp(ip_status_name(IP_CAPACITY), "IP_CAPACITY") && !strcmp(ip_status_name(99), "IP_INTERNAL") && !strcmp(ip_status_name(-1), "IP_INTERNAL"));
	OK(ip_capabilities(&json, &e));
	CHECK(!strncmp(json, "{\"build\":\"", 10) && strstr(json, "\"jpeg\"") && strstr(json, "\"resize\"") && strstr(json, "\"hf\"") && strstr(json, "\"imagenet\""));

	ip_column c = IP_COLUMN_INIT;
	OK(ip_graph_describe(g, IP_OUTPUTS, 0, &c, &e));
	CHECK(!strcmp(c.name, "image") && c.dtype == IP_FLOAT32 && c.layout == IP_CHW && c.rank == 3);
	CHECK(c.shape[0] == 3 && c.shape[1] == 224 && c.shape[2] == 224 && c.shape[3] == 0 && c.bytes == 602112 && c.batch == IP_STACK && !c.side);
	OK(ip_graph_describe(g, IP_INPUTS, 0, &c, &e));
	CHECK(c.dtype == IP_BYTES && c.bytes == IP_UNKNOWN);
	FAILS(IP_INPUT, "column 1 of list 1, which has 1", ip_graph_describe(g, IP_OUTPUTS, 1, &c, &e));
	FAILS(IP_INPUT, "column 0 of list 7", ip_graph_describe(g, 7, 0, &c, &e));
	c.struct_size--;
	FAILS(IP_INPUT, "struct_size of ip_column 0 is", ip_graph_describe(g, IP_OUTPUTS, 0, &c, &e));
	c.struct_size++;
	CHECK(ip_graph_find(g, IP_OUTPUTS, "image") == 0 && ip_graph_find(g, IP_OUTPUTS, "x") == -1 && ip_graph_find(g, 7, "image") == -1);

	ip_image_info info = IP_IMAGE_INFO_INIT;
	OK(ip_probe(f.data, f.n, &info, &e));
	CHECK(!strcmp(info.format, "jpeg") && !strcmp(info.mode, "RGB") && info.width == 420 && info.height == 310);
	CHECK(info.depth == 8 && info.orientation == 1 && info.frames == 1 && !info.has_alpha);
	FAILS(IP_FORMAT, "unknown format", ip_probe("nothing", 7, &info, &e));
	FAILS(IP_FORMAT, "jpeg", ip_probe(f.data, 20, &info, &e));

	ip_graph *d = open_name("preset:decode");
	OK(ip_graph_sizes(d, 310, 420, &c, 1, &e));
	CHECK(c.shape[0] == 310 && c.shape[1] == 420 && c.shape[2] == 3 && c.bytes == 390600);
	FAILS(IP_INPUT, "0 x 420 pixels", ip_graph_sizes(d, 0, 420, &c, 1, &e));
	FAILS(IP_INPUT, "2 columns, the graph has 1", ip_graph_sizes(d, 310, 420, (ip_column[]){ c, c }, 2, &e));

	/* The decoded pixels as input, in four forms, have the bytes of the file. */
	ip_input in = ip_encoded(f.data, f.n);
	ip_tensor t = IP_TENSOR_INIT, u = IP_TENSOR_INIT;
	FAILS(IP_CAPACITY, "390600 bytes, its memory has 0", ip_run_into(d, &in, 1, &t, 1, &e));
	CHECK(t.bytes == 390600 && t.shape[0] == 310);
	t.capacity = t.bytes - 1;
	t.data = malloc(t.bytes);
	FAILS(IP_CAPACITY, "390600 bytes, its memory has 390599", ip_run_into(d, &in, 1, &t, 1, &e));
	t.capacity = t.bytes;
	OK(ip_run_into(d, &in, 1, &t, 1, &e));
	u.capacity = 602112;
	u.data = malloc(u.capacity);
	OK(ip_run_into(g, &in, 1, &u, 1, &e));
	const uint64_t want = fnv(u.data, u.bytes);
	const unsigned char *p = t.data;
	unsigned char *planes = malloc(390600), *padded = malloc(310 * 2000);
	for (int i = 0; i < 310 * 420; i++)
		for (int k = 0; k < 3; k++)
			planes[k * 310 * 420 + i] = p[3 * i + k];
	for (int y = 0; y < 310; y++)
		memcpy(padded + (309 - y) * 2000, p + y * 1260, 1260);
	ip_input forms[5];
	forms[0] = ip_pixels(p, IP_HWC, 310, 420, 3);
	forms[1] = ip_pixels(planes, IP_CHW, 310, 420, 3);
	forms[1].bytes = 390600;
	forms[2] = ip_pixels(padded + 309 * 2000, IP_HWC, 310, 420, 3); /* bottom up */
	forms[2].strides[0] = -2000;
	forms[2].strides[1] = 3;
	forms[2].strides[2] = 1;
	forms[3] = in;
	forms[4] = in;
	for (int i = 0; i < 4; i++) {
		memset(u.data, 0, u.capacity);
		OK(ip_run_into(g, &forms[i], 1, &u, 1, &e));
		CHECK(fnv(u.data, u.bytes) == want);
	}
	forms[4] = forms[1];
	forms[4].bytes--;
	FAILS(IP_INPUT, "outside of 390599 bytes", ip_run_into(g, &forms[4], 1, &u, 1, &e));
	forms[4] = ip_pixels(p, IP_HWC, 310, 420, 5);
	FAILS(IP_INPUT, "want an encoded image, or uint8", ip_run_into(g, &forms[4], 1, &u, 1, &e));
	forms[4] = ip_pixels(p, IP_HWC, -310, 420, 3);
	FAILS(IP_INPUT, "size of -310", ip_run_into(g, &forms[4], 1, &u, 1, &e));
	forms[4] = ip_pixels(NULL, IP_HWC, 310, 420, 3);
	FAILS(IP_INPUT, "data is NULL", ip_run_into(g, &forms[4], 1, &u, 1, &e));
	forms[4].rank = 99;
	FAILS(IP_INPUT, "rank 99", ip_run_into(g, &forms[4], 1, &u, 1, &e));

	/* Memory that is not aligned, and a side output that is left out. */
	char *odd = malloc(602112 + 1);
	ip_tensor v = u;
	v.data = odd + 1;
	OK(ip_run_into(g, &in, 1, &v, 1, &e));
	CHECK(fnv(v.data, v.bytes) == want);
	free(odd);
	ip_graph *yolo = open_name("preset:yolo");
	CHECK(ip_graph_count(yolo, IP_OUTPUTS) > 1);
	OK(ip_graph_describe(yolo, IP_OUTPUTS, 1, &c, &e));
	CHECK(c.side == 1);
	ip_tensor y = IP_TENSOR_INIT;
	y.capacity = 3 * 640 * 640 * 4;
	y.data = malloc(y.capacity);
	OK(ip_run_into(yolo, &in, 1, &y, 1, &e));
	CHECK(y.bytes == y.capacity);
	free(y.data);
	OK((e.status = ip_graph_free(yolo)));

	/* Bad images, inputs and numbers of them. */
	ip_input bad = ip_encoded(f.data, 1000);
	FAILS(IP_FORMAT, "jpeg", ip_run_into(g, &bad, 1, &u, 1, &e));
	bad = ip_encoded("", 0);
	FAILS(IP_FORMAT, "empty input", ip_run_into(g, &bad, 1, &u, 1, &e));
	bad = ip_encoded((void *)1, 0); /* as an empty slice in Rust */
	ip_result *never;
	ip_graph *neither;
	FAILS(IP_FORMAT, "", ip_run(g, &bad, 1, &never, &e));
	FAILS(IP_INPUT, "", ip_run(g, (const ip_input *)8, 0, &never, &e));
	FAILS(IP_FORMAT, "", ip_graph_open((void *)1, 0, NULL, &neither, &e));
	bad = ip_encoded(NULL, 5);
	FAILS(IP_INPUT, "5 bytes at", ip_run_into(g, &bad, 1, &u, 1, &e));
	FAILS(IP_INPUT, "0 inputs, the graph has 1", ip_run_into(g, &in, 0, &u, 1, &e));
	FAILS(IP_INPUT, "-1 structs", ip_run_into(g, &in, -1, &u, 1, &e));
	FAILS(IP_INPUT, "is NULL", ip_run_into(g, NULL, 1, &u, 1, &e));
	FAILS(IP_INPUT, "memory for 2 outputs, the graph has 1", ip_run_into(g, &in, 1, (ip_tensor[]){ u, u }, 2, &e));
	bad = in;
	bad.struct_size = 0;
	FAILS(IP_INPUT, "struct_size of ip_input 0 is 0", ip_run_into(g, &bad, 1, &u, 1, &e));

	/* A struct of a later version, and messages without room. */
	struct {
		ip_tensor t;
		int64_t later[3];
	} big = { u, { 1, 2, 3 } };
	big.t.struct_size = sizeof big;
	OK(ip_run_into(g, &in, 1, &big.t, 1, &e));
	CHECK(fnv(big.t.data, big.t.bytes) == want && big.later[2] == 3);
	CHECK(ip_run_into(g, &bad, 1, &u, 1, NULL) == IP_INPUT);
	ip_error small = IP_ERROR_INIT;
	small.struct_size = 8 + 12;
	small.message[12] = 'x';
	CHECK(ip_run_into(g, &bad, 1, &u, 1, &small) == IP_INPUT && !strcmp(small.message, "infer_pr...") && small.message[12] == 'x');
	small.struct_size = 8;
	small.message[0] = 'x';
	CHECK(ip_run_into(g, &bad, 1, &u, 1, &small) == IP_INPUT && small.message[0] == 'x');

	/* Opening: options, limits, and every kind of error. */
	ip_options o = IP_OPTIONS_INIT;
	ip_graph *l;
	o.max_pixels = 1000;
	OK(ip_graph_open_name("preset:imagenet", &o, &l, &e));
	FAILS(IP_LIMIT, "420x310", ip_run_into(l, &in, 1, &u, 1, &e));
	CHECK(ip_graph_free(l) == IP_OK);
	o.backend = "pil";
	FAILS(IP_PARAM, "a preset has no backends", ip_graph_open_name("preset:imagenet", &o, &l, &e));
	CHECK(l == NULL);
	o.backend = NULL;
	o.format = "nothing";
	FAILS(IP_PARAM, "nothing", ip_graph_open("{}", 2, &o, &l, &e));
	o.format = "hf";
	FAILS(IP_UNSUPPORTED, "class", ip_graph_open("{}", 2, &o, &l, &e));
	const char *clip = "{\"image_processor_type\": \"CLIPImageProcessor\", \"color\": 1}";
	FAILS(IP_PARAM, "color", ip_graph_open(clip, strlen(clip), NULL, &l, &e));
	const char *keys[] = { "color" };
	o.ignored = 1;
	FAILS(IP_INPUT, "1 ignored keys at", ip_graph_open(clip, strlen(clip), &o, &l, &e));
	o.ignored_keys = keys;
	OK(ip_graph_open(clip, strlen(clip), &o, &l, &e));
	CHECK(ip_graph_find(l, IP_OUTPUTS, "pixel_values") == 0 && ip_graph_free(l) == IP_OK);
	o.struct_size = 4;
	FAILS(IP_INPUT, "struct_size of ip_options", ip_graph_open(clip, strlen(clip), &o, &l, &e));
	FAILS(IP_FORMAT, "unknown format", ip_graph_open("nothing", 7, NULL, &l, &e));
	FAILS(IP_FORMAT, "unknown format", ip_graph_open("", 0, NULL, &l, &e));
	FAILS(IP_IO, NO_FILE, ip_graph_open_name("/nonexistent/x.json", NULL, &l, &e));
	FAILS(IP_PARAM, "did you mean", ip_graph_open_name("preset:imagenett", NULL, &l, &e));
	FAILS(IP_INPUT, "is NULL", ip_graph_open_name(NULL, NULL, &l, &e));
	FAILS(IP_INPUT, "is NULL", ip_graph_open_name("preset:clip", NULL, NULL, &e));
	const char *op = "{\"infer_prep_graph\":1,\"inputs\":[{\"name\":\"image\",\"dtype\":\"bytes\",\"layout\":\"none\",\"shape\":[]}],"
		"\"steps\":[{\"op\":\"reszie\",\"version\":1,\"in\":[\"image\"],\"out\":[\"image\"],\"params\":{}}],\"outputs\":[\"image\"]}";
	o = (ip_options)IP_OPTIONS_INIT;
	o.format = "graph";
	FAILS(IP_UNKNOWN_OP, "reszie", ip_graph_open(op, strlen(op), &o, &l, &e));
	FAILS(IP_GRAPH, "", ip_graph_open("{", 1, &o, &l, &e));

	/* A graph whose inputs are no images. */
	const char *two = "{\"infer_prep_graph\":1,\"inputs\":[{\"name\":\"a\",\"dtype\":\"float32\",\"layout\":\"none\",\"shape\":[2]},"
		"{\"name\":\"b\",\"dtype\":\"bytes\",\"layout\":\"none\",\"shape\":[]}],\"steps\":[],\"outputs\":[\"a\",\"b\"]}";
	const float values[] = { 1.5f, -2 };
	float copied[2];
	char letters[8] = "";
	ip_input ab[2] = { IP_INPUT_INIT, ip_encoded("text", 4) };
	ip_tensor to[2] = { IP_TENSOR_INIT, IP_TENSOR_INIT };
	OK(ip_graph_open(two, strlen(two), NULL, &l, &e));
	CHECK(ip_graph_count(l, IP_INPUTS) == 2 && ip_graph_find(l, IP_INPUTS, "b") == 1);
	ab[0].dtype = IP_FLOAT32;
	ab[0].rank = 1;
	ab[0].shape[0] = 2;
	ab[0].data = values;
	to[0].data = copied;
	to[0].capacity = sizeof copied;
	FAILS(IP_CAPACITY, "\"b\" has 4 bytes, its memory has 0", ip_run_into(l, ab, 2, to, 2, &e));
	CHECK(to[0].bytes == 8 && to[1].bytes == 4 && to[1].dtype == IP_BYTES && to[1].rank == 1 && to[1].shape[0] == 4);
	to[1].bytes = 9;
	FAILS(IP_CAPACITY, "\"a\" has 8 bytes, its memory has 7", ip_run_into(l, ab, 2, (to[0].capacity = 7, to), 1, &e));
	CHECK(to[1].bytes == 9);
	to[0].capacity = 8;
	to[1].data = letters;
	to[1].capacity = sizeof letters;
	OK(ip_run_into(l, ab, 2, to, 2, &e));
	CHECK(!memcmp(copied, values, sizeof values) && to[0].bytes == 8 && !strcmp(letters, "text") && to[1].bytes == 4);
	ab[0].strides[0] = 8;
	FAILS(IP_UNSUPPORTED, "stride 8 of axis 0, want 4", ip_run_into(l, ab, 2, to, 2, &e));
	ab[0].strides[0] = 4;
	ab[0].bytes = 7;
	FAILS(IP_INPUT, "7 bytes", ip_run_into(l, ab, 2, to, 2, &e));
	ab[0].bytes = 8;
	ab[0].shape[0] = 1;
	FAILS(IP_INPUT, "", ip_run_into(l, ab, 2, to, 2, &e));
	CHECK(ip_graph_free(l) == IP_OK);

	/* Results, handles, and what follows the end of a graph. */
	ip_result *r;
	OK(ip_run(g, &in, 1, &r, &e));
	OK(ip_graph_free(g) ? IP_INTERNAL : IP_OK);
	ip_tensor w = IP_TENSOR_INIT;
	OK(ip_result_tensor(r, 0, &w, &e));
	CHECK(w.bytes == 602112 && w.capacity == w.bytes && fnv(w.data, w.bytes) == want);
	FAILS(IP_INPUT, "output 1 of 1", ip_result_tensor(r, 1, &w, &e));
	CHECK(ip_tokens_free((ip_tokens *)(void *)r) == IP_HANDLE && ip_graph_free((ip_graph *)(void *)r) == IP_HANDLE);
	CHECK(ip_result_free(r) == IP_OK && ip_result_free(r) == IP_HANDLE && ip_result_free(NULL) == IP_OK);
	FAILS(IP_HANDLE, "closed", ip_result_tensor(r, 0, &w, &e));
	CHECK(ip_graph_free(none) == IP_HANDLE && ip_graph_free(NULL) == IP_OK);
	FAILS(IP_HANDLE, "closed", ip_run_into(none, &in, 1, &u, 1, &e));
	FAILS(IP_HANDLE, "", ip_run_into(NULL, &in, 1, &u, 1, &e));
	FAILS(IP_HANDLE, "", ip_run_into((ip_graph *)(void *)&e, &in, 1, &u, 1, &e));
	FAILS(IP_HANDLE, "", ip_run(none, &in, 1, &r, &e));
	FAILS(IP_HANDLE, "", ip_graph_describe(none, IP_OUTPUTS, 0, &c, &e));
	FAILS(IP_HANDLE, "", ip_graph_sizes(none, 1, 1, &c, 1, &e));
	CHECK(ip_graph_count(none, IP_OUTPUTS) == -1 && ip_graph_count(d, 7) == -1 && ip_graph_find(none, IP_OUTPUTS, "image") == -1);

	/* Tokens. */
	ip_tokens *k;
	ip_image_tokens n[2] = { IP_IMAGE_TOKENS_INIT, IP_IMAGE_TOKENS_INIT };
	const int64_t sizes[] = { 56, 56, 1080, 1920 };
	char texts[100000];
	uint64_t bytes;
	FAILS(IP_IO, NO_FILE, ip_tokens_open("/nonexistent", &k, &e));
	ip_token_files files = IP_TOKEN_FILES_INIT;
	const char *pairs[] = { "image_token", "<|image_pad|>" };
	files.preprocessor = "{\"image_processor_type\": \"Qwen2VLImageProcessor\", \"processor_class\": \"Qwen2VLProcessor\", "
		"\"min_pixels\": 3136, \"max_pixels\": 12845056, \"patch_size\": 14, \"merge_size\": 2}";
	files.tokens = pairs;
	files.pairs = 1;
	OK(ip_tokens_open_files(&files, &k, &e));
	OK(ip_tokens_images(k, sizes, 2, n, NULL, 0, &bytes, &e));
	CHECK(n[0].tokens == 4 && n[0].text_tokens == 4 && n[0].text_bytes == 52 && n[1].tokens == 2691);
	CHECK(bytes == n[0].text_bytes + n[1].text_bytes && n[1].text_at == n[0].text_bytes && bytes < sizeof texts);
	FAILS(IP_CAPACITY, "the texts have", ip_tokens_images(k, sizes, 2, n, texts, bytes - 1, NULL, &e));
	texts[bytes] = 'x';
	OK(ip_tokens_images(k, sizes, 2, n, texts, bytes, NULL, &e));
	CHECK(texts[bytes] == 'x');
	CHECK(!memcmp(texts, "<|image_pad|><|image_pad|>", 26));
	FAILS(IP_INPUT, "aspect ratio", ip_tokens_images(k, (const int64_t[]){ 1, 3000 }, 1, n, NULL, 0, NULL, &e));
	const int64_t zero[] = { 0, 5 };
	FAILS(IP_INPUT, "0 x 5", ip_tokens_images(k, zero, 1, n, NULL, 0, NULL, &e));
	FAILS(IP_HANDLE, "", ip_tokens_images((ip_tokens *)(void *)d, sizes, 1, n, NULL, 0, NULL, &e));
	CHECK(ip_tokens_free(k) == IP_OK && ip_tokens_free(k) == IP_HANDLE);
	CHECK(ip_graph_free(d) == IP_OK);
	free(t.data);
	free(u.data);
	free(planes);
	free(padded);
	free(f.data);
}

/* small GRAPH IMAGE CONFIG: what the small build opens, and how it refuses the
 * rest. */
static void small(const char *graph, const char *image, const char *config)
{
	file f = read_file(image), c = read_file(config), j = read_file(graph);
	ip_input in = ip_encoded(f.data, f.n);
	ip_graph *g = open_name(graph), *none;
	ip_options o = IP_OPTIONS_INIT;
	ip_result *r;
	ip_tokens *k;
	const char *json;
	OK(ip_run(g, &in, 1, &r, &e));
	CHECK(ip_result_free(r) == IP_OK && ip_graph_free(g) == IP_OK);
	OK(ip_graph_open(j.data, j.n, NULL, &g, &e));
	CHECK(ip_graph_free(g) == IP_OK);
	OK(ip_capabilities(&json, &e));
	CHECK(strstr(json, "\"importers\":[]") && strstr(json, "\"webp\"") && strstr(json, "\"letterbox\""));
	FAILS(IP_FORMAT, "this build opens graphs and presets", ip_graph_open(c.data, c.n, NULL, &none, &e));
	FAILS(IP_FORMAT, "this build opens graphs and presets", ip_graph_open_name(config, NULL, &none, &e));
	FAILS(IP_IO, NO_FILE, ip_graph_open_name("/nonexistent", NULL, &none, &e));
	o.format = "hf";
	FAILS(IP_UNSUPPORTED, "this build opens graphs and presets", ip_graph_open(c.data, c.n, &o, &none, &e));
	o.format = "graph";
	FAILS(IP_GRAPH, "", ip_graph_open(c.data, c.n, &o, &none, &e));
	o.backend = "pil";
	FAILS(IP_UNSUPPORTED, "no importers", ip_graph_open(j.data, j.n, &o, &none, &e));
	FAILS(IP_UNSUPPORTED, "no importers", ip_tokens_open("/", &k, &e));
	FAILS(IP_HANDLE, "", ip_tokens_images(NULL, NULL, 0, NULL, NULL, 0, NULL, &e));
	ip_video *v;
	ip_clip clip = IP_CLIP_INIT;
	int64_t number;
	uint64_t count;
	FAILS(IP_UNSUPPORTED, "no importers", ip_video_open("{}", 2, NULL, &v, &e));
	FAILS(IP_UNSUPPORTED, "no importers", ip_video_open_name(config, NULL, &v, &e));
	FAILS(IP_HANDLE, "", ip_video_sample(v, &clip, &number, 1, &count, &e));
	FAILS(IP_HANDLE, "", ip_video_run(v, &clip, 1, &r, &e));
	free(f.data);
	free(c.data);
	free(j.data);
}

#ifdef _WIN32
static void fork_(const char *image)
{
	fprintf(stderr, "fork %s: Windows has no fork\n", image);
	exit(2);
}
#else
/* fork_ forks and uses the library in the child. */
static void fork_(const char *image)
{
	file f = read_file(image);
	ip_input in = ip_encoded(f.data, f.n);
	ip_graph *g = open_name("preset:imagenet"), *other;
	ip_tensor t = IP_TENSOR_INIT;
	t.capacity = 602112;
	t.data = malloc(t.capacity);
	OK(ip_run_into(g, &in, 1, &t, 1, &e));
	fflush(stdout);
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		const char *json;
		ip_result *r;
		ip_column c = IP_COLUMN_INIT;
		ip_image_info info = IP_IMAGE_INFO_INIT;
		FAILS(IP_FORKED, "fork", ip_run_into(g, &in, 1, &t, 1, &e));
		FAILS(IP_FORKED, "fork", ip_run(g, &in, 1, &r, &e));
		FAILS(IP_FORKED, "fork", ip_run_batch(g, &in, 1, &t, 1, 1, NULL, NULL, NULL, &e));
		FAILS(IP_FORKED, "fork", ip_graph_open_name("preset:clip", NULL, &other, &e));
		CHECK(other == NULL);
		FAILS(IP_FORKED, "fork", ip_graph_open("{}", 2, NULL, &other, &e));
		FAILS(IP_FORKED, "fork", ip_capabilities(&json, &e));
		FAILS(IP_FORKED, "fork", ip_probe(f.data, f.n, &info, &e));
		FAILS(IP_FORKED, "fork", ip_graph_describe(g, IP_OUTPUTS, 0, &c, &e));
		FAILS(IP_FORKED, "fork", ip_graph_sizes(g, 1, 1, &c, 1, &e));
		FAILS(IP_FORKED, "fork", ip_result_tensor(NULL, 0, &t, &e));
		FAILS(IP_FORKED, "fork", ip_tokens_open("x", (ip_tokens **)&r, &e));
		CHECK(ip_graph_free(g) == IP_FORKED && ip_graph_count(g, IP_OUTPUTS) == -1 && ip_graph_find(g, IP_OUTPUTS, "image") == -1);
		CHECK(ip_api_version() == IP_API_VERSION && !strcmp(ip_version(), IP_VERSION));
		_exit(0);
	}
	int status;
	CHECK(waitpid(child, &status, 0) == child && status == 0);
#ifdef __x86_64__ /* qemu does not show the library a fork that goes past libc */
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	CHECK(child >= 0);
	if (child == 0)
		_exit(ip_run_into(g, &in, 1, &t, 1, NULL) != IP_FORKED);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
#endif
	OK(ip_run_into(g, &in, 1, &t, 1, &e));
	CHECK(ip_graph_free(g) == IP_OK);
	free(t.data);
	free(f.data);
}
#endif

typedef struct {
	ip_graph *g;
	file f;
	int calls;
	uint64_t want;
} work;

static void *call_many(void *arg);

#ifndef _WIN32
/* forks GRAPH IMAGE: uses the library, which must be the one in plain C, in
 * children of a process whose other threads use it. */
static void forks(const char *graph, const char *image)
{
	ip_options o = IP_OPTIONS_INIT;
	work w = { NULL, read_file(image), 300, 0 };
	ip_input in = ip_encoded(w.f.data, w.f.n);
	ip_result *r;
	ip_tensor l = IP_TENSOR_INIT;
	o.jobs = 4; /* all taken when the process forks */
	OK(ip_graph_open_name(graph, &o, &w.g, &e));
	OK(ip_run(w.g, &in, 1, &r, &e));
	OK(ip_result_tensor(r, 0, &l, &e));
	w.want = fnv(l.data, l.bytes);
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&t[i], NULL, call_many, &w));
	for (int i = 0; i < 20; i++) {
		fflush(stdout);
		pid_t child = fork();
		CHECK(child >= 0);
		if (child == 0) {
			ip_graph *other;
			OK(ip_graph_open_name("preset:clip", NULL, &other, &e));
			CHECK(fnv(l.data, l.bytes) == w.want && ip_result_free(r) == IP_OK);
			OK(ip_run(other, &in, 1, &r, &e));
			CHECK(ip_result_free(r) == IP_OK && ip_graph_free(other) == IP_OK);
			w.calls = 3;
			call_many(&w);
			CHECK(ip_graph_free(w.g) == IP_OK && ip_graph_free(w.g) == IP_HANDLE);
			_exit(0);
		}
		int status;
		CHECK(waitpid(child, &status, 0) == child && status == 0);
	}
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_join(t[i], NULL));
	CHECK(ip_result_free(r) == IP_OK && ip_graph_free(w.g) == IP_OK);
	free(w.f.data);
}
#endif

static void *call_many(void *arg)
{
	const work *w = arg;
	ip_error e = IP_ERROR_INIT;
	ip_input in = ip_encoded(w->f.data, w->f.n);
	ip_tensor t = IP_TENSOR_INIT;
	t.capacity = 3 * 32 * 32 * 4;
	t.data = malloc(t.capacity);
	for (int i = 0; i < w->calls; i++) {
		if (i % 8 == 7) {
			ip_result *r;
			ip_tensor l = IP_TENSOR_INIT;
			OK(ip_run(w->g, &in, 1, &r, &e));
			OK(ip_result_tensor(r, 0, &l, &e));
			CHECK(fnv(l.data, l.bytes) == w->want && ip_result_free(r) == IP_OK);
			continue;
		}
		OK(ip_run_into(w->g, &in, 1, &t, 1, &e));
		CHECK(fnv(t.data, t.bytes) == w->want);
	}
	free(t.data);
	return NULL;
}

/* threads GRAPH IMAGE CALLS: 8 threads share the calls; memory stays flat. */
static void threads(const char *graph, const char *image, int calls)
{
	work w = { open_name(graph), read_file(image), 1, 0 };
	ip_input in = ip_encoded(w.f.data, w.f.n);
	ip_result *r;
	ip_tensor l = IP_TENSOR_INIT;
	OK(ip_run(w.g, &in, 1, &r, &e));
	OK(ip_result_tensor(r, 0, &l, &e));
	CHECK(l.bytes == 3 * 32 * 32 * 4);
	w.want = fnv(l.data, l.bytes);
	CHECK(ip_result_free(r) == IP_OK);
	long before = 0;
	for (int part = 0; part < 5; part++) {
		pthread_t t[8];
		w.calls = calls / 40;
		for (int i = 0; i < 8; i++)
			CHECK(!pthread_create(&t[i], NULL, call_many, &w));
		for (int i = 0; i < 8; i++)
			CHECK(!pthread_join(t[i], NULL));
		if (part == 0)
			before = rss();
	}
	printf("%d calls in 8 threads: %ld KB after a fifth, %ld KB at the end\n", calls, before, rss());
	CHECK(rss() < before + 8000);
	CHECK(ip_graph_free(w.g) == IP_OK);
	free(w.f.data);
}

/* cycles NAME IMAGE TIMES: opens, runs and closes; memory stays flat. */
static void cycles(const char *name, const char *image, int times)
{
	file f = read_file(image);
	ip_input in = ip_encoded(f.data, f.n);
	long before = 0;
	for (int i = 0; i < times; i++) {
		ip_graph *g = open_name(name);
		ip_result *r;
		OK(ip_run(g, &in, 1, &r, &e));
		CHECK(ip_graph_free(g) == IP_OK && ip_result_free(r) == IP_OK);
		if (i == times / 5)
			before = rss();
	}
	printf("%d times opened and closed: %ld KB after a fifth, %ld KB at the end\n", times, before, rss());
	CHECK(rss() < before + 8000);
	free(f.data);
}

static uint64_t state = 1;

/* pick returns a number that is small, a power of two, negative or anything. */
static int64_t pick(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	switch (state >> 61) {
	case 0:
		return (int64_t)state;
	case 1:
		return (int64_t)(1ull << (state & 63));
	case 2:
		return -(int64_t)(state & 15);
	default:
		return (int64_t)(state & 7);
	}
}

/* garbage IMAGE TIMES: inputs, structs and handles of random numbers are errors
 * or runs. Inputs state the bytes of their memory, so nothing is read beyond. */
static void garbage(const char *image, int times)
{
	file f = read_file(image);
	ip_graph *g = open_name("preset:imagenet");
	ip_tensor t = IP_TENSOR_INIT;
	ip_column c = IP_COLUMN_INIT;
	long by[13] = { 0 };
	t.capacity = 602112;
	t.data = malloc(t.capacity);
	for (int i = 0; i < times; i++) {
		ip_input in = ip_encoded(f.data, f.n);
		if (i % 8 == 0) { /* a damaged image */
			unsigned char *p = f.data;
			size_t at = (size_t)pick() % f.n;
			unsigned char old = p[at];
			p[at] = (unsigned char)pick();
			in.bytes = i % 16 ? f.n : at;
			by[ip_run_into(g, &in, 1, &t, 1, &e)]++;
			p[at] = old;
			continue;
		}
		in.dtype = i % 4 ? IP_UINT8 : (int32_t)pick();
		in.layout = i % 4 ? 1 + i % 2 : (int32_t)pick();
		in.rank = i % 4 ? 3 : (int32_t)pick();
		for (int k = 0; k < 3 + i % 6; k++) {
			in.shape[k] = pick();
			in.strides[k] = i % 3 ? pick() : 0;
		}
		by[ip_run_into(g, &in, 1, &t, 1, &e)]++;
		ip_graph *wrong = (ip_graph *)(uintptr_t)((uint64_t)pick() | 1ull << 40);
		CHECK(ip_run_into(wrong, &in, 1, &t, 1, &e) == IP_HANDLE && ip_graph_free(wrong) == IP_HANDLE);
		CHECK(ip_tokens_free((ip_tokens *)(void *)g) == IP_HANDLE);
		(void)ip_graph_describe(g, (int32_t)pick(), (int32_t)pick(), &c, &e);
		(void)ip_graph_sizes(g, pick(), pick(), &c, (int32_t)(pick() & 1), &e);
	}
	for (int s = 0; s < 13; s++)
		if (by[s])
			printf("%s %ld ", ip_status_name(s), by[s]);
	CHECK(by[IP_OK] && by[IP_INPUT] && !by[IP_INTERNAL] && !by[IP_HANDLE]);
	CHECK(ip_graph_free(g) == IP_OK);
	free(t.data);
	free(f.data);
}

static void *until_closed(void *arg)
{
	const work *w = arg;
	ip_error e = IP_ERROR_INIT;
	ip_input in = ip_encoded(w->f.data, w->f.n);
	for (;;) {
		ip_result *r;
		ip_tensor l = IP_TENSOR_INIT;
		ip_status s = ip_run(w->g, &in, 1, &r, &e);
		if (s == IP_HANDLE)
			return NULL;
		CHECK(s == IP_OK);
		OK(ip_result_tensor(r, 0, &l, &e));
		CHECK(fnv(l.data, l.bytes) == w->want && ip_result_free(r) == IP_OK);
	}
}

/* closing GRAPH IMAGE: closes graphs that 4 threads use. */
static void closing(const char *graph, const char *image)
{
	work w = { NULL, read_file(image), 0, 0 };
	ip_input in = ip_encoded(w.f.data, w.f.n);
	for (int i = 0; i < 50; i++) {
		pthread_t t[4];
		ip_result *r;
		ip_tensor l = IP_TENSOR_INIT;
		w.g = open_name(graph);
		OK(ip_run(w.g, &in, 1, &r, &e));
		OK(ip_result_tensor(r, 0, &l, &e));
		w.want = fnv(l.data, l.bytes);
		CHECK(ip_result_free(r) == IP_OK);
		for (int k = 0; k < 4; k++)
			CHECK(!pthread_create(&t[k], NULL, until_closed, &w));
		OK(ip_run(w.g, &in, 1, &r, &e));
		CHECK(ip_graph_free(w.g) == IP_OK && ip_result_free(r) == IP_OK);
		for (int k = 0; k < 4; k++)
			CHECK(!pthread_join(t[k], NULL));
	}
	free(w.f.data);
}

static ip_status open_text(const char *config, const ip_options *o, ip_video **v) { return ip_video_open(config, strlen(config), o, v, &e); }

#ifndef _WIN32
/* exhausted LARGE HUGE GRAPH IMAGE: graphs and videos of the library in plain C
 * whose runs need more memory than the process has, and than there can be;
 * others run on. */
static void exhausted(const char *large, const char *huge, const char *graph, const char *image)
{
	file f = read_file(image);
	ip_input in = ip_encoded(f.data, f.n);
	ip_options o = IP_OPTIONS_INIT;
	ip_graph *g = open_name(graph), *l, *h;
	ip_result *r;
	struct rlimit limit;
	o.max_bytes = -1;
	OK(ip_graph_open_name(large, &o, &l, &e));
	OK(ip_graph_open_name(huge, &o, &h, &e));
	ip_video *lv, *hv;
	ip_clip clip = IP_CLIP_INIT;
	OK(open_text("{\"video_processor_type\": \"VideomtVideoProcessor\", \"size\": {\"height\": 4000, \"width\": 4000}}", &o, &lv));
	OK(open_text("{\"video_processor_type\": \"VideomtVideoProcessor\", \"size\": {\"height\": 40000, \"width\": 40000}}", &o, &hv));
	clip.count = 1;
	clip.frames = &in;
	for (int i = 0; i < 3; i++) {
		OK(ip_run(g, &in, 1, &r, &e));
		CHECK(ip_result_free(r) == IP_OK);
		FAILS(IP_LIMIT, "out of memory", ip_run(h, &in, 1, &r, &e));
		FAILS(IP_LIMIT, "out of memory", ip_video_run(hv, &clip, 1, &r, &e));
		CHECK(!getrlimit(RLIMIT_DATA, &limit));
		rlim_t before = limit.rlim_cur;
		limit.rlim_cur = (rlim_t)rss() * 1024 + ((rlim_t)100 << 20);
		CHECK(!setrlimit(RLIMIT_DATA, &limit));
		FAILS(IP_LIMIT, "out of memory", ip_run(l, &in, 1, &r, &e));
		CHECK(r == NULL);
		FAILS(IP_LIMIT, "out of memory", ip_video_run(lv, &clip, 1, &r, &e));
		limit.rlim_cur = before;
		CHECK(!setrlimit(RLIMIT_DATA, &limit));
	}
	OK(ip_run(l, &in, 1, &r, &e));
	CHECK(ip_result_free(r) == IP_OK);
	OK(ip_video_run(lv, &clip, 1, &r, &e));
	CHECK(ip_result_free(r) == IP_OK);
	CHECK(ip_graph_free(g) == IP_OK && ip_graph_free(h) == IP_OK && ip_graph_free(l) == IP_OK);
	CHECK(ip_video_free(lv) == IP_OK && ip_video_free(hv) == IP_OK);
	free(f.data);
}
#endif

typedef struct {
	size_t threads, left_out;
} host;

typedef struct {
	size_t from, to, step;
	ip_body body;
	void *context;
} part;

static void *run_part(void *arg)
{
	const part *p = arg;
	for (size_t i = p->from; i < p->to; i += p->step)
		p->body(p->context, i);
	return NULL;
}

/* parallel is a host's loop. */
static void parallel(void *arg, size_t n, ip_body body, void *context)
{
	const host *h = arg;
	pthread_t t[8];
	part p[8];
	CHECK(h->threads <= 8);
	for (size_t i = 0; i < h->threads; i++) {
		p[i] = (part){ i, n - h->left_out, h->threads, body, context };
		CHECK(!pthread_create(&t[i], NULL, run_part, &p[i]));
	}
	for (size_t i = 0; i < h->threads; i++)
		CHECK(!pthread_join(t[i], NULL));
}

#define IMAGES 12

/* batch IMAGE: batches in series and in the host's threads. */
static void batch(const char *image)
{
	file f = read_file(image);
	ip_graph *g = open_name("preset:imagenet");
	ip_input in[IMAGES];
	ip_tensor out[IMAGES];
	ip_status each[IMAGES];
	char *memory = malloc((size_t)IMAGES * 602112);
	uint64_t want = 0;
	for (int threads = 0; threads <= 8; threads += 4) {
		host h = { (size_t)threads, 0 };
		ip_parallel loop = threads ? parallel : NULL;
		memset(memory, 0, (size_t)IMAGES * 602112);
		for (int i = 0; i < IMAGES; i++) {
			in[i] = ip_encoded(f.data, f.n);
			out[i] = (ip_tensor)IP_TENSOR_INIT;
			out[i].capacity = 602112;
			out[i].data = memory + (size_t)i * 602112;
		}
		OK(ip_run_batch(g, in, 1, out, 1, IMAGES, each, loop, &h, &e));
		for (int i = 0; i < IMAGES; i++) {
			if (!want)
				want = fnv(out[i].data, out[i].bytes);
			CHECK(each[i] == IP_OK && out[i].bytes == 602112 && fnv(out[i].data, out[i].bytes) == want);
		}
		OK(ip_run_batch(g, in, 1, out, 1, IMAGES, NULL, loop, &h, &e));
		OK(ip_run_batch(g, NULL, 1, NULL, 1, 0, NULL, loop, &h, &e));
		in[9].bytes = 1000;
		in[5].bytes = 0;
		out[7].capacity--;
		FAILS(IP_FORMAT, "empty input", ip_run_batch(g, in, 1, out, 1, IMAGES, each, loop, &h, &e));
		for (int i = 0; i < IMAGES; i++)
			CHECK(each[i] == (i == 9 || i == 5 ? IP_FORMAT : i == 7 ? IP_CAPACITY : IP_OK));
		CHECK(fnv(out[11].data, out[11].bytes) == want);
		FAILS(IP_INPUT, "negative", ip_run_batch(g, in, -1, out, 1, IMAGES, each, loop, &h, &e));
		if (threads) {
			in[9].bytes = in[5].bytes = f.n;
			out[7].capacity++;
			h.left_out = 1;
			FAILS(IP_INPUT, "parallel returned before", ip_run_batch(g, in, 1, out, 1, IMAGES, each, loop, &h, &e));
			CHECK(each[IMAGES - 1] == IP_INPUT && each[0] == IP_OK);
		}
	}
	CHECK(ip_graph_free(g) == IP_OK);
	free(memory);
	free(f.data);
}

/* overrun IMAGE: states more memory than there is, for an output, to which Go
 * writes, and for statuses, to which C writes. Valgrind and the address sanitizer
 * must see it. */
static void overrun(const char *image)
{
	file f = read_file(image);
	ip_graph *g = open_name("preset:imagenet");
	ip_input in[2] = { ip_encoded(f.data, f.n), ip_encoded(f.data, f.n) };
	ip_tensor t[2] = { IP_TENSOR_INIT, IP_TENSOR_INIT };
	ip_status *each = malloc(sizeof *each);
	t[0].capacity = t[1].capacity = 602112;
	t[0].data = t[1].data = malloc(602112 - 8);
	OK(ip_run_batch(g, in, 1, t, 1, 2, each, NULL, NULL, &e));
	CHECK(ip_graph_free(g) == IP_OK);
	free(t[0].data);
	free(each);
	free(f.data);
}

/* bench IMAGE ROUNDS: the least time of a call, and of a run, in ns. */
static void bench(const char *image, int rounds)
{
	file f = read_file(image);
	ip_graph *g = open_name("preset:imagenet");
	ip_input in = ip_encoded(f.data, f.n);
	ip_tensor t = IP_TENSOR_INIT;
	t.capacity = 602112;
	void *memory = t.data = malloc(t.capacity);
	double version = 1, count = 1, run = 1;
	volatile int64_t sum = 0; /* keeps the calls */
	for (int i = 0; i < rounds; i++) {
		double a = seconds();
		for (int k = 0; k < 10000; k++)
			sum += (int64_t)ip_version()[0];
		double b = seconds();
		for (int k = 0; k < 10000; k++)
			sum += ip_graph_count(g, IP_OUTPUTS);
		double c = seconds();
		version = b - a < version ? b - a : version;
		count = c - b < count ? c - b : count;
	}
	for (int i = 0; i < rounds; i++) {
		double a = seconds();
		OK(ip_run_into(g, &in, 1, &t, 1, &e));
		double b = seconds();
		run = b - a < run ? b - a : run;
	}
	double lent = 1;
	for (int i = 0; i < rounds; i++) {
		ip_result *r;
		double a = seconds();
		OK(ip_run(g, &in, 1, &r, &e));
		OK(ip_result_tensor(r, 0, &t, &e));
		CHECK(ip_result_free(r) == IP_OK);
		double b = seconds();
		lent = b - a < lent ? b - a : lent;
	}
	printf("%.1f %.1f %.0f %.0f\n", version / 1e4 * 1e9, count / 1e4 * 1e9, run * 1e9, lent * 1e9);
	CHECK(ip_graph_free(g) == IP_OK);
	free(memory);
	free(f.data);
}

/* print_result prints the names, descriptions and digests of outputs. */
static void print_result(const ip_result *r)
{
	ip_column c = IP_COLUMN_INIT;
	int32_t n = ip_result_count(r);
	CHECK(n > 0);
	for (int32_t j = 0; j < n; j++) {
		ip_tensor t = IP_TENSOR_INIT;
		OK(ip_result_tensor(r, j, &t, &e));
		OK(ip_result_describe(r, j, &c, &e));
		CHECK(c.dtype == t.dtype && c.layout == t.layout && c.rank == t.rank && (uint64_t)c.bytes == t.bytes);
		CHECK(!memcmp(c.shape, t.shape, sizeof c.shape));
		print_tensor(c.name, &t);
	}
	FAILS(IP_INPUT, "output", ip_result_describe(r, n, &c, &e));
	FAILS(IP_INPUT, "output -1", ip_result_describe(r, -1, &c, &e));
}

/* collate FORMAT GRAPH IMAGE...: prints the digests of the batch of all images. */
static void collate(int argc, char **argv)
{
	ip_options o = IP_OPTIONS_INIT;
	ip_graph *g, *other = open_name("preset:imagenet");
	size_t n = (size_t)argc - 2;
	const ip_result **each = calloc(n, sizeof *each);
	ip_result *r, *again;
	CHECK(each);
	o.format = argv[0];
	OK(ip_graph_open_name(argv[1], &o, &g, &e));
	FAILS(IP_HANDLE, "result 0: ", ip_collate(g, each, 1, &r, &e));
	for (size_t i = 0; i < n; i++) {
		file f = read_file(argv[i + 2]);
		ip_input in = ip_encoded(f.data, f.n);
		OK(ip_run(g, &in, 1, &r, &e));
		each[i] = r;
		free(f.data);
	}
	FAILS(IP_INPUT, "no samples", ip_collate(g, NULL, 0, &r, &e));
	CHECK(r == NULL);
	FAILS(IP_INPUT, "result 0: invalid argument: not a result of a run of this graph", ip_collate(other, each, n, &r, &e));
	FAILS(IP_INPUT, "results, want at most", ip_collate(g, each, SIZE_MAX, &r, &e));
	FAILS(IP_INPUT, "NULL", ip_collate(g, NULL, 1, &r, &e));
	FAILS(IP_INPUT, "NULL", ip_collate(g, each, n, NULL, &e));
	FAILS(IP_HANDLE, "", ip_collate(NULL, each, n, &r, &e));
	ip_status s = ip_collate(g, each, n, &r, &e);
	if (s) {
		CHECK(s == e.status && r == NULL);
		printf("error %s\n", e.message);
	} else {
		const ip_result *one = r;
		FAILS(IP_INPUT, "not a result of a run", ip_collate(g, &one, 1, &again, &e));
	}
	for (size_t i = 0; i < n; i++)
		CHECK(ip_result_free((ip_result *)each[i]) == IP_OK);
	CHECK(ip_graph_free(g) == IP_OK && ip_graph_free(other) == IP_OK);
	if (r)
		print_result(r);
	CHECK(ip_result_free(r) == IP_OK && ip_result_count(r) == -1);
	free(each);
}

/* same checks that two results have equal outputs. */
static void same(const ip_result *a, const ip_result *b)
{
	CHECK(ip_result_count(a) == ip_result_count(b));
	for (int32_t j = 0; j < ip_result_count(a); j++) {
		ip_tensor t = IP_TENSOR_INIT, u = IP_TENSOR_INIT;
		OK(ip_result_tensor(a, j, &t, &e));
		OK(ip_result_tensor(b, j, &u, &e));
		CHECK(t.bytes == u.bytes && !memcmp(t.shape, u.shape, sizeof t.shape) && !memcmp(t.data, u.data, t.bytes));
	}
}

/* pixels_of decodes an image and returns its pixels as an input in one of three
 * forms. The caller frees *memory. */
static ip_input pixels_of(const ip_graph *decode, ip_input image, int form, unsigned char **memory)
{
	ip_result *r;
	ip_tensor t = IP_TENSOR_INIT;
	OK(ip_run(decode, &image, 1, &r, &e));
	OK(ip_result_tensor(r, 0, &t, &e));
	const int64_t h = t.shape[0], w = t.shape[1], row = form == 1 ? 3 * w + 5 : 3 * w;
	const unsigned char *p = t.data;
	unsigned char *to = *memory = calloc((size_t)(h * row), 1);
	ip_input in = ip_pixels(to, form == 2 ? IP_CHW : IP_HWC, h, w, 3);
	CHECK(to && t.shape[2] == 3);
	for (int64_t y = 0; y < h; y++)
		for (int64_t x = 0; x < 3 * w; x++)
			to[form == 0 ? y * row + x : form == 1 ? (h - 1 - y) * row + x : (x % 3 * h + y) * w + x / 3] = p[y * 3 * w + x];
	if (form == 1) { /* bottom up, with bytes behind each row */
		in.data = to + (h - 1) * row;
		in.strides[0] = -row;
		in.strides[1] = 3;
		in.strides[2] = 1;
	}
	CHECK(ip_result_free(r) == IP_OK);
	return in;
}

/* video NAME FPS FRAME...: prints the numbers of the chosen frames of a video,
 * and the outputs of it and of two copies. Frames that are not chosen have no
 * data. */
static void video(int argc, char **argv)
{
	ip_video *v, *none;
	ip_options o = IP_OPTIONS_INIT;
	file config;
	int64_t n = argc - 2;
	ip_clip clips[2] = { IP_CLIP_INIT, IP_CLIP_INIT }, bad;
	ip_input *frames = calloc((size_t)n, sizeof *frames);
	file *files = calloc((size_t)n, sizeof *files);
	int64_t numbers[1024];
	uint64_t count, none_chosen;
	ip_result *r;
	CHECK(frames && files);
	OK(ip_video_open_name(argv[0], NULL, &v, &e));
	FAILS(IP_IO, "", ip_video_open_name("/no/such/file", NULL, &none, &e));
	CHECK(none == NULL);
	FAILS(IP_GRAPH, "", ip_video_open("{", 1, NULL, &none, &e));
	o.backend = "pil";
	config = read_file(argv[0]);
	FAILS(IP_UNSUPPORTED, "backend", ip_video_open(config.data, config.n, &o, &none, &e));
	o.backend = NULL;
	o.jobs = 1;
	o.max_bytes = 1000;
	OK(ip_video_open(config.data, config.n, &o, &none, &e));
	clips[0].count = n;
	clips[0].fps = atof(argv[1]);
	clips[0].duration = (double)n / clips[0].fps;
	FAILS(IP_CAPACITY, "there is room for 0", ip_video_sample(v, clips, NULL, 0, &count, &e));
	CHECK(count > 0 && count <= 1024);
	OK(ip_video_sample(v, clips, numbers, count, &count, &e));
	for (uint64_t i = 0; i < count; i++)
		printf("%" PRId64 "%c", numbers[i], i + 1 < count ? ' ' : '\n');
	bad = clips[0];
	bad.count = 0;
	FAILS(IP_INPUT, "0 frames", ip_video_sample(v, &bad, numbers, 1024, &none_chosen, &e));
	CHECK(none_chosen == 0);
	bad.count = INT64_MAX;
	FAILS(IP_INPUT, "frames, want 1 to", ip_video_run(v, &bad, 1, &r, &e));
	bad = clips[0];
	bad.fps = -1;
	FAILS(IP_INPUT, "", ip_video_run(v, &bad, 1, &r, &e));
	bad = clips[0];
	FAILS(IP_INPUT, "frames is NULL", ip_video_run(v, &bad, 1, &r, &e));
	FAILS(IP_INPUT, "no clips", ip_video_run(v, clips, 0, &r, &e));
	FAILS(IP_HANDLE, "", ip_video_run((ip_video *)r, clips, 1, &r, &e));
	for (int64_t i = 0; i < n; i++) {
		ip_input zero = IP_INPUT_INIT;
		frames[i] = zero;
	}
	clips[0].frames = frames;
	clips[1] = clips[0];
	FAILS(IP_INPUT, "the frame is chosen, but its data is NULL", ip_video_run(v, clips, 1, &r, &e));
	for (uint64_t i = 0; i < count; i++) {
		int64_t k = numbers[i];
		if (!files[k].data)
			files[k] = read_file(argv[2 + k]);
		frames[k] = ip_encoded(files[k].data, files[k].n);
	}
	ip_status refused = ip_video_run(none, clips, 1, &r, &e);
	CHECK(refused == IP_LIMIT || (refused == IP_INPUT && strstr(e.message, "want at most 1000"))); /* as an op says */
	CHECK(ip_video_free(none) == IP_OK);
	OK(ip_video_run(v, clips, 1, &r, &e));
	ip_graph *decode = open_name("preset:decode");
	unsigned char **pixels = calloc(count, sizeof *pixels);
	ip_input *others = calloc((size_t)n, sizeof *others);
	CHECK(pixels && others);
	memcpy(others, frames, (size_t)n * sizeof *others);
	for (uint64_t i = 0; i < count; i++) /* a number may repeat */
		others[numbers[i]] = pixels_of(decode, frames[numbers[i]], (int)(i % 3), &pixels[i]);
	ip_clip of_pixels = clips[0];
	ip_result *again;
	of_pixels.frames = others;
	OK(ip_video_run(v, &of_pixels, 1, &again, &e));
	same(r, again);
	CHECK(ip_result_free(again) == IP_OK && ip_graph_free(decode) == IP_OK);
	for (uint64_t i = 0; i < count; i++)
		free(pixels[i]);
	free(pixels);
	free(others);
	CHECK(ip_video_free(v) == IP_OK && ip_video_free(v) == IP_HANDLE && ip_video_free(NULL) == IP_OK);
	print_result(r); /* it outlives the processor */
	CHECK(ip_result_free(r) == IP_OK);
	OK(ip_video_open(config.data, config.n, NULL, &v, &e));
	for (int i = 0; i < 3; i++) {
		OK(ip_video_run(v, clips, 2, &r, &e));
		if (i == 2)
			print_result(r);
		CHECK(ip_result_free(r) == IP_OK);
	}
	CHECK(ip_video_free(v) == IP_OK);
	for (int64_t i = 0; i < n; i++)
		free(files[i].data);
	free(config.data);
	free(files);
	free(frames);
}

/* said prints the status and the message of a call. */
static void said(ip_status s)
{
	CHECK(s == e.status && s != IP_OK);
	printf("%s %s\n", ip_status_name(s), e.message);
}

/* videoerrors FRAME...: prints the errors of videos of three frames. */
static void videoerrors(char **argv)
{
	static const char mae[] = "{\"video_processor_type\": \"VideoMAEVideoProcessor\"}";
	ip_video *v, *other;
	ip_options o = IP_OPTIONS_INIT;
	ip_result *r;
	ip_input good[3], frames[3];
	ip_clip clips[2] = { IP_CLIP_INIT, IP_CLIP_INIT };
	file files[3];
	int64_t numbers[2];
	uint64_t count;
	unsigned char pixels[30] = { 0 };
	for (int i = 0; i < 3; i++) {
		files[i] = read_file(argv[i]);
		good[i] = ip_encoded(files[i].data, files[i].n);
	}
	said(ip_video_open(NULL, 0, NULL, &v, &e));
	said(open_text("[]", NULL, &v));
	said(open_text("{}", NULL, &v));
	said(open_text("{\"video_processor_type\": \"VideoMAEProcessor\"}", NULL, &v));
	said(open_text("{\"video_processor_type\": \"VideoMAEVideoProcessor\", \"color\": 1}", NULL, &v));
	said(open_text("{\"video_processor_type\": \"VideoMAEVideoProcessor\", \"size\": -1}", NULL, &v));
	o.format = "hf";
	said(open_text(mae, &o, &v));
	said(ip_video_open_name("/no/such/file", &o, &v, &e));
	o.format = NULL;
	o.struct_size = 4;
	said(open_text(mae, &o, &v));
	o.struct_size = sizeof o;
	o.max_pixels = 50;
	OK(open_text(mae, &o, &other));
	OK(open_text(mae, NULL, &v));
	for (int i = 0; i < 2; i++) {
		clips[i].count = 3;
		clips[i].fps = 24;
		clips[i].frames = frames;
	}
	memcpy(frames, good, sizeof good);
	said(ip_video_run(other, clips, 1, &r, &e));
	CHECK(ip_video_free(other) == IP_OK);
	FAILS(IP_HANDLE, "closed", ip_video_run(other, clips, 1, &r, &e));
	FAILS(IP_HANDLE, "closed", ip_video_sample(other, clips, numbers, 2, &count, &e));
	said(ip_video_sample(v, clips, numbers, 2, &count, &e));
	said(ip_video_run(v, clips, -1, &r, &e));
	said(ip_video_run(v, NULL, 1, &r, &e));
	clips[1].struct_size = 8;
	said(ip_video_sample(v, &clips[1], numbers, 2, &count, &e));
	said(ip_video_run(v, clips, 2, &r, &e));
	clips[1].struct_size = sizeof *clips;
	clips[1].fps = -1;
	said(ip_video_run(v, clips, 2, &r, &e));
	clips[1].fps = 24;
	clips[1].count = 2;
	said(ip_video_run(v, clips, 2, &r, &e));
	clips[1].count = 1 << 20;
	clips[1].frames = NULL;
	said(ip_video_run(v, clips, 2, &r, &e));
	frames[2].struct_size += 8;
	said(ip_video_run(v, clips, 1, &r, &e));
	frames[0].struct_size = 0;
	said(ip_video_run(v, clips, 1, &r, &e));
	for (int i = 0; i < 9; i++) {
		memcpy(frames, good, sizeof good);
		if (i >= 4)
			frames[1] = ip_pixels(pixels, IP_HWC, 2, 5, 3);
		switch (i) {
		case 0: frames[1].data = NULL; break;
		case 1: frames[1].bytes = 0; break;
		case 2: frames[1] = ip_encoded("nothing", 7); break;
		case 3: frames[1].bytes /= 2; break;
		case 4: break; /* another size */
		case 5: frames[1].shape[2] = 5; break;
		case 6: frames[1].shape[0] = -2; break;
		case 7: frames[1].bytes = 29; break;
		case 8: frames[1].dtype = IP_FLOAT32; break;
		}
		said(ip_video_run(v, clips, 1, &r, &e));
		CHECK(r == NULL);
	}
	memcpy(frames, good, sizeof good);
	OK(ip_video_run(v, clips, 1, &r, &e));
	CHECK(ip_result_free(r) == IP_OK && ip_video_free(v) == IP_OK);
	/* A class that needs to know fps. */
	OK(open_text("{\"video_processor_type\": \"Qwen2VLVideoProcessor\", \"do_sample_frames\": true, \"fps\": 2}", NULL, &v));
	clips[0].fps = 0;
	said(ip_video_sample(v, clips, numbers, 2, &count, &e));
	said(ip_video_run(v, clips, 1, &r, &e));
	CHECK(ip_video_free(v) == IP_OK);
	for (int i = 0; i < 3; i++)
		free(files[i].data);
}

typedef struct {
	ip_video *v;
	ip_clip clip;
	uint64_t want;
} video_work;

static uint64_t run_clip(const video_work *w, ip_status *s)
{
	ip_error e = IP_ERROR_INIT;
	ip_result *r;
	ip_tensor t = IP_TENSOR_INIT;
	*s = ip_video_run(w->v, &w->clip, 1, &r, &e);
	if (*s)
		return 0;
	OK(ip_result_tensor(r, 0, &t, &e));
	uint64_t h = fnv(t.data, t.bytes);
	CHECK(ip_result_free(r) == IP_OK);
	return h;
}

static void *clips_until_closed(void *arg)
{
	const video_work *w = arg;
	for (;;) {
		ip_status s;
		uint64_t h = run_clip(w, &s);
		if (s == IP_HANDLE)
			return NULL;
		CHECK(s == IP_OK && h == w->want);
	}
}

/* videothreads NAME FRAME...: closes a video processor with two jobs that four
 * threads use. */
static void videothreads(int argc, char **argv)
{
	video_work w = { NULL, IP_CLIP_INIT, 0 };
	ip_options o = IP_OPTIONS_INIT;
	ip_status s;
	const int n = argc - 1;
	ip_input *frames = calloc((size_t)n, sizeof *frames);
	file *files = calloc((size_t)n, sizeof *files);
	CHECK(frames && files);
	for (int i = 0; i < n; i++) {
		files[i] = read_file(argv[1 + i]);
		frames[i] = ip_encoded(files[i].data, files[i].n);
	}
	o.jobs = 2;
	w.clip.count = n;
	w.clip.fps = 24;
	w.clip.frames = frames;
	for (int i = 0; i < 3; i++) {
		pthread_t t[4];
		OK(ip_video_open_name(argv[0], &o, &w.v, &e));
		w.want = run_clip(&w, &s);
		CHECK(s == IP_OK);
		for (int k = 0; k < 4; k++)
			CHECK(!pthread_create(&t[k], NULL, clips_until_closed, &w));
		for (int k = 0; k < 2; k++)
			CHECK(run_clip(&w, &s) == w.want && s == IP_OK);
		CHECK(ip_video_free(w.v) == IP_OK);
		for (int k = 0; k < 4; k++)
			CHECK(!pthread_join(t[k], NULL));
	}
	for (int i = 0; i < n; i++)
		free(files[i].data);
	free(files);
	free(frames);
}

/* longvideo COUNT CHOSEN: a video of pixels of which some are chosen. All frames
 * are the same 24 MB. */
static void longvideo(int64_t n, int chosen)
{
	char config[200];
	ip_video *v;
	ip_result *r;
	ip_tensor t = IP_TENSOR_INIT;
	ip_clip clip = IP_CLIP_INIT;
	ip_input *frames = calloc((size_t)n, sizeof *frames);
	unsigned char *pixels = malloc(4000 * 2000 * 3);
	CHECK(frames && pixels);
	for (int i = 0; i < 4000 * 2000 * 3; i++)
		pixels[i] = (unsigned char)(i * 7 + i / 12000);
	for (int64_t i = 0; i < n; i++)
		frames[i] = ip_pixels(pixels, IP_HWC, 2000, 4000, 3);
	snprintf(config, sizeof config, "{\"video_processor_type\": \"VideoMAEVideoProcessor\", \"do_sample_frames\": true, \"num_frames\": %d}", chosen);
	OK(open_text(config, NULL, &v));
	clip.count = n;
	clip.frames = frames;
	OK(ip_video_run(v, &clip, 1, &r, &e));
	OK(ip_result_tensor(r, 0, &t, &e));
	CHECK(t.rank == 5 && t.shape[1] == chosen && !memcmp(t.data, (char *)t.data + t.bytes - 602112, 602112));
	CHECK(ip_result_free(r) == IP_OK && ip_video_free(v) == IP_OK);
	printf("%d of %" PRId64 " frames of 24 MB: %ld KB resident\n", chosen, n, rss());
	free(pixels);
	free(frames);
}

/* videobench NAME ROUNDS FRAME...: the least time of a run of a video, in ns. */
static void videobench(int argc, char **argv)
{
	ip_video *v;
	ip_clip clip = IP_CLIP_INIT;
	double least = 1e9;
	const int n = argc - 2;
	ip_input *frames = calloc((size_t)n, sizeof *frames);
	CHECK(frames);
	for (int i = 0; i < n; i++) {
		file f = read_file(argv[2 + i]);
		frames[i] = ip_encoded(f.data, f.n);
	}
	clip.count = n;
	clip.frames = frames;
	OK(ip_video_open_name(argv[0], NULL, &v, &e));
	for (int i = 0; i < atoi(argv[1]); i++) {
		ip_result *r;
		double a = seconds();
		OK(ip_video_run(v, &clip, 1, &r, &e));
		CHECK(ip_result_free(r) == IP_OK);
		double b = seconds();
		least = b - a < least ? b - a : least;
	}
	printf("%.0f\n", least * 1e9);
	CHECK(ip_video_free(v) == IP_OK);
	for (int i = 0; i < n; i++)
		free((void *)frames[i].data);
	free(frames);
}

/* sound BUNDLE WAV: a file of 16 bits and 16 kHz and its samples give the same
 * tensor, other rates and types are refused. */
static void sound(const char *bundle, const char *name)
{
	ip_graph *g = open_name(bundle);
	file f = read_file(name);
	size_t n = (f.n - 44) / 2;
	const int16_t *x = (const int16_t *)((char *)f.data + 44);
	char *buffer = malloc(IP_SAMPLES_HEADER + 4 * n);
	CHECK(buffer && f.n > 44);
	uint64_t want = 0;
	for (int form = 0; form < 3; form++) {
		ip_input in = ip_encoded(f.data, f.n);
		ip_result *r;
		ip_tensor t = IP_TENSOR_INIT;
		for (size_t i = 0; i < n; i++) {
			float v = (float)x[i] / 32768;
			if (form == 1)
				memcpy(buffer + IP_SAMPLES_HEADER + 2 * i, &x[i], 2);
			else
				memcpy(buffer + IP_SAMPLES_HEADER + 4 * i, &v, 4);
		}
		if (form)
			in = ip_samples(buffer, form == 1 ? IP_INT16 : IP_FLOAT32, 16000, 1, n);
		OK(ip_run(g, &in, 1, &r, &e));
		OK(ip_result_tensor(r, 0, &t, &e));
		if (!form)
			want = fnv(t.data, t.bytes);
		CHECK(fnv(t.data, t.bytes) == want);
		if (!form)
			print_tensor("sound", &t);
		CHECK(ip_result_free(r) == IP_OK);
	}
	ip_result *r;
	ip_input in = ip_samples(buffer, IP_FLOAT32, 8000, 1, n);
	FAILS(IP_UNSUPPORTED, "the sampling rate is 8000 Hz", ip_run(g, &in, 1, &r, &e));
	in = ip_samples(buffer, IP_INT32, 16000, 1, n);
	FAILS(IP_FORMAT, "empty input: want a sound file", ip_run(g, &in, 1, &r, &e));
	in = ip_samples(buffer, IP_FLOAT32, 16000, 0, n);
	FAILS(IP_FORMAT, "0 channels", ip_run(g, &in, 1, &r, &e));
	CHECK(ip_graph_free(g) == IP_OK);
	free(buffer);
	free(f.data);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	if (!strcmp(mode, "digest") && argc > 4)
		digest(argc - 2, argv + 2);
	else if (!strcmp(mode, "api") && argc == 3)
		api(argv[2]);
	else if (!strcmp(mode, "small") && argc == 5)
		small(argv[2], argv[3], argv[4]);
	else if (!strcmp(mode, "fork") && argc == 3)
		fork_(argv[2]);
	else if (!strcmp(mode, "threads") && argc == 5)
		threads(argv[2], argv[3], atoi(argv[4]));
	else if (!strcmp(mode, "cycles") && argc == 5)
		cycles(argv[2], argv[3], atoi(argv[4]));
	else if (!strcmp(mode, "garbage") && argc == 4)
		garbage(argv[2], atoi(argv[3]));
	else if (!strcmp(mode, "closing") && argc == 4)
		closing(argv[2], argv[3]);
	else if (!strcmp(mode, "batch") && argc == 3)
		batch(argv[2]);
	else if (!strcmp(mode, "overrun") && argc == 3)
		overrun(argv[2]);
	else if (!strcmp(mode, "collate") && argc > 4)
		collate(argc - 2, argv + 2);
	else if (!strcmp(mode, "video") && argc > 4)
		video(argc - 2, argv + 2);
	else if (!strcmp(mode, "videoerrors") && argc == 5)
		videoerrors(argv + 2);
	else if (!strcmp(mode, "videothreads") && argc > 3)
		videothreads(argc - 2, argv + 2);
	else if (!strcmp(mode, "longvideo") && argc == 4)
		longvideo(atoi(argv[2]), atoi(argv[3]));
	else if (!strcmp(mode, "videobench") && argc > 4)
		videobench(argc - 2, argv + 2);
#ifndef _WIN32
	else if (!strcmp(mode, "forks") && argc == 4)
		forks(argv[2], argv[3]);
	else if (!strcmp(mode, "exhausted") && argc == 6)
		exhausted(argv[2], argv[3], argv[4], argv[5]);
#endif
	else if (!strcmp(mode, "sound") && argc == 4)
		sound(argv[2], argv[3]);
	else if (!strcmp(mode, "bench") && argc == 4)
		bench(argv[2], atoi(argv[3]));
	else {
		fprintf(stderr, "usage: check MODE ARGUMENTS\n");
		return 2;
	}
	return 0;
}
