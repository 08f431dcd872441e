/* windows.c: a host that loads the DLL at run time. Its exception handlers stay,
 * whether it installs them before or after, and so does the DLL after
 * FreeLibrary. Names of files are UTF-8. windows before|after DLL IMAGE */
#include "infer_prep.h"

#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

#define CHECK(x)                                                              \
	do {                                                                  \
		if (!(x)) {                                                   \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
			exit(1);                                              \
		}                                                             \
	} while (0)

static volatile LONG faults, stop, bad;
static char *page;

/* on_fault makes the page readable, which the host's faults wait for. */
static LONG CALLBACK on_fault(EXCEPTION_POINTERS *x)
{
	DWORD old;
	if (x->ExceptionRecord->ExceptionCode != EXCEPTION_ACCESS_VIOLATION || (char *)x->ExceptionRecord->ExceptionInformation[1] != page)
		return EXCEPTION_CONTINUE_SEARCH;
	faults++;
	return VirtualProtect(page, 4096, PAGE_READWRITE, &old) ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
}

typedef ip_status open_fn(const char *, const ip_options *, ip_graph **, ip_error *);
typedef ip_status run_fn(const ip_graph *, const ip_input *, int32_t, ip_tensor *, int32_t, ip_error *);

static run_fn *run_into;
static ip_graph *graph;
static ip_input in;
static char *want;

static unsigned __stdcall runs(void *n)
{
	ip_tensor t = IP_TENSOR_INIT;
	t.capacity = 602112;
	t.data = malloc(t.capacity);
	for (; !stop || *(long *)n == 0; ++*(long *)n)
		if (run_into(graph, &in, 1, &t, 1, NULL) != IP_OK || memcmp(t.data, want, 602112))
			bad = 1;
	free(t.data);
	return 0;
}

/* unicode opens a graph by a name that no single code page has. */
static void unicode(open_fn *open_name)
{
	const char *json = "{\"infer_prep_graph\":1,\"inputs\":[{\"name\":\"b\",\"dtype\":\"bytes\",\"layout\":\"none\",\"shape\":[]}],\"steps\":[],\"outputs\":[\"b\"]}";
	wchar_t name[2 * MAX_PATH];
	char utf8[6 * MAX_PATH];
	ip_error e = IP_ERROR_INIT;
	ip_graph *g;
	DWORD n = GetTempPathW(MAX_PATH, name);
	CHECK(n && n < MAX_PATH);
	wcscpy(name + n, L"gr\u00e4ph \u56fe.json");
	FILE *f = _wfopen(name, L"wb");
	CHECK(f && fwrite(json, 1, strlen(json), f) == strlen(json) && !fclose(f));
	CHECK(WideCharToMultiByte(CP_UTF8, 0, name, -1, utf8, sizeof utf8, NULL, NULL));
	if (open_name(utf8, NULL, &g, &e) != IP_OK)
		fprintf(stderr, "%s\n", e.message);
	CHECK(e.status == IP_OK && !_wremove(name));
}

int main(int argc, char **argv)
{
	CHECK(argc == 4);
	int before = !strcmp(argv[1], "before");
	page = VirtualAlloc(NULL, 4096, MEM_COMMIT | MEM_RESERVE, PAGE_NOACCESS);
	CHECK(page);
	if (before)
		CHECK(AddVectoredExceptionHandler(0, on_fault));
	HMODULE library = LoadLibraryA(argv[2]);
	CHECK(library);
	open_fn *open_name;
	FARPROC f = GetProcAddress(library, "ip_graph_open_name");
	memcpy(&open_name, &f, sizeof f);
	f = GetProcAddress(library, "ip_run_into");
	memcpy(&run_into, &f, sizeof f);
	CHECK(open_name && run_into && !GetProcAddress(library, "ipgo_run_into"));
	if (!before)
		CHECK(AddVectoredExceptionHandler(0, on_fault));

	static char file[1 << 20];
	FILE *image = fopen(argv[3], "rb");
	CHECK(image);
	in = ip_encoded(file, fread(file, 1, sizeof file, image));
	fclose(image);
	CHECK(open_name("preset:imagenet", NULL, &graph, NULL) == IP_OK);
	ip_tensor t = IP_TENSOR_INIT;
	t.capacity = 602112;
	t.data = want = malloc(t.capacity);
	CHECK(run_into(graph, &in, 1, &t, 1, NULL) == IP_OK);

	unicode(open_name);

	HANDLE thread[2];
	long n[2] = { 0, 0 };
	for (int i = 0; i < 2; i++) {
		thread[i] = (HANDLE)_beginthreadex(NULL, 0, runs, &n[i], 0, NULL);
		CHECK(thread[i]);
	}
	for (int i = 0; i < 100; i++) {
		DWORD old;
		CHECK(VirtualProtect(page, 4096, PAGE_NOACCESS, &old));
		*(volatile char *)page = 1;
		Sleep(1);
	}
	stop = 1;
	CHECK(WaitForMultipleObjects(2, thread, TRUE, INFINITE) == WAIT_OBJECT_0);
	CHECK(faults == 100 && !bad);

	CHECK(FreeLibrary(library));
	CHECK(run_into(graph, &in, 1, &t, 1, NULL) == IP_OK);
	printf("%ld faults in %ld runs\n", (long)faults, n[0] + n[1]);
	return 0;
}
