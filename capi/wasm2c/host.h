/* host.h: what the hand-written files of the library share. */
#ifndef IP_HOST_H
#define IP_HOST_H

#define IP_WASM2C 1

#include "infer_prep.h"
#include "ip.h"

/* The functions that shim.c calls, as capi/lib/cgo.go has them. */
ip_status ipgo_capabilities(char **text, ip_error *e);
ip_status ipgo_free(uintptr_t h, int32_t kind);
ip_status ipgo_graph_open(char *name, void *data, size_t n, ip_options *options, uintptr_t *h, ip_error *e);
int32_t ipgo_graph_count(uintptr_t h, int32_t list);
int32_t ipgo_graph_find(uintptr_t h, int32_t list, char *name);
ip_status ipgo_graph_describe(uintptr_t h, int32_t list, int32_t i, ip_column *column, ip_error *e);
ip_status ipgo_graph_sizes(uintptr_t h, int64_t height, int64_t width, ip_column *columns, int32_t n, ip_error *e);
ip_status ipgo_probe(void *image, size_t n, ip_image_info *info, ip_error *e);
ip_status ipgo_run_into(uintptr_t h, ip_input *in, int32_t nin, ip_tensor *out, int32_t nout, ip_error *e);
ip_status ipgo_run(uintptr_t h, ip_input *in, int32_t nin, uintptr_t *lent, ip_error *e);
ip_status ipgo_result_tensor(uintptr_t h, int32_t i, ip_tensor *to, ip_error *e);
int32_t ipgo_result_count(uintptr_t h);
ip_status ipgo_result_describe(uintptr_t h, int32_t i, ip_column *column, ip_error *e);
ip_status ipgo_collate(uintptr_t h, void *results, size_t n, uintptr_t *lent, ip_error *e);
ip_status ipgo_video_open(char *name, void *data, size_t n, ip_options *options, uintptr_t *h, ip_error *e);
ip_status ipgo_video_sample(uintptr_t h, ip_clip *clip, int64_t *numbers, uint64_t capacity, uint64_t *count, ip_error *e);
ip_status ipgo_video_run(uintptr_t h, ip_clip *clips, int32_t n, uintptr_t *lent, ip_error *e);
ip_status ipgo_tokens_open(char *folder, ip_token_files *files, uintptr_t *h, ip_error *e);
ip_status ipgo_tokens_images(uintptr_t h, int64_t *sizes, int32_t n, ip_image_tokens *images, char *text, uint64_t capacity, uint64_t *bytes, ip_error *e);

/* In shim.c. */
void ipc_set_error(ip_error *e, ip_status status, const char *text, size_t n);

#define IP_FILES 32

/* The state of the WASI functions of an instance. */
typedef struct w2c_wasi__snapshot__preview1 {
	wasm_rt_memory_t *memory;
	int fds[IP_FILES];  /* of the system, by WASI's number minus 4; -1: closed */
	char said[800];     /* the end of what the module wrote, such as a fatal error */
	size_t said_n;
	struct video_run *video; /* of host.c; NULL unless a video runs */
} ip_wasi;

void ip_wasi_init(ip_wasi *w, wasm_rt_memory_t *memory);
void ip_wasi_free(ip_wasi *w);

#endif
