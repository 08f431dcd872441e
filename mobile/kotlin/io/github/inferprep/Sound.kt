package io.github.inferprep

import io.github.inferprep.mobile.Buffer
import io.github.inferprep.mobile.Result
import io.github.inferprep.mobile.Stream
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.Collections

/** The form of a sample, as android.media.AudioFormat has it. */
public enum class SampleEncoding(internal val code: String, internal val size: Int) {
    /** 8 bits, unsigned; 128 is silence. ENCODING_PCM_8BIT. */
    UINT8("u8", 1),

    /** 16 bits, divided by 32768. ENCODING_PCM_16BIT. */
    INT16("s16le", 2),

    /** 32-bit floating point, -1 to 1. ENCODING_PCM_FLOAT. */
    FLOAT32("f32le", 4),
}

/**
 * The rate and the channels of samples. Those of several channels are interleaved. It is immutable.
 *
 * @property samplingRate the samples of each channel a second, 1 to 16777216 Hz.
 * @property channels 1 to 1024. Default 1.
 */
public class SoundFormat @JvmOverloads constructor(public val samplingRate: Int, public val channels: Int = 1) {
    /** Returns the rate and the channels. */
    override fun toString(): String = "$samplingRate Hz, $channels channels"
}

/**
 * Computes the tensors of a sound while its samples arrive. The parts of an output, joined along its
 * axis, have the bytes of a run on the whole sound, whatever the sizes of the pieces.
 *
 * ```
 * prep.stream(SoundFormat(16000)).use { stream ->
 *     while (recording) {
 *         val n = recorder.read(buffer, 0, buffer.size)  // an android.media.AudioRecord of ShortArray
 *         draw(stream.push(buffer, 0, n)[0])
 *     }
 *     model(stream.end()[0])
 * }
 * ```
 *
 * A stream is safe for concurrent use: calls wait for each other. The tensors of a call are valid
 * until the next one. After an error, the stream cannot be used again.
 */
public class SoundStream internal constructor(private val go: Stream, private val infos: List<OutputInfo>) : AutoCloseable {
    private val result = Result()
    private val samples = Scratch()
    private val memory = List(infos.size) { Scratch() }

    /** The caller's buffer while Go reads it. */
    @Volatile
    private var held: Any? = null

    /**
     * The axis along which the parts of each output follow each other, in the order of
     * [InferPrep.outputs]; -1 for an output without parts, which depends on the whole sound. [end]
     * returns it. A list of boxed numbers, which cannot be changed.
     */
    public val axes: List<Int> = Collections.unmodifiableList(infos.indices.map { go.axis(it.toLong()).toInt() })

    /**
     * Takes the next samples and returns the parts of the outputs that follow from them, in the order
     * of [InferPrep.outputs]. An output without a new part has an empty tensor.
     *
     * @param samples interleaved samples of 16 bits.
     * @param offset the first of them. Default 0.
     * @param count how many to take. Default all from [offset] on.
     * @throws InferPrepException with code INPUT if they are not a multiple of the channels, LIMIT if
     * the sound is too long for the graph, CLOSED after [close].
     * @throws IndexOutOfBoundsException if there are fewer samples.
     */
    @JvmOverloads
    @Throws(InferPrepException::class)
    public fun push(samples: ShortArray, offset: Int = 0, count: Int = samples.size - offset): List<Tensor> =
        push(Samples.of(samples, offset, count))

    /** Takes samples of -1 to 1, as the push of a ShortArray does. */
    @JvmOverloads
    @Throws(InferPrepException::class)
    public fun push(samples: FloatArray, offset: Int = 0, count: Int = samples.size - offset): List<Tensor> =
        push(Samples.of(samples, offset, count))

    /**
     * Takes samples of a buffer, from its position to its limit, in little-endian order, as the push
     * of a ShortArray does. A direct buffer is read in place.
     */
    @Throws(InferPrepException::class)
    public fun push(samples: ByteBuffer, encoding: SampleEncoding): List<Tensor> = push(Samples.of(samples, encoding))

    /**
     * Ends the sound. Returns the last part of each output, which may be empty, and the outputs without
     * parts.
     */
    @Throws(InferPrepException::class)
    public fun end(): List<Tensor> = synchronized(result) {
        native { go.finish(result) }
        tensors()
    }

    /** Releases the memory. Tensors that were taken stay valid. A second call does nothing. */
    override fun close(): Unit = go.close()

    private fun push(s: Samples): List<Tensor> = synchronized(result) {
        held = s.held
        try {
            native { go.push(s.into(samples), 0, s.bytes.toLong(), s.encoding.code, result) }
        } finally {
            held = null
        }
        tensors()
    }

    private fun tensors(): List<Tensor> = List(infos.size) { infos[it].copied(result, it.toLong(), memory[it]) }
}

/** Samples of one of the forms that calls take. */
internal class Samples private constructor(
    val encoding: SampleEncoding,
    val bytes: Int,
    /** The caller's buffer, if Go reads it in place. */
    val held: ByteBuffer?,
    private val write: ((ByteBuffer) -> Unit)?,
) {
    /** Returns the handle of memory that has the samples, copied to [memory] if need be. */
    fun into(memory: Scratch): Buffer? {
        if (bytes > 0 && held != null) {
            return memory.of(held)
        }
        memory.grow(maxOf(bytes, 1)) // there is no handle of an empty buffer
        write?.invoke(memory.bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN))
        return memory.native
    }

    companion object {
        fun of(samples: ShortArray, offset: Int, count: Int): Samples {
            check(samples.size, offset, count, 2)
            return Samples(SampleEncoding.INT16, 2 * count, null) { it.asShortBuffer().put(samples, offset, count) }
        }

        fun of(samples: FloatArray, offset: Int, count: Int): Samples {
            check(samples.size, offset, count, 4)
            return Samples(SampleEncoding.FLOAT32, 4 * count, null) { it.asFloatBuffer().put(samples, offset, count) }
        }

        fun of(samples: ByteBuffer, encoding: SampleEncoding): Samples = Samples(encoding, samples.remaining(), samples, null)

        private fun check(size: Int, offset: Int, count: Int, bytes: Int) {
            if (offset < 0 || count < 0 || count > size - offset) {
                throw IndexOutOfBoundsException("inferprep: $count samples from $offset on: the array has $size")
            }
            if (count > Int.MAX_VALUE / bytes) {
                throw InferPrepException(InferPrepException.Code.LIMIT, "inferprep: $count samples: a buffer has at most ${Int.MAX_VALUE} bytes")
            }
        }
    }
}
