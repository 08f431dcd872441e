package io.github.inferprep

import io.github.inferprep.bridge.Direct
import io.github.inferprep.mobile.Mobile
import io.github.inferprep.mobile.Result
import java.io.File
import java.nio.ByteBuffer
import java.util.Objects

/**
 * The images of a [Pipe] and how it makes batches of them. Later changes do not affect a pipe that
 * was made. It is not safe for concurrent use.
 */
public class PipeConfig {
    internal val native = native {
        loadNative()
        Mobile.newPipeConfig()
    }

    /**
     * The number of images in a batch, up to 1,048,576. 0 and 1 mean single tensors without an axis
     * for the batch. Batches of images of different sizes need a graph that resizes them or pads
     * batches. Default 0.
     */
    public var batchSize: Int = 0

    /** Determines the order of [shuffle] and the graph's random ops. Default 0. */
    public var seed: Long = 0

    /** Whether the images come in random order, anew in each epoch. Default false. */
    public var shuffle: Boolean = false

    /** Whether the last batch of an epoch is left out if it is smaller. Default false. */
    public var dropLast: Boolean = false

    /**
     * Whether images that cannot be read or decoded are left out. Otherwise the first of them is an
     * exception of [Pipe.next]. An epoch of bad images alone is an exception all the same, and so
     * are more than 1,000 in succession. Default false.
     */
    public var skipBad: Boolean = false

    /**
     * Adds an encoded image in a file. [Pipe.next] reads it when its turn comes.
     *
     * @throws InferPrepException with code INPUT if the path is empty.
     */
    @Throws(InferPrepException::class)
    public fun addFile(file: File): Unit = native { native.addFile(file.path) }

    /** Adds an encoded image, which is copied. */
    @Throws(InferPrepException::class)
    public fun addImage(image: ByteArray): Unit = native { native.addImage(image) }
}

/**
 * The tensors of one image or one batch, in the order of [InferPrep.outputs]. Those of [Pipe.next]
 * have memory of their own, which the garbage collector frees when no view of them is reachable.
 * Those of [Pipe.nextInto] are in the caller's memory.
 */
public class Batch internal constructor(
    private val tensors: List<Tensor>,
    private val numbers: IntArray,
) : AbstractList<Tensor>() {
    override val size: Int
        get() = tensors.size

    override fun get(index: Int): Tensor = tensors[index]

    /**
     * Returns the tensor of the output of a name.
     *
     * @throws InferPrepException with code INPUT if there is none.
     */
    @Throws(InferPrepException::class)
    public operator fun get(name: String): Tensor = tensors.find { it.name == name }
        ?: throw invalid("no output \"$name\": want one of ${tensors.map { it.name }}")

    /** The numbers of the images, from 0 in the order in which they were added. A copy. */
    public val images: IntArray
        get() = numbers.clone()
}

/**
 * Runs an [InferPrep] on a list of images, one batch a call, on the calling thread. It is for batch
 * inference and for training on the device. It reads ahead nothing.
 *
 * ```
 * val config = PipeConfig().apply { batchSize = 8; shuffle = true }
 * files.forEach(config::addFile)
 * prep.pipe(config).use { pipe ->
 *     repeat(epochs) {
 *         while (true) {
 *             val batch = pipe.next() ?: break
 *             train(batch[0], batch.images)
 *         }
 *         pipe.nextEpoch()
 *     }
 * }
 * ```
 *
 * Its methods may be called from several threads, and wait for each other. A pipe ends with its
 * InferPrep: after that one's close they throw code CLOSED.
 */
public class Pipe internal constructor(
    private val go: io.github.inferprep.mobile.Pipe,
    private val infos: List<OutputInfo>,
    private val single: Boolean,
) : AutoCloseable {
    private val lock = Any()

    /** The last batch, under [lock]. */
    private var result = Result()

    /** The caller's buffers while Go writes to them: they stay reachable with this object. */
    @Volatile
    private var held: Any? = null

    /** The number of the epoch, from 0; 0 after [close]. */
    public val epoch: Long
        get() = go.epoch()

    /** The batches of an epoch; -1 if skipBad makes them depend on the images; 0 after [close]. */
    public val length: Long
        get() = go.len()

    /**
     * The images that skipBad left out since the pipe was made or restored. Images that are bad in
     * several epochs count in each.
     */
    public val skipped: Long
        get() = go.skipped()

    /**
     * Returns the next batch in new memory, or null at the end of the epoch.
     *
     * The memory is outside of Java's heap. A garbage collection frees it, but the JVM seldom starts
     * one while its heap has room. Large batches may therefore take memory up to the limit
     * -XX:MaxDirectMemorySize. [nextInto] allocates none.
     *
     * @throws InferPrepException with the code of a run, or IO if a file cannot be read. Later calls
     * throw the same until [nextEpoch] or [restore]. CLOSED after [close].
     */
    @Throws(InferPrepException::class)
    public fun next(): Batch? = native {
        synchronized(lock) {
            if (!go.nextInto(result)) {
                return null
            }
            batch { i, n ->
                val memory = ByteBuffer.allocateDirect(n)
                if (n > 0) {
                    result.copy(i.toLong(), handle(memory))
                }
                memory
            }
        }
    }

    /**
     * Copies the next batch into memory of the caller and returns it, or returns null at the end of
     * the epoch. Its tensors are views of that memory, so the next write changes
     * them.
     *
     * @param into a direct buffer for each of [InferPrep.outputs], filled from its position on. Its
     * position and limit do not change. It must have room for a full batch.
     * @throws InferPrepException with code INPUT if a buffer is missing, not direct, read-only or too
     * small. The pipe then stays where it is; only a batch whose size depends on the images may be
     * lost, if it does not fit. Other codes as [next] does.
     */
    @Throws(InferPrepException::class)
    public fun nextInto(vararg into: ByteBuffer): Batch? {
        if (into.size != infos.size) {
            throw invalid("pipe: ${into.size} buffers: want one for each of the outputs ${infos.map { it.name }}")
        }
        into.forEachIndexed { i, b ->
            Objects.requireNonNull(b, "inferprep: pipe: buffer $i is null") // from Java
            val wrong = when {
                !b.isDirect -> "is not direct: want one of ByteBuffer.allocateDirect"
                b.isReadOnly -> "is read-only"
                !b.hasRemaining() -> "has no room from its position to its limit"
                else -> return@forEachIndexed
            }
            throw invalid("pipe: buffer $i $wrong")
        }
        return native {
            synchronized(lock) {
                val views = into.map { it.slice() }
                held = views
                try {
                    views.forEachIndexed { i, b -> result.setBuffer(i.toLong(), handle(b)) }
                    if (go.nextInto(result)) batch { i, n -> views[i].also { it.limit(n) } } else null
                } finally {
                    infos.indices.forEach { result.setBuffer(it.toLong(), null) }
                    held = null
                }
            }
        }
    }

    /** Makes a batch of the result; [memory] returns the memory of an output and its size. */
    private inline fun batch(memory: (Int, Int) -> ByteBuffer): Batch {
        val tensors = List(infos.size) { i ->
            val at = i.toLong()
            val n = result.size(at)
            if (n > Int.MAX_VALUE) {
                throw InferPrepException(
                    InferPrepException.Code.LIMIT,
                    "inferprep: output \"${infos[i].name}\" has $n bytes: a buffer has at most ${Int.MAX_VALUE}",
                )
            }
            val dims = LongArray(result.rank(at).toInt()) { result.dim(at, it.toLong()) }
            infos[i].run { Tensor(name, type, layout, dims, single && batched, memory(i, n.toInt())) }
        }
        return Batch(tensors, IntArray(result.images().toInt()) { result.image(it.toLong()).toInt() })
    }

    private fun handle(direct: ByteBuffer) = Mobile.newBuffer(Direct.register(direct))

    /** Starts the next epoch, also before the end of this one. */
    @Throws(InferPrepException::class)
    public fun nextEpoch(): Unit = native { go.nextEpoch() }

    /**
     * Returns the place after the last batch, for [restore]. At the end of an epoch it is the start
     * of the next one. It holds no images.
     */
    @Throws(InferPrepException::class)
    public fun state(): ByteArray = native { go.state() }

    /**
     * Continues at a [state] of this pipe or of another one, also of another process, that has the
     * same graph, configuration and images. A file counts by its path, other images by content.
     *
     * @throws InferPrepException with code STATE if the state is invalid or of another pipe. This
     * one then stays where it is.
     */
    @Throws(InferPrepException::class)
    public fun restore(state: ByteArray): Unit = native { go.restore(state) }

    /** Releases the memory and waits for a running call. A second call does nothing. */
    @Throws(InferPrepException::class)
    override fun close() {
        native { go.close() }
        synchronized(lock) { result = Result() }
    }
}
