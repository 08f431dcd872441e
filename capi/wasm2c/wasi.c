/* wasi.c: the functions of WASI that the module calls: time, random numbers, and
 * reading files. It cannot write files. What it writes to its standard outputs
 * is a fatal error of Go, kept for the message. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "host.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

typedef ip_wasi wasi;

/* The errors of WASI. */
enum { W_ACCES = 2, W_BADF = 8, W_INVAL = 28, W_IO = 29, W_ISDIR = 31, W_LOOP = 32, W_MFILE = 33, W_NAMETOOLONG = 37, W_NOENT = 44, W_NOMEM = 48, W_NOSYS = 52, W_NOTDIR = 54, W_PERM = 63, W_ROFS = 69, W_NOTSUP = 58 };

/* The kinds of file. */
enum { T_UNKNOWN, T_DEVICE = 2, T_FOLDER = 3, T_FILE = 4 };

/* Numbers of files: 3 is the folder /, which all paths start from. */
enum { FD_ROOT = 3, FD_FIRST = 4 };

void ip_wasi_init(ip_wasi *w, wasm_rt_memory_t *memory)
{
	w->memory = memory;
	w->said_n = 0;
	w->video = NULL;
	for (int i = 0; i < IP_FILES; i++)
		w->fds[i] = -1;
}

void ip_wasi_free(ip_wasi *w)
{
#ifndef _WIN32
	for (int i = 0; i < IP_FILES; i++)
		if (w->fds[i] >= 0)
			close(w->fds[i]);
#else
	(void)w;
#endif
}

/* at returns n bytes of the module's memory. Others are a trap. */
static void *at(wasi *w, u32 address, u64 n)
{
	if (n > w->memory->size || address > w->memory->size - n)
		wasm_rt_trap(WASM_RT_TRAP_OOB);
	return w->memory->data + address;
}

static void put32(wasi *w, u32 to, u32 x) { memcpy(at(w, to, 4), &x, 4); }
static void put64(wasi *w, u32 to, u64 x) { memcpy(at(w, to, 8), &x, 8); }

static u32 get32(wasi *w, u32 from)
{
	u32 x;
	memcpy(&x, at(w, from, 4), 4);
	return x;
}

static u64 get64(wasi *w, u32 from)
{
	u64 x;
	memcpy(&x, at(w, from, 8), 8);
	return x;
}

/* The module has no arguments and no environment. */

u32 w2c_wasi__snapshot__preview1_args_sizes_get(wasi *w, u32 n, u32 bytes)
{
	put32(w, n, 0);
	put32(w, bytes, 0);
	return 0;
}

u32 w2c_wasi__snapshot__preview1_args_get(wasi *w, u32 a, u32 b)
{
	(void)w, (void)a, (void)b;
	return 0;
}

u32 w2c_wasi__snapshot__preview1_environ_sizes_get(wasi *w, u32 n, u32 bytes)
{
	return w2c_wasi__snapshot__preview1_args_sizes_get(w, n, bytes);
}

u32 w2c_wasi__snapshot__preview1_environ_get(wasi *w, u32 a, u32 b)
{
	(void)w, (void)a, (void)b;
	return 0;
}

void w2c_wasi__snapshot__preview1_proc_exit(wasi *w, u32 code)
{
	(void)w, (void)code;
	wasm_rt_trap(WASM_RT_TRAP_UNREACHABLE);
}

u32 w2c_wasi__snapshot__preview1_sched_yield(wasi *w)
{
	(void)w;
	return 0;
}

/* now returns nanoseconds of a clock: 0 the time of day, else monotonic. */
static u64 now(u32 clock)
{
#ifdef _WIN32
	FILETIME t; /* since 1601, in units of 100 ns */
	(void)clock;
	GetSystemTimeAsFileTime(&t);
	return (((u64)t.dwHighDateTime << 32 | t.dwLowDateTime) - 116444736000000000u) * 100;
#else
	struct timespec t = { 0, 0 };
	clock_gettime(clock == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
#endif
}

u32 w2c_wasi__snapshot__preview1_clock_time_get(wasi *w, u32 clock, u64 precision, u32 to)
{
	(void)precision;
	put64(w, to, now(clock));
	return 0;
}

/* random_get's numbers are seeds of hash tables and no secrets: without
 * /dev/urandom the time will do. */
u32 w2c_wasi__snapshot__preview1_random_get(wasi *w, u32 to, u32 n)
{
	unsigned char *p = at(w, to, n);
	FILE *f = fopen("/dev/urandom", "rb");
	size_t got = 0;
	if (f) {
		setvbuf(f, NULL, _IONBF, 0);
		got = fread(p, 1, n, f);
		fclose(f);
	}
	u64 x = now(0) ^ (u64)(uintptr_t)w;
	for (; got < n; got++) {
		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u + 0x9e3779b97f4a7c15u;
		p[got] = (unsigned char)(x >> 56);
	}
	return 0;
}

/* poll_oneoff sleeps until the first of the clocks. Files are always ready. */
u32 w2c_wasi__snapshot__preview1_poll_oneoff(wasi *w, u32 subscriptions, u32 events, u32 n, u32 done)
{
	enum { SUBSCRIPTION = 48, EVENT = 32 };
	u64 least = (u64)-1;
	u32 count = 0;
	for (u32 i = 0; i < n; i++) {
		u32 s = subscriptions + i * SUBSCRIPTION;
		u64 ns = 0;
		if (*(u8 *)at(w, s + 8, 1) == 0) {
			ns = get64(w, s + 24);
			if (get32(w, s + 40) & 1) { /* a time, not a duration */
				u64 t = now(get32(w, s + 16));
				ns = ns > t ? ns - t : 0;
			}
		}
		least = ns < least ? ns : least;
	}
#ifdef _WIN32
	if (n && least)
		Sleep(least / 1000000u < INFINITE ? (DWORD)(least / 1000000u) : INFINITE - 1);
#else
	if (n && least) {
		struct timespec t;
		t.tv_sec = (time_t)(least / 1000000000u);
		t.tv_nsec = (long)(least % 1000000000u);
		nanosleep(&t, NULL);
	}
#endif
	for (u32 i = 0; i < n; i++) {
		u32 s = subscriptions + i * SUBSCRIPTION;
		u8 type = *(u8 *)at(w, s + 8, 1);
		if (type == 0 && get64(w, s + 24) > least && !(get32(w, s + 40) & 1))
			continue;
		u32 e = events + count++ * EVENT;
		memset(at(w, e, EVENT), 0, EVENT);
		put64(w, e, get64(w, s));
		*(u8 *)at(w, e + 10, 1) = type;
	}
	put32(w, done, count);
	return 0;
}

u32 w2c_wasi__snapshot__preview1_fd_write(wasi *w, u32 fd, u32 iovs, u32 n, u32 done)
{
	u32 total = 0;
	if (fd != 1 && fd != 2)
		return W_BADF;
	for (u32 i = 0; i < n; i++) {
		u32 size = get32(w, iovs + 8 * i + 4);
		const char *from = at(w, get32(w, iovs + 8 * i), size);
		size_t room = sizeof w->said - w->said_n;
		memcpy(w->said + w->said_n, from, size < room ? size : room);
		w->said_n += size < room ? size : room;
		total += size;
	}
	put32(w, done, total);
	return 0;
}

u32 w2c_wasi__snapshot__preview1_fd_fdstat_set_flags(wasi *w, u32 fd, u32 flags)
{
	(void)w, (void)fd, (void)flags;
	return W_NOTSUP;
}

u32 w2c_wasi__snapshot__preview1_fd_prestat_get(wasi *w, u32 fd, u32 to)
{
	if (fd != FD_ROOT)
		return W_BADF;
	put32(w, to, 0);
	put32(w, to + 4, 1);
	return 0;
}

u32 w2c_wasi__snapshot__preview1_fd_prestat_dir_name(wasi *w, u32 fd, u32 to, u32 n)
{
	if (fd != FD_ROOT)
		return W_BADF;
	if (n < 1)
		return W_NAMETOOLONG;
	memcpy(at(w, to, 1), "/", 1);
	return 0;
}

#ifdef _WIN32

/* host.c opens no files by name on Windows. */

u32 w2c_wasi__snapshot__preview1_fd_fdstat_get(wasi *w, u32 fd, u32 to)
{
	if (fd > FD_ROOT)
		return W_BADF;
	memset(at(w, to, 24), 0, 24);
	*(u8 *)at(w, to, 1) = fd == FD_ROOT ? T_FOLDER : T_DEVICE;
	return 0;
}

u32 w2c_wasi__snapshot__preview1_fd_filestat_get(wasi *w, u32 fd, u32 to) { return (void)w, (void)fd, (void)to, W_NOSYS; }
u32 w2c_wasi__snapshot__preview1_path_filestat_get(wasi *w, u32 fd, u32 flags, u32 path, u32 n, u32 to) { return (void)w, (void)fd, (void)flags, (void)path, (void)n, (void)to, W_NOSYS; }
u32 w2c_wasi__snapshot__preview1_path_open(wasi *w, u32 fd, u32 d, u32 path, u32 n, u32 o, u64 r, u64 i, u32 f, u32 to) { return (void)w, (void)fd, (void)d, (void)path, (void)n, (void)o, (void)r, (void)i, (void)f, (void)to, W_NOSYS; }
u32 w2c_wasi__snapshot__preview1_fd_read(wasi *w, u32 fd, u32 iovs, u32 n, u32 done) { return (void)w, (void)fd, (void)iovs, (void)n, (void)done, W_BADF; }
u32 w2c_wasi__snapshot__preview1_fd_pread(wasi *w, u32 fd, u32 iovs, u32 n, u64 at_, u32 done) { return (void)w, (void)fd, (void)iovs, (void)n, (void)at_, (void)done, W_BADF; }
u32 w2c_wasi__snapshot__preview1_fd_seek(wasi *w, u32 fd, u64 offset, u32 whence, u32 to) { return (void)w, (void)fd, (void)offset, (void)whence, (void)to, W_BADF; }
u32 w2c_wasi__snapshot__preview1_fd_close(wasi *w, u32 fd) { return (void)w, (void)fd, W_BADF; }

#else

/* failed is WASI's number of errno. */
static u32 failed(void)
{
	switch (errno) {
	case ENOENT:
		return W_NOENT;
	case EACCES:
		return W_ACCES;
	case EPERM:
		return W_PERM;
	case ENOTDIR:
		return W_NOTDIR;
	case EISDIR:
		return W_ISDIR;
	case ELOOP:
		return W_LOOP;
	case ENAMETOOLONG:
		return W_NAMETOOLONG;
	case ENOMEM:
		return W_NOMEM;
	case EMFILE:
	case ENFILE:
		return W_MFILE;
	case EINVAL:
		return W_INVAL;
	}
	return W_IO;
}

/* file returns the system's number of an open file, -1 if there is none. */
static int file(const wasi *w, u32 fd) { return fd >= FD_FIRST && fd - FD_FIRST < IP_FILES ? w->fds[fd - FD_FIRST] : -1; }

static u8 type_of(const struct stat *s)
{
	if (S_ISREG(s->st_mode))
		return T_FILE;
	if (S_ISDIR(s->st_mode))
		return T_FOLDER;
	return S_ISCHR(s->st_mode) ? T_DEVICE : T_UNKNOWN;
}

static void put_stat(wasi *w, u32 to, const struct stat *s)
{
	memset(at(w, to, 64), 0, 64);
	put64(w, to, (u64)s->st_dev);
	put64(w, to + 8, (u64)s->st_ino);
	*(u8 *)at(w, to + 16, 1) = type_of(s);
	put64(w, to + 24, (u64)s->st_nlink);
	put64(w, to + 32, (u64)s->st_size);
	put64(w, to + 40, (u64)s->st_atime * 1000000000u);
	put64(w, to + 48, (u64)s->st_mtime * 1000000000u);
	put64(w, to + 56, (u64)s->st_ctime * 1000000000u);
}

u32 w2c_wasi__snapshot__preview1_fd_fdstat_get(wasi *w, u32 fd, u32 to)
{
	struct stat s;
	u8 type = fd == FD_ROOT ? T_FOLDER : T_DEVICE;
	if (fd > FD_ROOT) {
		if (file(w, fd) < 0)
			return W_BADF;
		if (fstat(file(w, fd), &s))
			return failed();
		type = type_of(&s);
	}
	memset(at(w, to, 24), 0, 24);
	*(u8 *)at(w, to, 1) = type;
	return 0;
}

u32 w2c_wasi__snapshot__preview1_fd_filestat_get(wasi *w, u32 fd, u32 to)
{
	struct stat s;
	if (file(w, fd) < 0)
		return W_BADF;
	if (fstat(file(w, fd), &s))
		return failed();
	put_stat(w, to, &s);
	return 0;
}

/* path writes the absolute path of a name below fd, which must be /. */
static u32 path_of(wasi *w, u32 fd, u32 name, u32 n, char to[4096])
{
	if (fd != FD_ROOT)
		return W_BADF;
	if (n > 4096 - 2)
		return W_NAMETOOLONG;
	const char *p = at(w, name, n);
	if (memchr(p, 0, n))
		return W_INVAL;
	to[0] = '/';
	memcpy(to + 1, p, n);
	to[n + 1] = 0;
	return 0;
}

u32 w2c_wasi__snapshot__preview1_path_filestat_get(wasi *w, u32 fd, u32 flags, u32 name, u32 n, u32 to)
{
	char path[4096];
	struct stat s;
	u32 e = path_of(w, fd, name, n, path);
	if (e)
		return e;
	if (flags & 1 ? stat(path, &s) : lstat(path, &s))
		return failed();
	put_stat(w, to, &s);
	return 0;
}

u32 w2c_wasi__snapshot__preview1_path_open(wasi *w, u32 fd, u32 lookup, u32 name, u32 n, u32 oflags, u64 rights, u64 inherited, u32 flags, u32 to)
{
	enum { CREATE = 1, FOLDER = 2, EXCLUSIVE = 4, TRUNCATE = 8 };
	char path[4096];
	u32 e = path_of(w, fd, name, n, path);
	(void)rights, (void)inherited, (void)flags;
	if (e)
		return e;
	if (oflags & (CREATE | EXCLUSIVE | TRUNCATE))
		return W_ROFS;
	u32 i = 0;
	while (i < IP_FILES && w->fds[i] >= 0)
		i++;
	if (i == IP_FILES)
		return W_MFILE;
	int f = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (oflags & FOLDER ? O_DIRECTORY : 0) | (lookup & 1 ? 0 : O_NOFOLLOW));
	if (f < 0)
		return failed();
	w->fds[i] = f;
	put32(w, to, FD_FIRST + i);
	return 0;
}

u32 w2c_wasi__snapshot__preview1_fd_close(wasi *w, u32 fd)
{
	int f = file(w, fd);
	if (f < 0)
		return W_BADF;
	w->fds[fd - FD_FIRST] = -1;
	return close(f) ? failed() : 0;
}

/* read_into reads to the first buffer, which has bytes; that may be fewer than
 * there is room for. offset is -1 for the file's own. */
static u32 read_into(wasi *w, u32 fd, u32 iovs, u32 n, int64_t offset, u32 done)
{
	int f = file(w, fd);
	u32 total = 0;
	if (f < 0)
		return W_BADF;
	for (u32 i = 0; i < n; i++) {
		u32 size = get32(w, iovs + 8 * i + 4);
		if (!size)
			continue;
		void *to = at(w, get32(w, iovs + 8 * i), size);
		ssize_t got = offset < 0 ? read(f, to, size) : pread(f, to, size, (off_t)offset);
		if (got < 0)
			return failed();
		total = (u32)got;
		break;
	}
	put32(w, done, total);
	return 0;
}

u32 w2c_wasi__snapshot__preview1_fd_read(wasi *w, u32 fd, u32 iovs, u32 n, u32 done)
{
	return read_into(w, fd, iovs, n, -1, done);
}

u32 w2c_wasi__snapshot__preview1_fd_pread(wasi *w, u32 fd, u32 iovs, u32 n, u64 offset, u32 done)
{
	return offset > INT64_MAX ? W_INVAL : read_into(w, fd, iovs, n, (int64_t)offset, done);
}

u32 w2c_wasi__snapshot__preview1_fd_seek(wasi *w, u32 fd, u64 offset, u32 whence, u32 to)
{
	int f = file(w, fd);
	if (f < 0)
		return W_BADF;
	off_t at_ = lseek(f, (off_t)(int64_t)offset, whence == 0 ? SEEK_SET : whence == 1 ? SEEK_CUR : SEEK_END);
	if (at_ < 0)
		return failed();
	put64(w, to, (u64)at_);
	return 0;
}

#endif
