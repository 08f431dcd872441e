// The address of a direct buffer never reaches Java: Go keeps it and returns a
// number for it.
#include <jni.h>
#include "_cgo_export.h"

JNIEXPORT jlong JNICALL
Java_io_github_inferprep_bridge_Direct_register(JNIEnv *env, jclass class, jobject buffer) {
	if (buffer == NULL) {
		return 0;
	}
	void *at = (*env)->GetDirectBufferAddress(env, buffer);
	if (at == NULL) {
		return 0;
	}
	return registerDirect(at, (*env)->GetDirectBufferCapacity(env, buffer));
}
