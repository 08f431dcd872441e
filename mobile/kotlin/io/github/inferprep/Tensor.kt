package io.github.inferprep

import io.github.inferprep.mobile.Preprocessor
import io.github.inferprep.mobile.Result
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.DoubleBuffer
import java.nio.FloatBuffer
import java.nio.IntBuffer
import java.nio.LongBuffer
import java.nio.ShortBuffer

/**
 * The type of a tensor's elements.
 *
 * @property size the bytes of an element, 0 for [BYTES].
 */
public enum class DType(public val size: Int) {
    /** Unsigned, 8 bits. */
    UINT8(1),

    /** Signed, 8 bits. */
    INT8(1),

    /** Unsigned, 16 bits. */
    UINT16(2),

    /** Signed, 16 bits. */
    INT16(2),

    /** Signed, 32 bits. */
    INT32(4),

    /** Signed, 64 bits. */
    INT64(8),

    /** IEEE 754 binary16. */
    FLOAT16(2),

    /** The upper half of a 32-bit float. */
    BFLOAT16(2),

    /** IEEE 754 binary32. */
    FLOAT32(4),

    /** IEEE 754 binary64. */
    FLOAT64(8),

    /** One byte, 0 or 1. */
    BOOL(1),

    /** A byte string of any length, such as an encoded image. */
    BYTES(0),
}

/** The meaning of a tensor's last three axes. */
public enum class Layout {
    /** None: the tensor is not an image. */
    NONE,

    /** Height, width, channels. */
    HWC,

    /** Channels, height, width. */
    CHW,
}

/**
 * Describes an output of every run. It is immutable.
 *
 * @property name the name, which is that of a model's input, or of a further column such as the
 * scale of a detector's letterbox.
 * @property type the type of the elements.
 * @property layout the meaning of the axes.
 */
public class OutputInfo internal constructor(
    public val name: String,
    public val type: DType,
    public val layout: Layout,
    internal val dims: LongArray,
    internal val batched: Boolean,
) {
    /** The sizes of the axes, without a batch's axis; -1 if a size depends on the image. A copy. */
    public val shape: LongArray
        get() = dims.clone()

    /** The shape of a batch of one, as models take it: see [Tensor.batchShape]. A copy. */
    public val batchShape: LongArray
        get() = batchShape(dims, batched)

    /** The bytes of the output if its shape is fixed, or -1. */
    internal val fixedSize: Long
        get() {
            var n = type.size.toLong()
            for (d in dims) {
                n = if (d <= 0 || n <= 0 || n > MAX_FIXED / d) -1 else n * d
            }
            return if (n > 0) n else -1
        }

    /** Returns the output with the sizes of output [i] of [result]. */
    internal fun sized(result: Result, i: Long): OutputInfo =
        OutputInfo(name, type, layout, LongArray(result.rank(i).toInt()) { result.dim(i, it.toLong()) }, batched)

    /** Returns the name, type, layout and shape. */
    override fun toString(): String = describe(name, type, layout, dims)

    internal companion object {
        /** Larger outputs get their memory from the run that needs it: a graph may lie. */
        private const val MAX_FIXED = 64L shl 20

        fun of(p: Preprocessor, i: Long): OutputInfo = OutputInfo(
            p.outputName(i),
            enumValueOf<DType>(p.outputDType(i).uppercase()),
            p.outputLayout(i).let { if (it.isEmpty()) Layout.NONE else enumValueOf<Layout>(it) },
            LongArray(p.outputRank(i).toInt()) { p.outputDim(i, it.toLong()) },
            p.outputBatch(i) !in listOf("concat", "single"),
        )
    }
}

/**
 * A tensor in direct memory, in row-major and native byte order. A tensor of an
 * [Outputs] is valid until the next run into that; its memory then has the next run's elements. A
 * tensor of a [Batch] stays valid.
 *
 * Runtimes read the memory in place, for example ONNX Runtime:
 * `OnnxTensor.createTensor(env, tensor.asFloatBuffer(), tensor.batchShape)`.
 *
 * @property name the name of the output.
 * @property type the type of the elements.
 * @property layout the meaning of the axes.
 */
public class Tensor internal constructor(
    public val name: String,
    public val type: DType,
    public val layout: Layout,
    private val dims: LongArray,
    private val batched: Boolean,
    private val memory: ByteBuffer,
) {
    /** The sizes of the axes; empty for [DType.BYTES]. A copy. */
    public val shape: LongArray
        get() = dims.clone()

    /**
     * The shape of a batch of one, as models take it: [shape] with a leading 1, or [shape] itself
     * if the graph says that batches join this output along its first axis. A copy.
     */
    public val batchShape: LongArray
        get() = batchShape(dims, batched)

    /** All elements as bytes. Every read returns a new view with its own position and limit. */
    public val buffer: ByteBuffer
        get() = memory.duplicate().order(ByteOrder.nativeOrder())

    /**
     * Returns a view of the elements of a tensor of [DType.FLOAT32].
     *
     * @throws InferPrepException with code INPUT if the tensor has another type.
     */
    @Throws(InferPrepException::class)
    public fun asFloatBuffer(): FloatBuffer = view(DType.FLOAT32).asFloatBuffer()

    /**
     * Returns a view of the elements of a tensor of [DType.FLOAT64].
     *
     * @throws InferPrepException with code INPUT if the tensor has another type.
     */
    @Throws(InferPrepException::class)
    public fun asDoubleBuffer(): DoubleBuffer = view(DType.FLOAT64).asDoubleBuffer()

    /**
     * Returns a view of the bits of elements of two bytes: [DType.FLOAT16], [DType.BFLOAT16],
     * [DType.INT16] and [DType.UINT16].
     *
     * @throws InferPrepException with code INPUT if the tensor has another type.
     */
    @Throws(InferPrepException::class)
    public fun asShortBuffer(): ShortBuffer =
        view(DType.FLOAT16, DType.BFLOAT16, DType.INT16, DType.UINT16).asShortBuffer()

    /**
     * Returns a view of the elements of a tensor of [DType.INT32].
     *
     * @throws InferPrepException with code INPUT if the tensor has another type.
     */
    @Throws(InferPrepException::class)
    public fun asIntBuffer(): IntBuffer = view(DType.INT32).asIntBuffer()

    /**
     * Returns a view of the elements of a tensor of [DType.INT64].
     *
     * @throws InferPrepException with code INPUT if the tensor has another type.
     */
    @Throws(InferPrepException::class)
    public fun asLongBuffer(): LongBuffer = view(DType.INT64).asLongBuffer()

    private fun view(vararg want: DType): ByteBuffer {
        if (type !in want) {
            throw invalid("tensor \"$name\" is ${type.name}: this view is for ${want.joinToString { it.name }}")
        }
        return buffer
    }

    /** Returns the name, type, layout and shape. */
    override fun toString(): String = describe(name, type, layout, dims)
}

private fun batchShape(dims: LongArray, batched: Boolean): LongArray =
    if (batched) longArrayOf(1, *dims) else dims.clone()

private fun describe(name: String, type: DType, layout: Layout, dims: LongArray): String {
    val axes = if (layout == Layout.NONE) "" else " $layout"
    return "$name: ${type.name.lowercase()}$axes (${dims.joinToString { if (it < 0) "?" else "$it" }})"
}
