/*
 * infer_prep_plugin.h: ops for infer-prep in shared libraries, ABI version 1.
 *
 * A library exports one function, infer_prep_plugin, which returns a table of
 * its ops. An op has one tensor as its input and one as its output. The header
 * is C99 and C++11; it needs a 64-bit platform. examples/plugin has a library.
 *
 * Threads. The host calls any function from any thread. It calls infer and
 * apply of one instance from several threads at once. After create an op must
 * therefore not write to its instance, nor to global memory. Memory for
 * intermediate values is the host's; see infer.
 *
 * Ownership. The host owns every pointer that it passes, and the pointer is
 * valid until the function returns. The table and its strings belong to the
 * library and stay valid and unchanged: libraries are never unloaded.
 *
 * Results. An op's output must depend only on its arguments and its input, so
 * that a graph gives the same bytes each time. Random ops are not supported.
 *
 * Errors. Functions return 0, or another number after writing a text to error,
 * a buffer of error_size bytes. The text is UTF-8, ends with a zero byte, and
 * says what is wrong and what is wanted: "radius 0: want 1 to 64". The host
 * puts the names of library and op before it. An op must not end the process,
 * throw exceptions through its functions, or call longjmp out of them.
 */
#ifndef INFER_PREP_PLUGIN_H
#define INFER_PREP_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. The host refuses libraries of another one. */
#define INFER_PREP_ABI 1

/* The largest number of axes of a tensor. */
#define INFER_PREP_MAX_RANK 8

/* A size that depends on the image, which the host does not know yet. */
#define INFER_PREP_UNKNOWN (-1)

/* The types of elements. */
enum {
	INFER_PREP_UINT8 = 1,
	INFER_PREP_INT8 = 2,
	INFER_PREP_UINT16 = 3,
	INFER_PREP_INT16 = 4,
	INFER_PREP_INT32 = 5,
	INFER_PREP_INT64 = 6,
	INFER_PREP_FLOAT16 = 7,  /* IEEE 754 binary16 */
	INFER_PREP_BFLOAT16 = 8, /* the upper half of a binary32 */
	INFER_PREP_FLOAT32 = 9,
	INFER_PREP_FLOAT64 = 10,
	INFER_PREP_BOOL = 11 /* one byte, 0 or 1 */
};

/* The order of the axes of an image, which has three. */
enum {
	INFER_PREP_NO_LAYOUT = 0, /* not an image */
	INFER_PREP_HWC = 1,       /* height, width, channels */
	INFER_PREP_CHW = 2        /* channels, height, width */
};

/* A tensor's description. Its data is dense, the last axis innermost. */
struct infer_prep_desc {
	int32_t dtype;
	int32_t layout;
	int32_t rank;     /* number of axes, 0 to INFER_PREP_MAX_RANK */
	int32_t reserved; /* 0 */
	int64_t shape[INFER_PREP_MAX_RANK]; /* 0 behind the last axis */
};

/* An op of the library. All functions are required. */
struct infer_prep_op {
	/* The name in graphs: 1 to 64 of a-z, 0-9 and _, unique in the library. */
	const char *name;

	/*
	 * create parses the arguments of a graph's step, a text that ends with a
	 * zero byte, and stores an instance in *self, which may be NULL. Text that
	 * the op does not understand is an error.
	 */
	int (*create)(const char *args, void **self, char *error, size_t error_size);

	/*
	 * destroy frees an instance. The host calls it once for each create that
	 * succeeded, when nothing uses the instance any more, or never if the
	 * process ends first.
	 */
	void (*destroy)(void *self);

	/*
	 * infer describes the output for an input, or refuses the input. *out is a
	 * copy of *in; change what differs. Sizes of the input may be
	 * INFER_PREP_UNKNOWN. Output sizes that depend on them are then
	 * INFER_PREP_UNKNOWN too; all others must be stated. Store the number of
	 * bytes of memory that apply needs in *scratch, which is 0; it matters
	 * only if every size of the input is known. infer must be fast: it runs
	 * before every apply.
	 */
	int (*infer)(const void *self, const struct infer_prep_desc *in, struct infer_prep_desc *out,
	             uint64_t *scratch, char *error, size_t error_size);

	/*
	 * apply computes the output. The sizes are known, and *out_desc is what
	 * infer returned for *in_desc. It must write every element of out, and must
	 * not write to in. The tensors do not overlap and are aligned for their
	 * types, scratch to 8 bytes. Pointers to 0 bytes may be NULL. Neither out
	 * nor scratch is cleared.
	 */
	int (*apply)(const void *self, const struct infer_prep_desc *in_desc, const void *in,
	             const struct infer_prep_desc *out_desc, void *out, void *scratch, char *error, size_t error_size);
};

/* The table of a library. */
struct infer_prep_library {
	uint32_t abi;   /* INFER_PREP_ABI */
	uint32_t count; /* number of ops, 1 to 1024 */
	const struct infer_prep_op *ops;
};

#if defined(_WIN32)
#define INFER_PREP_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define INFER_PREP_EXPORT __attribute__((visibility("default")))
#else
#define INFER_PREP_EXPORT
#endif

/* The function that a library exports. It always returns the same table. */
INFER_PREP_EXPORT const struct infer_prep_library *infer_prep_plugin(void);

/* The sizes that the host assumes. */
#define INFER_PREP_ASSERT(name, condition) typedef char infer_prep_assert_##name[(condition) ? 1 : -1]
INFER_PREP_ASSERT(pointer, sizeof(void *) == 8);
INFER_PREP_ASSERT(size, sizeof(size_t) == 8);
INFER_PREP_ASSERT(desc, sizeof(struct infer_prep_desc) == 80);
INFER_PREP_ASSERT(op, sizeof(struct infer_prep_op) == 40);
INFER_PREP_ASSERT(library, sizeof(struct infer_prep_library) == 16);

#ifdef __cplusplus
}
#endif

#endif
