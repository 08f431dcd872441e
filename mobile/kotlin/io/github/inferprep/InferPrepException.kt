package io.github.inferprep

import io.github.inferprep.bridge.Native
import io.github.inferprep.bridge.Seq
import io.github.inferprep.mobile.Mobile

/**
 * Reports a failed call. [message] names the operation, the offending value and what was expected.
 *
 * @property code the kind of failure, for programs.
 */
public class InferPrepException @JvmOverloads constructor(
    public val code: Code,
    message: String,
    cause: Throwable? = null,
) : RuntimeException(message, cause) {
    /** The kind of a failure. */
    public enum class Code {
        /** The file is not a bundle, or is truncated. */
        BUNDLE,

        /** The bundle's format is newer than this library. */
        VERSION,

        /** The bundle is corrupt. */
        DIGEST,

        /** The bundle is not signed by the key, or the key is invalid. */
        SIGNATURE,

        /** A golden sample gives other tensors on this device than in training. */
        GOLDEN,

        /** The data graph is invalid. */
        GRAPH,

        /** The data graph has an op that this library does not know. */
        OP,

        /** An op has a parameter that it does not allow. */
        PARAM,

        /** The image is damaged, or the bytes are not an image. */
        FORMAT,

        /** The image is valid, but of a kind that is not decoded. */
        UNSUPPORTED,

        /** The image, or the memory to decode it, is too large. */
        LIMIT,

        /** An argument is invalid. */
        INPUT,

        /** The object is closed. */
        CLOSED,

        /** The state of a pipe is damaged, or of another pipe or other images. */
        STATE,

        /** The work was canceled. */
        CANCELED,

        /** A file cannot be read. */
        IO,

        /** The native library is missing for this platform, or cannot be loaded. */
        NATIVE,

        /** This library has a bug; please report it. */
        INTERNAL,
    }
}

/** Loads the native library. Everything else assumes that this has succeeded. */
internal fun loadNative() {
    try {
        Native.load()
    } catch (e: UnsatisfiedLinkError) {
        throw InferPrepException(InferPrepException.Code.NATIVE, e.message ?: e.toString(), e)
    }
}

/** Runs [block] and turns the bindings' exceptions into InferPrepException. */
internal inline fun <T> native(block: () -> T): T =
    try {
        block()
    } catch (e: Exception) {
        throw typed(e)
    }

internal fun typed(e: Exception): RuntimeException {
    if (e is InferPrepException) {
        return e
    }
    if (e !is Seq.Proxy) { // not from Go
        return InferPrepException(InferPrepException.Code.INTERNAL, "inferprep: $e", e)
    }
    val name = Mobile.code(e)
    val code = InferPrepException.Code.entries.find { it.name.equals(name, ignoreCase = true) }
    return InferPrepException(code ?: InferPrepException.Code.INTERNAL, e.message.orEmpty())
}

internal fun invalid(message: String): InferPrepException =
    InferPrepException(InferPrepException.Code.INPUT, "inferprep: $message")
