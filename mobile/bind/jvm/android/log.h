// The part of Android's log.h that gobind's code uses, for the JVM.
#ifndef ANDROID_LOG_H
#define ANDROID_LOG_H
#include <stdio.h>
#define ANDROID_LOG_INFO 4
#define ANDROID_LOG_FATAL 7
#define __android_log_print(priority, tag, ...) \
	((void)(priority), fprintf(stderr, "%s: ", tag), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr))
#endif
