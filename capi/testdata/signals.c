/* signals.c: the host's handlers stay, whether it installs them before or after
 * it loads the library. signals before|after LIBRARY IMAGE */
#define _XOPEN_SOURCE 700
#include "infer_prep.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define CHECK(x)                                                              \
	do {                                                                  \
		if (!(x)) {                                                   \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
			exit(1);                                              \
		}                                                             \
	} while (0)

static volatile sig_atomic_t faults, pipes, ticks;
static sigjmp_buf back;

static void on_fault(int s)
{
	(void)s;
	faults++;
	siglongjmp(back, 1);
}

static void on_pipe(int s)
{
	(void)s;
	pipes++;
}

static void on_tick(int s)
{
	(void)s;
	ticks++;
}

static void handle(int s, void (*f)(int), int flags)
{
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_handler = f;
	sigemptyset(&a.sa_mask);
	a.sa_flags = SA_RESTART | flags;
	CHECK(!sigaction(s, &a, NULL));
}

static void handlers(int flags)
{
	handle(SIGSEGV, on_fault, flags);
	handle(SIGPIPE, on_pipe, flags);
	handle(SIGPROF, on_tick, flags);
}

/* has reports whether the handler of a signal is f. */
static int has(int s, void (*f)(int))
{
	struct sigaction a;
	CHECK(!sigaction(s, NULL, &a));
	return a.sa_handler == f;
}

static void *load(void *library, const char *name)
{
	void *f = dlsym(library, name);
	CHECK(f);
	return f;
}

typedef ip_status open_fn(const char *, const ip_options *, ip_graph **, ip_error *);
typedef ip_status run_fn(const ip_graph *, const ip_input *, int32_t, ip_tensor *, int32_t, ip_error *);

static run_fn *run_into;
static ip_graph *graph;
static ip_input in;
static char *want;
static volatile int stop;

static void *runs(void *arg)
{
	ip_tensor t = IP_TENSOR_INIT;
	long n = 0;
	t.capacity = 602112;
	t.data = malloc(t.capacity);
	for (; !stop || n == 0; n++) {
		CHECK(run_into(graph, &in, 1, &t, 1, NULL) == IP_OK);
		CHECK(!memcmp(t.data, want, 602112));
	}
	free(t.data);
	*(long *)arg = n;
	return NULL;
}

int main(int argc, char **argv)
{
	CHECK(argc == 4);
	int before = !strcmp(argv[1], "before");
	if (before)
		handlers(0);
	void *library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fprintf(stderr, "%s\n", dlerror());
	CHECK(library);
	open_fn *open_name;
	*(void **)&open_name = load(library, "ip_graph_open_name");
	*(void **)&run_into = load(library, "ip_run_into");
	if (!before)
		handlers(SA_ONSTACK);

	static char file[1 << 20];
	FILE *f = fopen(argv[3], "rb");
	CHECK(f);
	in = ip_encoded(file, fread(file, 1, sizeof file, f));
	fclose(f);
	CHECK(open_name("preset:imagenet", NULL, &graph, NULL) == IP_OK);
	ip_tensor t = IP_TENSOR_INIT;
	t.capacity = 602112;
	t.data = want = malloc(t.capacity);
	CHECK(run_into(graph, &in, 1, &t, 1, NULL) == IP_OK);

	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	CHECK(!setitimer(ITIMER_PROF, &every, NULL));
	pthread_t thread[2];
	long n[2];
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&thread[i], NULL, runs, &n[i]));
	int ends[2];
	CHECK(!pipe(ends) && !close(ends[0]));
	while (ticks < 100)
		;
	for (int i = 0; i < 100; i++) {
		volatile int *nowhere = NULL;
		if (!sigsetjmp(back, 1))
			*nowhere = 1;
		CHECK(write(ends[1], "x", 1) == -1);
	}
	stop = 1;
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_join(thread[i], NULL));
	memset(&every, 0, sizeof every);
	CHECK(!setitimer(ITIMER_PROF, &every, NULL));
	CHECK(faults == 100 && pipes == 100 && ticks >= 100);
	CHECK(before || (has(SIGSEGV, on_fault) && has(SIGPIPE, on_pipe)));
	CHECK(has(SIGPROF, on_tick));

	/* The library stays after dlclose. */
	CHECK(!dlclose(library));
	CHECK(run_into(graph, &in, 1, &t, 1, NULL) == IP_OK);
	printf("%d faults, %d broken pipes, %d ticks in %ld runs\n", (int)faults, (int)pipes, (int)ticks, n[0] + n[1]);
	return 0;
}
