/* Ops for the tests of package plugin. Macros choose a fault of the table. */
#include "infer_prep_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of instances, for tests. */
static int live;
INFER_PREP_EXPORT int live_instances(void);
int live_instances(void) { return __atomic_load_n(&live, __ATOMIC_SEQ_CST); }

static int calls; /* of infer */

static int fail(char *error, size_t n, const char *text) {
	snprintf(error, n, "%s", text);
	return 1;
}

static int create(const char *args, void **self, char *error, size_t n) {
	char *copy;
	if (!strcmp(args, "create"))
		return fail(error, n, "radius nan: want 1 to 64");
	copy = malloc(strlen(args) + 1);
	if (copy == NULL)
		return fail(error, n, "out of memory");
	strcpy(copy, args);
	*self = copy;
	__atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static void destroy(void *self) {
	__atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
	free(self);
}

/* fault copies its input, or does what its arguments say. */
static int fault_infer(const void *self, const struct infer_prep_desc *in, struct infer_prep_desc *out, uint64_t *scratch,
                       char *error, size_t n) {
	const char *args = self;
	(void)in;
	if (!strcmp(args, "infer"))
		return fail(error, n, "no image\n\tof this kind");
	if (!strcmp(args, "silent"))
		return -1;
	if (!strcmp(args, "garbage")) {
		memset(error, 0xff, n); /* no zero byte, no UTF-8 */
		return 1;
	}
	if (!strcmp(args, "dtype"))
		out->dtype = 99;
	if (!strcmp(args, "bytes"))
		out->dtype = 12;
	if (!strcmp(args, "layout"))
		out->layout = -1;
	if (!strcmp(args, "axes"))
		out->rank = 2; /* with a layout */
	if (!strcmp(args, "rank"))
		out->rank = 9;
	if (!strcmp(args, "negative"))
		out->shape[0] = -2;
	if (!strcmp(args, "least"))
		out->shape[0] = INT64_MIN;
	if (!strcmp(args, "unknown"))
		out->shape[0] = INFER_PREP_UNKNOWN;
	if (!strcmp(args, "huge"))
		out->shape[0] = out->shape[1] = INT64_MAX;
	if (!strcmp(args, "large"))
		out->shape[0] = INT64_C(1) << 40;
	if (!strcmp(args, "scratch"))
		*scratch = UINT64_MAX;
	if (!strcmp(args, "fickle"))
		out->shape[0] = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static size_t count(const struct infer_prep_desc *d) {
	static const size_t sizes[] = {0, 1, 1, 2, 2, 4, 8, 2, 2, 4, 8, 1};
	size_t n = sizes[d->dtype];
	int i;
	for (i = 0; i < d->rank; i++)
		n *= (size_t)d->shape[i];
	return n;
}

static int fault_apply(const void *self, const struct infer_prep_desc *in_desc, const void *in,
                       const struct infer_prep_desc *out_desc, void *out, void *scratch, char *error, size_t n) {
	(void)scratch;
	if (!strcmp(self, "apply"))
		return fail(error, n, "the image is too dark");
	if (count(out_desc) != count(in_desc))
		return fail(error, n, "the sizes differ");
	if (count(in_desc) > 0)
		memcpy(out, in, count(in_desc));
	return 0;
}

/* mean returns the mean of the channels of uint8 HWC as float32 CHW. */
static int mean_infer(const void *self, const struct infer_prep_desc *in, struct infer_prep_desc *out, uint64_t *scratch,
                      char *error, size_t n) {
	(void)self;
	(void)scratch;
	if (in->dtype != INFER_PREP_UINT8 || in->layout != INFER_PREP_HWC)
		return fail(error, n, "want uint8 HWC");
	out->dtype = INFER_PREP_FLOAT32;
	out->layout = INFER_PREP_CHW;
	out->shape[0] = 1;
	out->shape[1] = in->shape[0];
	out->shape[2] = in->shape[1];
	return 0;
}

static int mean_apply(const void *self, const struct infer_prep_desc *in_desc, const void *in,
                      const struct infer_prep_desc *out_desc, void *out, void *scratch, char *error, size_t n) {
	const uint8_t *src = in;
	float *dst = out;
	int64_t i, c, channels = in_desc->shape[2];
	(void)self;
	(void)scratch;
	(void)error;
	(void)n;
	for (i = 0; i < out_desc->shape[1] * out_desc->shape[2]; i++) {
		int sum = 0;
		for (c = 0; c < channels; c++)
			sum += *src++;
		dst[i] = (float)sum / (float)channels;
	}
	return 0;
}

#ifndef ABI
#define ABI INFER_PREP_ABI
#endif
#ifndef SECOND
#define SECOND "mean"
#endif
#ifndef DESTROY
#define DESTROY destroy
#endif
#ifndef COUNT
#define COUNT 2
#endif

static const struct infer_prep_op ops[] = {
	{"fault", create, destroy, fault_infer, fault_apply},
	{SECOND, create, DESTROY, mean_infer, mean_apply},
};

static const struct infer_prep_library library = {ABI, COUNT, ops};

#ifdef NOTABLE
const struct infer_prep_library *infer_prep_plugin(void) { return library.ops ? NULL : &library; }
#elif defined(NOSYMBOL)
INFER_PREP_EXPORT const struct infer_prep_library *other_plugin(void);
const struct infer_prep_library *other_plugin(void) { return &library; }
#else
const struct infer_prep_library *infer_prep_plugin(void) { return &library; }
#endif
