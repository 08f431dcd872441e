/*
 * local_contrast: a library for infer-prep with one op of the same name. It
 * strengthens the contrast of an image against its surroundings, as the slider
 * "clarity" of photo editors does:
 *
 *     out = clip(v + floor((v - mean) * amount / 256 + 1/2))
 *
 * The mean is that of a square of 2*radius+1 pixels around the pixel, cut at the
 * image's borders, rounded half up. All arithmetic is integer, so that the bytes
 * are the same for every compiler.
 *
 * Arguments: "radius=R amount=A", R from 1 to 64, A from 0 to 1024 (256 doubles
 * the difference). Input: uint8 HWC. The output has the same description.
 */
#include "infer_prep_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct local_contrast {
	int radius, amount;
};

static int create(const char *args, void **self, char *error, size_t error_size) {
	struct local_contrast *o;
	int radius, amount, end = 0;
	if (sscanf(args, "radius=%4d amount=%4d%n", &radius, &amount, &end) != 2 || args[end] != 0) {
		snprintf(error, error_size, "arguments \"%.100s\": want \"radius=R amount=A\"", args);
		return 1;
	}
	if (radius < 1 || radius > 64) {
		snprintf(error, error_size, "radius %d: want 1 to 64", radius);
		return 1;
	}
	if (amount < 0 || amount > 1024) {
		snprintf(error, error_size, "amount %d: want 0 to 1024", amount);
		return 1;
	}
	o = malloc(sizeof *o);
	if (o == NULL) {
		snprintf(error, error_size, "out of memory");
		return 1;
	}
	o->radius = radius;
	o->amount = amount;
	*self = o;
	return 0;
}

static void destroy(void *self) {
	free(self);
}

/* The output has the input's description. Sums of columns need memory. */
static int infer(const void *self, const struct infer_prep_desc *in, struct infer_prep_desc *out, uint64_t *scratch,
                 char *error, size_t error_size) {
	(void)self;
	(void)out;
	if (in->dtype != INFER_PREP_UINT8 || in->layout != INFER_PREP_HWC) {
		snprintf(error, error_size, "want an image of uint8 in HWC");
		return 1;
	}
	if (in->shape[1] > 0 && in->shape[2] > 0)
		*scratch = (uint64_t)in->shape[1] * (uint64_t)in->shape[2] * sizeof(uint32_t);
	return 0;
}

/* add adds the values of a row to the sums, or subtracts them. */
static void add(uint32_t *sums, const uint8_t *row, int64_t n, int subtract) {
	int64_t i;
	for (i = 0; i < n; i++)
		sums[i] += subtract ? 0u - row[i] : row[i];
}

static int apply(const void *self, const struct infer_prep_desc *in_desc, const void *in,
                 const struct infer_prep_desc *out_desc, void *out, void *scratch, char *error, size_t error_size) {
	const struct local_contrast *o = self;
	const uint8_t *src = in;
	uint8_t *dst = out;
	uint32_t *sums = scratch; /* of the columns of the square */
	const int64_t h = in_desc->shape[0], w = in_desc->shape[1], channels = in_desc->shape[2], line = w * channels;
	int64_t x, y, c, top = 0, bottom = 0;
	(void)out_desc;
	(void)error;
	(void)error_size;
	if (line == 0)
		return 0;
	memset(sums, 0, (size_t)line * sizeof *sums);
	for (y = 0; y < h; y++) {
		for (; bottom < h && bottom <= y + o->radius; bottom++)
			add(sums, src + bottom * line, line, 0);
		for (; top < y - o->radius; top++)
			add(sums, src + top * line, line, 1);
		for (c = 0; c < channels; c++) {
			uint32_t sum = 0;
			int64_t left = 0, right = 0;
			for (x = 0; x < w; x++) {
				const int64_t at = y * line + x * channels + c;
				int32_t n, v, d;
				for (; right < w && right <= x + o->radius; right++)
					sum += sums[right * channels + c];
				for (; left < x - o->radius; left++)
					sum -= sums[left * channels + c];
				n = (int32_t)((bottom - top) * (right - left));
				v = src[at];
				d = (v - (int32_t)((sum + (uint32_t)n / 2) / (uint32_t)n)) * o->amount + 128;
				v += d >= 0 ? d / 256 : -((255 - d) / 256); /* rounded down */
				dst[at] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
			}
		}
	}
	return 0;
}

static const struct infer_prep_op ops[] = {{"local_contrast", create, destroy, infer, apply}};

static const struct infer_prep_library library = {INFER_PREP_ABI, sizeof ops / sizeof ops[0], ops};

const struct infer_prep_library *infer_prep_plugin(void) {
	return &library;
}
