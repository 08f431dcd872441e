package io.github.inferprep

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.withContext
import java.nio.ByteBuffer

/**
 * Runs on an encoded image on [Dispatchers.Default]; see [InferPrep.run].
 *
 * Cancellation takes effect before and after the run, which takes milliseconds and is not
 * interrupted: when this function has returned or thrown, [image] and [into] are not in use.
 */
@Throws(InferPrepException::class)
public suspend fun InferPrep.runSuspending(image: ByteArray, into: Outputs = newOutputs()): Outputs =
    withContext(Dispatchers.Default) { this@runSuspending.run(image, into) }

/** Runs on an encoded image in a buffer; see [InferPrep.run] and the first [runSuspending]. */
@Throws(InferPrepException::class)
public suspend fun InferPrep.runSuspending(image: ByteBuffer, into: Outputs = newOutputs()): Outputs =
    withContext(Dispatchers.Default) { this@runSuspending.run(image, into) }

/** Runs on RGBA pixels; see [InferPrep.run] and the first [runSuspending]. */
@Throws(InferPrepException::class)
public suspend fun InferPrep.runSuspending(
    pixels: ByteBuffer,
    frame: Frame,
    into: Outputs = newOutputs(),
): Outputs = withContext(Dispatchers.Default) { this@runSuspending.run(pixels, frame, into) }

/** Runs on a camera frame; see [InferPrep.run] and the first [runSuspending]. */
@Throws(InferPrepException::class)
public suspend fun InferPrep.runSuspending(
    y: ByteBuffer,
    u: ByteBuffer,
    v: ByteBuffer,
    frame: Frame,
    into: Outputs = newOutputs(),
): Outputs = withContext(Dispatchers.Default) { this@runSuspending.run(y, u, v, frame, into) }

/**
 * Verifies the bundle on [Dispatchers.Default]; see [InferPrep.verify]. Cancellation takes effect
 * before the next golden sample.
 */
@Throws(InferPrepException::class)
public suspend fun InferPrep.verifySuspending(progress: Progress? = null): Unit =
    withContext(Dispatchers.Default) {
        verify { done, total ->
            ensureActive()
            progress?.onProgress(done, total)
        }
    }
