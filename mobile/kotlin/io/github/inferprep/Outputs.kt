package io.github.inferprep

import io.github.inferprep.bridge.Direct
import io.github.inferprep.mobile.Buffer
import io.github.inferprep.mobile.Input
import io.github.inferprep.mobile.Mobile
import io.github.inferprep.mobile.Preprocessor
import io.github.inferprep.mobile.Result
import java.nio.ByteBuffer

/**
 * The tensors of the last run into this object, in the order of [InferPrep.outputs], and the memory
 * for the next one. It is empty before the first run and after a failed run.
 *
 * Reuse one Outputs for the images of a stream: a run then allocates next to nothing. Different
 * threads use different Outputs; runs into the same one wait for each other and replace each
 * other's tensors.
 */
public class Outputs internal constructor(
    private val owner: InferPrep,
    private val infos: List<OutputInfo>,
) : AbstractList<Tensor>(), AutoCloseable {
    private val input = Input()
    private val result = Result()
    private val planes = Array(3) { Scratch() }

    /** The memory of outputs: Go writes those of a fixed shape in place, and copies the others. */
    private val memory = Array(infos.size) { i ->
        val n = infos[i].fixedSize
        if (n < 0) Scratch() else Scratch(n.toInt()).also { result.setBuffer(i.toLong(), it.native) }
    }

    /** Outputs of a fixed shape have one Tensor for all runs. */
    private val fixed = Array(infos.size) { i ->
        if (infos[i].fixedSize < 0) null else tensor(i, infos[i].dims, memory[i].bytes)
    }

    @Volatile
    private var tensors = emptyList<Tensor>()

    /**
     * The caller's buffers while Go reads them. This object is locked then and so stays reachable,
     * and they with it; Reference.reachabilityFence needs Java 9 and Android 9.
     */
    @Volatile
    private var held: Any? = null

    @Volatile
    private var closed = false

    /** The number of tensors; 0 before the first run, after a failed run and after [close]. */
    override val size: Int
        get() = tensors.size

    /**
     * Returns the tensor of output [index].
     *
     * @throws IndexOutOfBoundsException if there is none.
     * @throws InferPrepException with code CLOSED after [close].
     */
    @Throws(InferPrepException::class)
    override fun get(index: Int): Tensor = open()[index]

    /**
     * Returns the tensor of the output of a name.
     *
     * @throws InferPrepException with code INPUT if there is none, CLOSED after [close].
     */
    @Throws(InferPrepException::class)
    public operator fun get(name: String): Tensor = open().find { it.name == name }
        ?: throw invalid("no output \"$name\": want one of ${tensors.map { it.name }}")

    /**
     * Lets go of the memory, after the end of a run in progress. The garbage collector does so as
     * well, when neither this object nor a view of its tensors is reachable. Views that were taken
     * before stay valid. A second call does nothing.
     */
    override fun close() {
        synchronized(input) {
            closed = true
            tensors = emptyList()
            fixed.fill(null)
            (memory + planes).forEach { it.free() }
        }
    }

    private fun open(): List<Tensor> {
        val t = tensors
        if (closed) {
            throw InferPrepException(InferPrepException.Code.CLOSED, "inferprep: outputs are closed")
        }
        return t
    }

    internal fun run(caller: InferPrep, p: Preprocessor, image: ByteArray): Outputs = locked(caller, null) {
        input.setBuffer(planes[0].put(image), 0, image.size.toLong())
        p.runInto(input, result)
    }

    internal fun run(caller: InferPrep, p: Preprocessor, image: ByteBuffer): Outputs = locked(caller, image) {
        val b = if (image.hasRemaining()) planes[0].of(image) else planes[0].put(ByteArray(0))
        input.setBuffer(b, 0, image.remaining().toLong())
        p.runInto(input, result)
    }

    internal fun run(caller: InferPrep, p: Preprocessor, samples: Samples, format: SoundFormat): Outputs =
        locked(caller, samples.held) {
            val b = samples.into(planes[0])
            input.setSamples(b, 0, samples.bytes.toLong(), samples.encoding.code, format.samplingRate.toLong(), format.channels.toLong())
            p.runInto(input, result)
        }

    internal fun run(caller: InferPrep, p: Preprocessor, frame: Frame, vararg data: ByteBuffer): Outputs =
        locked(caller, data) {
            val b = Array(data.size) {
                if (!data[it].hasRemaining()) {
                    throw invalid("frame: the buffer of plane $it is empty")
                }
                planes[it].of(data[it])
            }
            if (b.size == 1) {
                input.setRGBA(b[0], frame.native)
            } else {
                input.setYUV420(b[0], b[1], b[2], frame.native)
            }
            p.runInto(input, result)
        }

    /** Runs on pixels without gaps that [write] puts into memory of this object. */
    internal fun run(caller: InferPrep, p: Preprocessor, frame: Frame, write: (ByteBuffer) -> Unit): Outputs =
        locked(caller, null) {
            val n = 4L * frame.width * frame.height
            if (n > Int.MAX_VALUE) {
                throw InferPrepException(
                    InferPrepException.Code.LIMIT,
                    "inferprep: ${frame.width}x${frame.height} pixels have $n bytes: a buffer has at most ${Int.MAX_VALUE}",
                )
            }
            planes[0].grow(n.toInt())
            write(planes[0].bytes.duplicate())
            input.setRGBA(planes[0].native, frame.native)
            p.runInto(input, result)
        }

    private inline fun locked(caller: InferPrep, buffers: Any?, run: () -> Unit): Outputs {
        if (caller !== owner) {
            throw invalid("outputs of another InferPrep: want ones that newOutputs of this InferPrep returned")
        }
        synchronized(input) {
            open()
            tensors = emptyList()
            held = buffers
            try {
                native(run)
            } finally {
                held = null
            }
            tensors = List(infos.size) { fixed[it] ?: copied(it) }
        }
        return this
    }

    /** Copies an output whose size depends on the image. */
    private fun copied(i: Int): Tensor = infos[i].copied(result, i.toLong(), memory[i])

    private fun tensor(i: Int, dims: LongArray, bytes: ByteBuffer): Tensor = infos[i].tensor(dims, bytes)
}

private fun OutputInfo.tensor(dims: LongArray, bytes: ByteBuffer): Tensor = Tensor(name, type, layout, dims, batched, bytes)

/** Copies output [i] of [result] into [memory]. */
internal fun OutputInfo.copied(result: Result, i: Long, memory: Scratch): Tensor {
    val n = result.size(i)
    if (n > Int.MAX_VALUE) {
        throw InferPrepException(
            InferPrepException.Code.LIMIT,
            "inferprep: output \"$name\" has $n bytes: a buffer has at most ${Int.MAX_VALUE}",
        )
    }
    memory.grow(n.toInt())
    if (n > 0) {
        native { result.copy(i, memory.native) }
    }
    val dims = LongArray(result.rank(i).toInt()) { result.dim(i, it.toLong()) }
    return tensor(dims, memory.bytes.duplicate().also { it.limit(n.toInt()) })
}

private val empty = ByteBuffer.allocateDirect(0)

/** A direct buffer that grows, and Go's handle of it. */
internal class Scratch(size: Int = 0) {
    var bytes: ByteBuffer = empty
        private set
    var native: Buffer? = null
        private set

    init {
        grow(size)
    }

    /** Makes room for [size] bytes, at least double the room before: sizes may creep up. */
    fun grow(size: Int) {
        val old = bytes.capacity()
        if (size > old) {
            bytes = ByteBuffer.allocateDirect(maxOf(size, minOf(old, Int.MAX_VALUE / 2) * 2))
            native = handle(bytes)
        }
    }

    /** Copies [data] and returns the handle of the whole buffer. */
    fun put(data: ByteArray): Buffer? {
        grow(maxOf(data.size, 1)) // there is no handle of an empty buffer
        bytes.duplicate().put(data)
        return native
    }

    /**
     * Returns the handle of the bytes of [data] from its position to its limit, which are not none.
     * They are copied if they are not in direct memory.
     */
    fun of(data: ByteBuffer): Buffer {
        val view = data.slice()
        if (view.isDirect) {
            return handle(view)
        }
        grow(view.capacity())
        val copy = bytes.duplicate()
        copy.put(view)
        copy.flip()
        return handle(copy.slice())
    }

    fun free() {
        bytes = empty
        native = null
    }

    private fun handle(direct: ByteBuffer): Buffer = Mobile.newBuffer(Direct.register(direct))
}
