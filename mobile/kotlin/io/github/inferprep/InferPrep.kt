package io.github.inferprep

import io.github.inferprep.mobile.Listener
import io.github.inferprep.mobile.Mobile
import io.github.inferprep.mobile.Preprocessor
import java.io.File
import java.io.IOException
import java.io.InputStream
import java.nio.ByteBuffer
import java.util.Collections

/** Receives the progress of a call that takes long. */
public fun interface Progress {
    /**
     * Is called on the thread of the call, with [done] from 0 to [total] steps. An exception ends
     * the call, which then throws the same exception.
     */
    public fun onProgress(done: Int, total: Int)
}

/**
 * The preprocessing of a model. It turns images and sounds into the tensors that the model was trained on, with
 * the same bytes as on every other platform.
 *
 * ```
 * InferPrep.open(File("classifier.bundle")).use { prep ->
 *     val outputs = prep.newOutputs()
 *     for (image in images) {
 *         val tensor = prep.run(image, outputs)[0]
 *     }
 * }
 * ```
 *
 * All methods are safe for concurrent use. A run uses one core; run on several threads to use more.
 * Do not run on Android's main thread: an image takes milliseconds.
 */
public class InferPrep private constructor(private val go: Preprocessor) : AutoCloseable {
    /** The outputs of every run: the model's inputs, then further columns. Unmodifiable. */
    public val outputs: List<OutputInfo> = list(go.outputs()) { OutputInfo.of(go, it) }

    /** The names of the model's classes; empty without a bundle. Unmodifiable. */
    public val labels: List<String> = list(go.labels()) { go.label(it) }

    /** The bundle's metadata, sorted by keys; empty without a bundle. Unmodifiable. */
    public val meta: Map<String, String> = Collections.unmodifiableMap(
        list(go.metas()) { go.metaKey(it) }.associateWith { go.meta(it) },
    )

    /** The names of the bundle's models, sorted; empty without a bundle. Unmodifiable. */
    public val models: List<String> = list(go.models()) { go.modelName(it) }

    /**
     * The SHA-256 of the bundle in hexadecimal; empty without a bundle. Bundles of equal digests
     * have equal content.
     */
    public val digest: String = go.digest()

    /**
     * Returns a copy of a model in its own format, such as ONNX.
     *
     * @param name one of [models], or empty for the only one. Default empty.
     * @throws InferPrepException with code INPUT if there is no such model, DIGEST if it is corrupt,
     * CLOSED after [close].
     */
    @JvmOverloads
    @Throws(InferPrepException::class)
    public fun model(name: String = ""): ByteArray = native { go.model(name) ?: ByteArray(0) }

    /** Returns memory for runs of this InferPrep. It takes the memory of outputs of a fixed shape. */
    public fun newOutputs(): Outputs = native { Outputs(this, outputs) }

    /**
     * Runs on an encoded image: JPEG, PNG, GIF, BMP, TIFF, WebP, PNM, QOI, TGA or ICO.
     *
     * @param image the bytes of the file. They are copied.
     * @param into receives the tensors. Default [newOutputs].
     * @return [into].
     * @throws InferPrepException with code FORMAT, UNSUPPORTED or LIMIT if the image cannot be
     * decoded, INPUT if [into] belongs to another InferPrep or the graph does not take one image,
     * CLOSED if this or [into] is closed, or another code.
     */
    @JvmOverloads
    @Throws(InferPrepException::class)
    public fun run(image: ByteArray, into: Outputs = newOutputs()): Outputs = into.run(this, go, image)

    /**
     * Runs on an encoded image in a buffer, from its position to its limit, which do not change. A
     * direct buffer is read in place and must not be written to before the call returns; others are
     * copied.
     *
     * @param image the bytes of the file.
     * @param into receives the tensors. Default [newOutputs].
     * @return [into].
     * @throws InferPrepException as the run of a ByteArray does.
     */
    @JvmOverloads
    @Throws(InferPrepException::class)
    public fun run(image: ByteBuffer, into: Outputs = newOutputs()): Outputs = into.run(this, go, image)

    /**
     * Runs on pixels of four bytes: red, green, blue and alpha, which is not premultiplied. The
     * tensors are those of a PNG file of the same pixels.
     *
     * @param pixels the pixels, from the buffer's position to its limit. They are copied.
     * @param frame the size of the pixels, the crop and the rotation.
     * @param into receives the tensors. Default [newOutputs].
     * @return [into].
     * @throws InferPrepException with code INPUT if frame is invalid or needs more bytes than
     * pixels has, and as the run of a ByteArray does.
     */
    @JvmOverloads
    @Throws(InferPrepException::class)
    public fun run(pixels: ByteBuffer, frame: Frame, into: Outputs = newOutputs()): Outputs =
        into.run(this, go, frame, pixels)

    /** Runs on pixels without gaps that [write] puts into memory of [into]: red, green, blue, alpha. */
    internal fun run(frame: Frame, into: Outputs, write: (ByteBuffer) -> Unit): Outputs = into.run(this, go, frame, write)

    /**
     * Runs on a camera frame in YUV 4:2:0, BT.601 full range, as android.media.Image has it in format
     * YUV_420_888: I420, NV12 or NV21. The frame becomes RGB as libyuv converts it.
     *
     * @param y the brightness, from the buffer's position to its limit. It is copied.
     * @param u the blue difference (Cb), with the strides of [v].
     * @param v the red difference (Cr).
     * @param frame the size of the pixels, the strides, the crop and the rotation.
     * @param into receives the tensors. Default [newOutputs].
     * @return [into].
     * @throws InferPrepException with code INPUT if frame is invalid or needs more bytes than the
     * buffers have, and as the run of a ByteArray does.
     */
    @JvmOverloads
    @Throws(InferPrepException::class)
    public fun run(
        y: ByteBuffer,
        u: ByteBuffer,
        v: ByteBuffer,
        frame: Frame,
        into: Outputs = newOutputs(),
    ): Outputs = into.run(this, go, frame, y, u, v)

    /**
     * Runs on the samples of a sound, such as those of android.media.AudioRecord. The tensors are
     * those of a WAV file of the samples. Run on the bytes of a sound file with the run of a
     * ByteArray: WAV or FLAC.
     *
     * @param samples interleaved samples of 16 bits. They are copied.
     * @param format the sampling rate, which must be the graph's, and the channels.
     * @param into receives the tensors. Default [newOutputs].
     * @return [into].
     * @throws InferPrepException with code UNSUPPORTED if the graph has another sampling rate, INPUT
     * if the samples are not a multiple of the channels, and as the run of a ByteArray does.
     */
    @JvmOverloads
    @Throws(InferPrepException::class)
    public fun run(samples: ShortArray, format: SoundFormat, into: Outputs = newOutputs()): Outputs =
        into.run(this, go, Samples.of(samples, 0, samples.size), format)

    /** Runs on samples of -1 to 1, as the run of a ShortArray does. */
    @JvmOverloads
    @Throws(InferPrepException::class)
    public fun run(samples: FloatArray, format: SoundFormat, into: Outputs = newOutputs()): Outputs =
        into.run(this, go, Samples.of(samples, 0, samples.size), format)

    /**
     * Runs on samples in a buffer, from its position to its limit, in little-endian order, as the run
     * of a ShortArray does.
     */
    @JvmOverloads
    @Throws(InferPrepException::class)
    public fun run(samples: ByteBuffer, encoding: SampleEncoding, format: SoundFormat, into: Outputs = newOutputs()): Outputs =
        into.run(this, go, Samples.of(samples, encoding), format)

    /**
     * Returns a stream of a sound whose samples arrive in pieces, such as those of a microphone.
     * It may outlive this InferPrep.
     *
     * @throws InferPrepException with code UNSUPPORTED if the graph does not take a sound, INPUT if it
     * has another sampling rate or does not take so many channels, CLOSED after [close].
     */
    @Throws(InferPrepException::class)
    public fun stream(format: SoundFormat): SoundStream = native {
        SoundStream(go.newStream(format.samplingRate.toLong(), format.channels.toLong()), outputs)
    }

    /**
     * Describes the outputs for an image of [height] and [width] pixels, as decoded, in
     * microseconds and without an image: the patches of a vision-language model, for example.
     * A size that depends on the pixels is -1.
     *
     * @throws InferPrepException with code INPUT if the graph refuses the size, CLOSED after [close].
     */
    @Throws(InferPrepException::class)
    public fun sizes(height: Int, width: Int): List<OutputInfo> = native {
        val result = go.sizes(height.toLong(), width.toLong())
        outputs.mapIndexed { i, output -> output.sized(result, i.toLong()) }
    }

    /**
     * Returns a pipe over a list of images, at the start of epoch 0. It opens no files.
     *
     * @throws InferPrepException with code INPUT if there are no images, the batches are invalid or
     * the graph does not take one image, LIMIT if a batch is too large, CLOSED after [close].
     */
    @Throws(InferPrepException::class)
    public fun pipe(config: PipeConfig): Pipe = native {
        val c = config.native
        c.batchSize = config.batchSize.toLong()
        c.seed = config.seed
        c.shuffle = config.shuffle
        c.dropLast = config.dropLast
        c.skipBad = config.skipBad
        Pipe(go.newPipe(c), outputs, config.batchSize <= 1)
    }

    /**
     * Checks every byte of the bundle against its digest and runs its golden samples on this device.
     *
     * @param progress receives the golden samples done. Default none.
     * @throws InferPrepException with code GOLDEN if a tensor differs from the one in training,
     * DIGEST if the bundle is corrupt, INPUT without a bundle, CLOSED after [close].
     */
    @JvmOverloads
    @Throws(InferPrepException::class)
    public fun verify(progress: Progress? = null) {
        var thrown: Throwable? = null
        val listener = progress?.let {
            Listener { done, total ->
                try {
                    it.onProgress(done.toInt(), total.toInt())
                } catch (e: Throwable) {
                    thrown = e
                    throw e // ends the work in Go
                }
            }
        }
        try {
            go.verify(listener)
        } catch (e: Exception) {
            throw thrown ?: typed(e)
        }
    }

    /**
     * Checks that the owner of a key has signed the bundle. It does not read the whole bundle:
     * [verify] does.
     *
     * @param publicKey an Ed25519 public key in PEM, as "openssl pkey -pubout" writes it.
     * @throws InferPrepException with code SIGNATURE if the key is invalid or has not signed the
     * bundle, INPUT without a bundle, CLOSED after [close].
     */
    @Throws(InferPrepException::class)
    public fun verifySignature(publicKey: String): Unit = native { go.verifySignature(publicKey.toByteArray()) }

    /**
     * Releases the bundle's memory. Runs in progress end normally, and later ones throw code CLOSED.
     * Properties and tensors stay valid. A second call does nothing.
     */
    @Throws(InferPrepException::class)
    override fun close(): Unit = native { go.close() }

    /** Returns the outputs, for logs. */
    override fun toString(): String = "InferPrep$outputs"

    /** Opens bundles and graphs. */
    public companion object {
        /** The version of the native library, such as "v0.1.0". */
        @JvmStatic
        public val version: String
            @Throws(InferPrepException::class)
            get() {
                loadNative()
                return Mobile.version()
            }

        /**
         * The bytes of the native library's heap: the objects that were alive in its last garbage
         * collection, 0 before the first. The JVM's tools do not count them.
         */
        @JvmStatic
        public val nativeHeap: Long
            @Throws(InferPrepException::class)
            get() {
                loadNative()
                return Mobile.heapSize()
            }

        /**
         * Opens a bundle, as "infer-prep bundle create" writes it.
         *
         * @param bundle the bytes of the file. They are copied.
         * @throws InferPrepException with code BUNDLE, VERSION or DIGEST if the bundle is invalid,
         * GRAPH, OP or PARAM if its graph is, NATIVE if there is no native library for the platform.
         */
        @JvmStatic
        @Throws(InferPrepException::class)
        public fun open(bundle: ByteArray): InferPrep = opened { Mobile.open(bundle) }

        /**
         * Opens a bundle file and maps it into memory: do not change the file before [close].
         *
         * @throws InferPrepException with code IO if the file cannot be read, and as open of a
         * ByteArray does.
         */
        @JvmStatic
        @Throws(InferPrepException::class)
        public fun open(file: File): InferPrep = opened { Mobile.openFile(file.path) }

        /**
         * Opens a bundle and reads the stream to its end. The caller closes the stream.
         *
         * @throws InferPrepException with code IO if the stream cannot be read, and as open of a
         * ByteArray does.
         */
        @JvmStatic
        @Throws(InferPrepException::class)
        public fun open(stream: InputStream): InferPrep {
            val bundle = try {
                stream.readBytes()
            } catch (e: IOException) {
                throw InferPrepException(InferPrepException.Code.IO, "inferprep: bundle: $e", e)
            }
            return open(bundle)
        }

        /**
         * Opens a data graph, as "infer-prep graph import" writes it. It has no labels, models and
         * golden samples.
         *
         * @param graph the graph in JSON or MessagePack. It is copied.
         * @throws InferPrepException with code GRAPH, OP or PARAM if the graph is invalid, NATIVE if
         * there is no native library for the platform.
         */
        @JvmStatic
        @Throws(InferPrepException::class)
        public fun openGraph(graph: ByteArray): InferPrep = opened { Mobile.openGraph(graph) }

        private inline fun opened(open: () -> Preprocessor): InferPrep {
            loadNative()
            return native { InferPrep(open()) }
        }

        private fun <T> list(n: Long, at: (Long) -> T): List<T> =
            Collections.unmodifiableList(List(n.toInt()) { at(it.toLong()) })
    }
}
