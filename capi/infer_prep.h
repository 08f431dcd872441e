/*
 * infer_prep.h: image preprocessing for models, bit for bit that of
 * transformers, torchvision, OpenCV and others. API version 1.
 *
 * The header is C99 and C++17. The library is libinfer_prep, shared or static.
 *
 * Errors. A function that can fail returns an ip_status: IP_OK, which is 0, or
 * the kind of the error. Its last argument may be NULL, or an ip_error that
 * receives the status and a message. The caller owns it. Nothing of this API is
 * freed with free(). Pointers to results of a call must not be NULL unless their
 * function says so; those that are, are IP_INPUT. A pointer to 0 bytes or 0
 * elements may have any value.
 *
 * Handles. ip_graph, ip_result, ip_tokens and ip_video are numbers in the form of
 * pointers. Do not read through them. A handle that is NULL, closed or not one
 * of these is the error IP_HANDLE. Numbers are not used again, so a closed
 * handle never names a newer object.
 *
 * Threads. Every function may be called from any thread, several at once with
 * the same graph, tokens or video. Two threads must not write to the same memory. Work
 * runs on the calling thread. The Go runtime in the library has a few threads
 * of its own, for its scheduler and its garbage collector.
 *
 * Processes. A child that fork() made while the library was loaded must not use
 * it: every function that can fail returns IP_FORKED there. fork() and then
 * exec() is fine, as is loading the library after fork(). The library stays in
 * the process after dlclose() or FreeLibrary().
 *
 * Signals. The library has handlers for SIGSEGV, SIGBUS, SIGFPE, SIGPIPE and
 * SIGURG, which pass on all but its own signals to the handlers that the host
 * had before. A handler of any signal that the host installs after loading must
 * have SA_ONSTACK, since the signal may meet a thread on one of Go's small
 * stacks; the library adds it to those of before. On Windows the library has
 * vectored exception handlers, which pass on all exceptions outside of Go's code.
 *
 * Two forms. The three paragraphs above are of the library that capi/build.sh
 * builds, which contains the Go runtime. That of capi/wasm2c is plain C: it has
 * no threads and no signal handlers, and it works in a child after fork(). There
 * max_bytes bounds each run, not all together, and arguments or a frame of more
 * than 1 GiB are IP_LIMIT. ip_capabilities tells which one it is.
 *
 * Structs. Every struct that the caller passes begins with struct_size, which
 * the caller sets to sizeof of the struct: later versions add members at the
 * end. The macros IP_..._INIT do so. All elements of an array have the same
 * struct_size. Members that a comment does not call "in" are written by the
 * library.
 *
 * Texts are UTF-8.
 */
#ifndef INFER_PREP_H
#define INFER_PREP_H

#include <stddef.h>
#include <stdint.h>

#if !defined(_WIN32) && defined(__GNUC__)
#define IP_API __attribute__((visibility("default")))
#else
#define IP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. It changes only with declarations that programs
 * compiled before cannot use. */
#define IP_API_VERSION 1

/* The release that the header is of. */
#define IP_VERSION "0.1.0"

/* The largest number of axes of a tensor. */
#define IP_MAX_RANK 8

/* A size that depends on the image. */
#define IP_UNKNOWN (-1)

/* The kinds of error. A program should treat an unknown one as IP_INTERNAL. */
typedef int32_t ip_status;
enum {
	IP_OK = 0,
	IP_INTERNAL = 1,    /* a bug in the library: please report it */
	IP_FORMAT = 2,      /* the data breaks its format's rules, or is of no known format */
	IP_UNSUPPORTED = 3, /* valid, but this build does not read it or the graph refuses it */
	IP_LIMIT = 4,       /* more pixels, bytes or scans than the limits allow */
	IP_GRAPH = 5,       /* an invalid graph or configuration */
	IP_UNKNOWN_OP = 6,  /* an op that this build does not have */
	IP_PARAM = 7,       /* an invalid parameter or option; a key that is missing or unknown */
	IP_INPUT = 8,       /* an argument or an input that does not fit */
	IP_CAPACITY = 9,    /* the caller's memory is too small; the bytes needed are set */
	IP_FORKED = 10,     /* the process is a fork of the one that loaded the library */
	IP_HANDLE = 11,     /* NULL, a closed handle, or none of this kind */
	IP_IO = 12          /* a file or folder that is missing or unreadable */
};

/* The types of elements. */
enum {
	IP_UINT8 = 1,
	IP_INT8 = 2,
	IP_UINT16 = 3,
	IP_INT16 = 4,
	IP_INT32 = 5,
	IP_INT64 = 6,
	IP_FLOAT16 = 7,  /* IEEE 754 binary16 */
	IP_BFLOAT16 = 8, /* the upper half of a binary32 */
	IP_FLOAT32 = 9,
	IP_FLOAT64 = 10,
	IP_BOOL = 11, /* one byte, 0 or 1 */
	IP_BYTES = 12 /* a byte string of any length, such as an encoded image */
};

/* The order of the axes of an image, which has three. */
enum {
	IP_NO_LAYOUT = 0, /* not an image */
	IP_HWC = 1,       /* height, width, channels */
	IP_CHW = 2        /* channels, height, width */
};

/* The two lists of a graph's columns. */
enum {
	IP_INPUTS = 0,
	IP_OUTPUTS = 1 /* the model's inputs, then side outputs, such as the scale of a letterbox */
};

/* The ways in which the tensors of several images become a batch. */
enum {
	IP_STACK = 0,  /* a new first axis; all tensors have one shape */
	IP_PAD = 1,    /* every axis is padded at its end to the largest, then as IP_STACK */
	IP_CONCAT = 2, /* joined along the first axis */
	IP_SINGLE = 3  /* batches of one image only */
};

typedef struct ip_graph ip_graph;
typedef struct ip_result ip_result;
typedef struct ip_tokens ip_tokens;
typedef struct ip_video ip_video;

/* An error. The caller may pass a larger object with these members first:
 * struct_size then gives longer messages room. */
typedef struct ip_error {
	uint32_t struct_size; /* in */
	ip_status status;     /* of the last call that was given the object */
	char message[1016];   /* ends with 0; empty after IP_OK; a cut one ends with "..." */
} ip_error;
#define IP_ERROR_INIT { sizeof(ip_error), IP_OK, { 0 } }

/* How to open a graph. A member of 0 or NULL has its default. */
typedef struct ip_options {
	uint32_t struct_size;    /* in, as all members */
	int32_t jobs;            /* runs at once, further ones wait; default: the processors */
	int64_t max_pixels;      /* width x height of an image as stored; default 100,000,000; -1 no limit */
	int64_t max_bytes;       /* memory of a run, and estimated of all runs; default 1 GiB; -1 no limit */
	int32_t max_scans;       /* of a progressive JPEG; default 500; -1 no limit */
	int32_t ignored;         /* number of ignored_keys */
	const char *format;      /* "graph", "bundle", "preset" or an importer's name; default: by the content */
	const char *backend;     /* one of the importer's backends, such as "pil" */
	const char *decoder;     /* one of the importer's ways of reading image files, such as "torchcodec" */
	const char *const *ignored_keys; /* keys of the file to ignore although the importer does not know them */
} ip_options;
#define IP_OPTIONS_INIT { sizeof(ip_options), 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL }

/* A column of a graph. */
typedef struct ip_column {
	uint32_t struct_size; /* in */
	int32_t dtype;
	int32_t layout;
	int32_t rank;
	int64_t shape[IP_MAX_RANK]; /* of the first rank axes, IP_UNKNOWN if it depends on the image */
	int64_t bytes;              /* of the elements, IP_UNKNOWN if a size is or the dtype is IP_BYTES */
	double fill;                /* what IP_PAD pads with */
	int32_t batch;              /* IP_STACK, ... */
	int32_t side;               /* 1 for a side output, else 0 */
	char name[72];              /* at most 64 bytes, then 0 */
} ip_column;
#define IP_COLUMN_INIT { sizeof(ip_column), 0, 0, 0, { 0 }, 0, 0, 0, 0, { 0 } }

/* An input of a run. The library reads it during the call only. ip_encoded and
 * ip_pixels fill it in.
 *
 * A graph that takes an encoded image also takes pixels: dtype IP_UINT8, layout
 * IP_HWC or IP_CHW, rank 3, and 1 (gray), 2 (gray, alpha), 3 (RGB) or 4 (RGBA)
 * channels. It treats them as it treats a file of them. Pixels may have any
 * strides, negative ones too, and are not copied as a whole. Other inputs must
 * be as ip_graph_describe says, with dense elements. A graph that takes a sound
 * takes a sound file, or samples by ip_samples. */
typedef struct ip_input {
	uint32_t struct_size;         /* in, as all members */
	int32_t dtype;
	int32_t layout;
	int32_t rank;
	int64_t shape[IP_MAX_RANK];
	int64_t strides[IP_MAX_RANK]; /* bytes from an element to the next of an axis; all 0: dense */
	uint64_t bytes;               /* IP_BYTES: the length; others: readable bytes from data on, 0: not checked */
	const void *data;             /* the first element, of index 0 on every axis */
} ip_input;
#define IP_INPUT_INIT { sizeof(ip_input), 0, 0, 0, { 0 }, { 0 }, 0, NULL }

/* An output of a run. */
typedef struct ip_tensor {
	uint32_t struct_size; /* in */
	int32_t dtype;
	int32_t layout;
	int32_t rank;
	int64_t shape[IP_MAX_RANK];
	uint64_t bytes;    /* of the elements, which are dense, in row-major order, little-endian */
	uint64_t capacity; /* in, for ip_run_into and ip_run_batch: the bytes at data */
	void *data;        /* in as capacity; ip_result_tensor sets it */
} ip_tensor;
#define IP_TENSOR_INIT { sizeof(ip_tensor), 0, 0, 0, { 0 }, 0, 0, NULL }

/* What an image's header says. */
typedef struct ip_image_info {
	uint32_t struct_size; /* in */
	int32_t depth;        /* bits of a sample, as stored */
	int32_t orientation;  /* EXIF, 1 to 8 */
	int32_t has_alpha;    /* 1 if the file has transparency */
	int64_t width;        /* in pixels, as stored */
	int64_t height;
	int64_t frames;       /* of an animation; 2 if there are more and the header has no count */
	char format[16];      /* "jpeg" */
	char mode[16];        /* Pillow's name of the kind of pixels: "RGB", "L", "P" */
} ip_image_info;
#define IP_IMAGE_INFO_INIT { sizeof(ip_image_info), 0, 0, 0, 0, 0, 0, { 0 }, { 0 } }

/* The files of a Hugging Face processor, for ip_tokens_open_files. A file that
 * the model lacks is NULL. */
typedef struct ip_token_files {
	uint32_t struct_size;     /* in, as all members */
	int32_t pairs;            /* number of tokens */
	const char *processor;    /* processor_config.json */
	const char *preprocessor; /* preprocessor_config.json */
	const char *tokenizer;    /* tokenizer_config.json */
	const char *call;         /* keyword arguments of the call as a JSON object: {"do_pan_and_scan": true} */
	const char *const *tokens; /* attribute and string in turn: "image_token", "<image>"; 2 x pairs texts */
} ip_token_files;
#define IP_TOKEN_FILES_INIT { sizeof(ip_token_files), 0, NULL, NULL, NULL, NULL, NULL }

/* The tokens of an image. */
typedef struct ip_image_tokens {
	uint32_t struct_size; /* in */
	int32_t unused;
	int64_t tokens;       /* what _get_num_multimodal_tokens returns; IP_UNKNOWN if it fails */
	int64_t text_tokens;  /* the number of the same tokens in the text */
	uint64_t text_at;     /* the text replaces the image's placeholder in the prompt: */
	uint64_t text_bytes;  /* text_bytes bytes from text + text_at on */
} ip_image_tokens;
#define IP_IMAGE_TOKENS_INIT { sizeof(ip_image_tokens), 0, 0, 0, 0, 0 }

/* The frames of a video. A frame is an encoded image, or pixels, as an input of a
 * graph that takes an encoded image. Those that a run reads have one size. */
typedef struct ip_clip {
	uint32_t struct_size;   /* in, as all members */
	int32_t unused;
	int64_t count;          /* frames of the video, 1 to 1,048,576 */
	double fps;             /* frames a second, 0 if unknown */
	double duration;        /* in seconds, 0 if unknown */
	const ip_input *frames; /* count inputs; that of a frame which is not chosen may be IP_INPUT_INIT */
} ip_clip;
#define IP_CLIP_INIT { sizeof(ip_clip), 0, 0, 0, 0, NULL }

/* ip_api_version returns the IP_API_VERSION of the library. A program that
 * loads it at run time compares it with its own. It never fails. */
IP_API uint32_t ip_api_version(void);

/* ip_version returns the library's release, such as "0.1.0". The text is valid
 * for ever. It never fails. */
IP_API const char *ip_version(void);

/* ip_status_name returns "IP_OK" and so on, and "IP_INTERNAL" for an unknown
 * status. The text is valid for ever. It never fails. */
IP_API const char *ip_status_name(ip_status status);

/* ip_capabilities sets *json to a JSON object with build, which is "go" or
 * "wasm2c", and the lists of names formats (of images), importers, presets, ops
 * and processors (classes that ip_tokens knows). The text is valid for ever.
 * Errors: IP_FORKED. */
IP_API ip_status ip_capabilities(const char **json, ip_error *error);

/* ip_graph_open opens preprocessing from the n bytes of a file at data, which
 * it does not keep: a graph in JSON or msgp, a bundle, or a file of an
 * importer, such as preprocessor_config.json. A graph with random ops, which are
 * for training, is IP_UNSUPPORTED. options may be NULL. *graph is NULL after an
 * error. Errors: IP_FORMAT, IP_UNSUPPORTED, IP_LIMIT, IP_GRAPH,
 * IP_UNKNOWN_OP, IP_PARAM, IP_INPUT. */
IP_API ip_status ip_graph_open(const void *data, size_t n, const ip_options *options, ip_graph **graph, ip_error *error);

/* ip_graph_open_name is ip_graph_open of a file, of a model's folder, or of a
 * preset, such as "preset:imagenet". Error: also IP_IO. */
IP_API ip_status ip_graph_open_name(const char *name, const ip_options *options, ip_graph **graph, ip_error *error);

/* ip_graph_free closes a graph. Calls that run with it end well, and its
 * results stay valid. NULL is IP_OK. Errors: IP_HANDLE, IP_FORKED. */
IP_API ip_status ip_graph_free(ip_graph *graph);

/* ip_graph_count returns the number of columns of list, IP_INPUTS or
 * IP_OUTPUTS; -1 for an invalid handle, another list, or in a fork. */
IP_API int32_t ip_graph_count(const ip_graph *graph, int32_t list);

/* ip_graph_describe describes column i of a list, counted from 0. Errors:
 * IP_HANDLE, IP_INPUT. */
IP_API ip_status ip_graph_describe(const ip_graph *graph, int32_t list, int32_t i, ip_column *column, ip_error *error);

/* ip_graph_find returns the index of the column of a name, and -1 if there is
 * none or ip_graph_count returns -1. */
IP_API int32_t ip_graph_find(const ip_graph *graph, int32_t list, const char *name);

/* ip_graph_sizes describes the first n outputs for an image of a height and a
 * width in pixels, as decoded. It needs no pixels. A size that depends on more
 * than that stays IP_UNKNOWN. Errors: IP_HANDLE, IP_INPUT, IP_LIMIT. */
IP_API ip_status ip_graph_sizes(const ip_graph *graph, int64_t height, int64_t width, ip_column *columns, int32_t n, ip_error *error);

/* ip_probe reads the header of an encoded image of n bytes. It has no limits.
 * Errors: IP_FORMAT, IP_UNSUPPORTED, IP_INPUT. */
IP_API ip_status ip_probe(const void *image, size_t n, ip_image_info *info, ip_error *error);

/* ip_run_into runs a graph on nin inputs and writes the first nout outputs to
 * the caller's memory: data and capacity of each out. Memory aligned to 8 bytes
 * avoids a copy. If memory is too small, the call returns IP_CAPACITY and sets
 * bytes and shape of every out; a capacity of 0 thus asks for them. After
 * another error out and the memory are undefined. Errors: IP_HANDLE, IP_INPUT,
 * IP_CAPACITY, and for images IP_FORMAT, IP_UNSUPPORTED, IP_LIMIT. */
IP_API ip_status ip_run_into(const ip_graph *graph, const ip_input *in, int32_t nin, ip_tensor *out, int32_t nout, ip_error *error);

/* A host's parallel loop: it calls body(context, i) for every i from 0 to n-1
 * once, on any threads in any order, and returns when all calls have. */
typedef void (*ip_body)(void *context, size_t i);
typedef void (*ip_parallel)(void *host, size_t n, ip_body body, void *context);

/* ip_run_batch is ip_run_into for n images: image i has the inputs in[i * nin]
 * to in[i * nin + nin - 1] and the outputs out[i * nout] and so on. It forms no
 * batch: for one that stacks, let the outputs lie one after another. parallel
 * runs the loop and is passed host; NULL is a loop on the calling thread. each,
 * if not NULL, has n elements and receives the status of every image. The
 * result and the message are those of the first image that failed; the others
 * are run nevertheless. Errors: those of ip_run_into. IP_INPUT if parallel left
 * out an image. */
IP_API ip_status ip_run_batch(const ip_graph *graph, const ip_input *in, int32_t nin, ip_tensor *out, int32_t nout, size_t n, ip_status *each, ip_parallel parallel, void *host, ip_error *error);

/* ip_run runs a graph on nin inputs and lends all outputs in the library's
 * memory until ip_result_free. *result is NULL after an error. Errors: those of
 * ip_run_into, without IP_CAPACITY. */
IP_API ip_status ip_run(const ip_graph *graph, const ip_input *in, int32_t nin, ip_result **result, ip_error *error);

/* ip_result_tensor describes output i of a result and sets data to its
 * elements, NULL if it has none. They are valid until ip_result_free, and the
 * caller may change them. Errors: IP_HANDLE, IP_INPUT. */
IP_API ip_status ip_result_tensor(const ip_result *result, int32_t i, ip_tensor *tensor, ip_error *error);

/* ip_result_free ends the loan of a result. NULL is IP_OK. Errors: IP_HANDLE,
 * IP_FORKED. */
IP_API ip_status ip_result_free(ip_result *result);

/* ip_result_count returns the number of outputs; -1 for an invalid handle or in
 * a fork. */
IP_API int32_t ip_result_count(const ip_result *result);

/* ip_result_describe describes output i of a result, counted from 0. batch, fill
 * and side are 0. Errors: IP_HANDLE, IP_INPUT. */
IP_API ip_status ip_result_describe(const ip_result *result, int32_t i, ip_column *column, ip_error *error);

/* ip_collate joins n results of ip_run with the same graph into a batch, each
 * output by its rule, and lends it until ip_result_free. The results must not be
 * freed during the call, and stay valid after it. *batch is NULL after an error.
 * Errors: IP_HANDLE; IP_INPUT also for shapes that a rule does not admit and for
 * outputs of IP_BYTES; IP_LIMIT if the batch exceeds max_bytes. */
IP_API ip_status ip_collate(const ip_graph *graph, const ip_result *const *results, size_t n, ip_result **batch, ip_error *error);

/* ip_video_open opens a Hugging Face video processor (transformers 5.23.0) from
 * the n bytes of its video_preprocessor_config.json, which it does not keep.
 * options may be NULL; of its members those for graphs must be 0. max_bytes
 * limits, separately, the memory of one frame and the values of all frames of a
 * video. *video is NULL after an error. Errors: IP_GRAPH, IP_UNSUPPORTED,
 * IP_PARAM, IP_INPUT. */
IP_API ip_status ip_video_open(const void *data, size_t n, const ip_options *options, ip_video **video, ip_error *error);

/* ip_video_open_name is ip_video_open of a file, or of a model's folder, in which
 * it chooses the file as AutoVideoProcessor does. Error: also IP_IO. */
IP_API ip_status ip_video_open_name(const char *name, const ip_options *options, ip_video **video, ip_error *error);

/* ip_video_sample writes the numbers of the frames that a run reads of clip, in
 * their order, to numbers, which has room for capacity of them, and sets *count.
 * Numbers may occur more than once. It does not read clip->frames, which may be
 * NULL. Errors: IP_HANDLE, IP_CAPACITY (*count is set); IP_INPUT also for a video
 * that the reference refuses, and if it needs fps or duration, which the message
 * names. */
IP_API ip_status ip_video_sample(const ip_video *video, const ip_clip *clip, int64_t *numbers, uint64_t capacity, uint64_t *count, ip_error *error);

/* ip_video_run runs a video processor on the n clips of a call and lends the
 * batch of its outputs until ip_result_free, with the names and axes of the
 * reference's return_tensors. *result is NULL after an error. Errors: those of
 * ip_video_sample without IP_CAPACITY, and for images IP_FORMAT, IP_UNSUPPORTED,
 * IP_LIMIT. */
IP_API ip_status ip_video_run(const ip_video *video, const ip_clip *clips, int32_t n, ip_result **result, ip_error *error);

/* ip_video_free closes a video processor. Calls that run with it end well, and
 * its results stay valid. NULL is IP_OK. Errors: IP_HANDLE, IP_FORKED. */
IP_API ip_status ip_video_free(ip_video *video);

/* ip_tokens_open reads the files of a model's folder on this machine, to
 * compute the tokens that a Hugging Face processor (transformers 5.23.0) puts
 * in place of images. *tokens is NULL after an error. Errors: IP_IO, IP_GRAPH,
 * IP_UNSUPPORTED (the class), IP_PARAM. */
IP_API ip_status ip_tokens_open(const char *folder, ip_tokens **tokens, ip_error *error);

/* ip_tokens_open_files is ip_tokens_open of the content of the files, which it
 * does not keep. */
IP_API ip_status ip_tokens_open_files(const ip_token_files *files, ip_tokens **tokens, ip_error *error);

/* ip_tokens_images computes the tokens of the n images of one prompt, at most
 * 256. sizes holds height and width of each as decoded: 2 x n numbers. text
 * receives the texts, one after another, without a 0 between or after them;
 * *text_bytes, if text_bytes is not NULL, becomes their length. NULL as text
 * with a capacity of 0 leaves the texts out. Errors: IP_HANDLE, IP_CAPACITY,
 * IP_INPUT also for an image that the reference refuses. */
IP_API ip_status ip_tokens_images(const ip_tokens *tokens, const int64_t *sizes, int32_t n, ip_image_tokens *images, char *text, uint64_t capacity, uint64_t *text_bytes, ip_error *error);

/* ip_tokens_free closes tokens. NULL is IP_OK. Errors: IP_HANDLE, IP_FORKED. */
IP_API ip_status ip_tokens_free(ip_tokens *tokens);

/* ip_encoded returns an input of an encoded image of n bytes. */
static inline ip_input ip_encoded(const void *data, size_t n)
{
	ip_input in = IP_INPUT_INIT;
	in.dtype = IP_BYTES;
	in.data = data;
	in.bytes = n;
	return in;
}

/* ip_pixels returns an input of dense uint8 pixels. Set strides for others. */
static inline ip_input ip_pixels(const void *data, int32_t layout, int64_t height, int64_t width, int64_t channels)
{
	ip_input in = IP_INPUT_INIT;
	in.dtype = IP_UINT8;
	in.layout = layout;
	in.rank = 3;
	in.shape[0] = layout == IP_CHW ? channels : height;
	in.shape[1] = layout == IP_CHW ? height : width;
	in.shape[2] = layout == IP_CHW ? width : channels;
	in.data = data;
	return in;
}

/* The bytes of the header that ip_samples writes. */
#define IP_SAMPLES_HEADER 44

/* ip_samples returns an input of the samples of a sound, for a graph that takes
 * sound files: it writes the header of a WAV file to the first
 * IP_SAMPLES_HEADER bytes of buffer. The samples follow there, little-endian,
 * IP_INT16 or IP_FLOAT32, those of all channels for one time after another. n
 * is their number in each channel, rate their sampling rate in Hz. A graph of
 * another rate refuses them with IP_UNSUPPORTED. Another dtype gives an input
 * without bytes. */
static inline ip_input ip_samples(void *buffer, int32_t dtype, int32_t rate, int32_t channels, size_t n)
{
	uint32_t size = dtype == IP_FLOAT32 ? 4 : dtype == IP_INT16 ? 2 : 0;
	uint64_t bytes = (uint64_t)n * (uint32_t)channels * size;
	uint32_t riff = bytes > 0xffffffff - 36 ? 0xffffffff : (uint32_t)bytes + 36;
	uint32_t data = bytes > 0xffffffff ? 0xffffffff : (uint32_t)bytes;
	uint32_t fields[9][2]; /* values and their bytes */
	unsigned char *to = (unsigned char *)buffer;
	const char *names = "RIFFWAVEfmt data";
	int at = 0, i, k;
	fields[0][0] = riff, fields[0][1] = 4;
	fields[1][0] = 16, fields[1][1] = 4;
	fields[2][0] = size == 4 ? 3 : 1, fields[2][1] = 2;
	fields[3][0] = (uint32_t)channels, fields[3][1] = 2;
	fields[4][0] = (uint32_t)rate, fields[4][1] = 4;
	fields[5][0] = (uint32_t)rate * (uint32_t)channels * size, fields[5][1] = 4;
	fields[6][0] = (uint32_t)channels * size, fields[6][1] = 2;
	fields[7][0] = 8 * size, fields[7][1] = 2;
	fields[8][0] = data, fields[8][1] = 4;
	if (!size)
		return ip_encoded(buffer, 0);
	for (i = 0; i < 9; i++) {
		if (i == 0 || i == 1 || i == 8) { /* a name goes before it */
			for (k = i == 1 ? 8 : 4; k > 0; k--)
				to[at++] = (unsigned char)*names++;
		}
		for (k = 0; k < (int)fields[i][1]; k++)
			to[at++] = (unsigned char)(fields[i][0] >> 8 * k);
	}
	return ip_encoded(buffer, IP_SAMPLES_HEADER + (size_t)bytes);
}

#ifdef __cplusplus
}
#endif

#endif
