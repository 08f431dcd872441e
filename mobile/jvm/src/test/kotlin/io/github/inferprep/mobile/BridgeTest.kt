package io.github.inferprep.mobile

import io.github.inferprep.bridge.Direct
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.io.File
import java.nio.ByteBuffer
import java.util.concurrent.Callable
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicInteger

/** The generated classes by themselves: what Java can do to them that Go would not. */
class BridgeTest {
    private val jpeg = File("../../testdata/images/jpeg_large.jpg").readBytes()

    private fun open() = Mobile.openGraph(decode.toByteArray())

    /** code runs f, which must fail, and returns the kind of its error. */
    private fun code(f: () -> Any?): String = Mobile.code(assertThrows(Exception::class.java) { f() })

    private fun direct(size: Int) = ByteBuffer.allocateDirect(size)

    private fun buffer(b: ByteBuffer) = Mobile.newBuffer(Direct.register(b))

    @Test
    fun zeroValues() {
        val p = Preprocessor()
        assertEquals("closed", code { p.runJPEG(jpeg) })
        assertEquals("closed", code { p.runRGBA(jpeg, Frame().apply { width = 1; height = 1 }) })
        assertEquals("closed", code { p.runYUV420(jpeg, jpeg, jpeg, Frame().apply { width = 1; height = 1 }) })
        assertEquals("closed", code { p.runInto(Input().apply { setEncoded(jpeg) }, Result()) })
        assertEquals("closed", code { p.verify(null) })
        assertEquals("closed", code { p.verifySignature(null) })
        assertEquals("closed", code { p.model("") })
        assertEquals(0, p.outputs() + p.labels() + p.models() + p.metas())
        assertEquals("", p.outputName(0) + p.label(0) + p.modelName(0) + p.metaKey(0) + p.meta("") + p.digest() + p.outputDType(0) + p.outputLayout(0))
        p.close()
        val r = Result()
        assertEquals(0, r.outputs() + r.rank(0) + r.dim(0, 0) + r.size(0))
        assertEquals("", r.dType(0) + r.layout(0))
        assertNull(r.data(0))
        assertEquals("closed", code { open().runInto(Input(), r) })
    }

    @Test
    fun nulls() {
        for (f in listOf<() -> Any?>({ Mobile.open(null) }, { Mobile.open(ByteArray(0)) })) assertEquals("bundle", code(f))
        assertEquals("graph", code { Mobile.openGraph(null) })
        assertEquals("io", code { Mobile.openFile(null) })
        assertEquals("", Mobile.code(null))
        assertEquals("io", Mobile.code(IllegalStateException("of Java's own")))
        val p = open()
        assertEquals("format", code { p.runJPEG(null) })
        assertEquals("format", code { p.runJPEG(ByteArray(0)) })
        assertEquals("input", code { p.runRGBA(null, null) })
        assertEquals("input", code { p.runYUV420(null, null, null, null) })
        assertEquals("input", code { p.runYUV420(null, null, null, Frame().apply { width = 2; height = 2 }) })
        assertEquals("closed", code { p.runInto(null, Result()) })
        assertEquals("input", code { p.runInto(Input().apply { setEncoded(jpeg) }, null) })
        assertEquals("format", code { p.runInto(Input().apply { setEncoded(null) }, Result()) })
        assertEquals(0, Direct.register(null))
        assertEquals(0, Direct.register(ByteBuffer.allocate(8)))
        assertEquals(0, Direct.register(direct(0)))
        for (number in listOf(0L, -1L, Long.MAX_VALUE)) assertEquals("input", code { Mobile.newBuffer(number) })
        val number = Direct.register(direct(8))
        assertEquals(8, Mobile.newBuffer(number).size())
        assertEquals("input", code { Mobile.newBuffer(number) }, "each number is valid once")
        p.close()
    }

    @Test
    fun numbersOutOfRange() {
        val p = open()
        val b = buffer(direct(16))
        for (i in listOf(-1L, 1L, Long.MIN_VALUE, Long.MAX_VALUE)) {
            assertEquals("", p.outputName(i) + p.label(i) + p.modelName(i) + p.metaKey(i))
            assertEquals(0, p.outputDim(0, if (i < 0) i else i + 2) + p.outputRank(i))
            assertEquals("input", code { Result().apply { setBuffer(i, b) }.also { p.runInto(Input().apply { setEncoded(jpeg) }, it) } })
            assertEquals("input", code { Input().setBuffer(b, i, 16) })
            if (i != 1L) assertEquals("input", code { p.runRGBA(jpeg, Frame().apply { width = i; height = i }) })
            if (i < 4) assertEquals("input", code { p.runRGBA(jpeg, Frame().apply { width = 1; height = 1; rowStride = i }) })
        }
    }

    @Test
    fun arraysAreNeitherKeptNorChanged() {
        val p = open()
        val copy = jpeg.copyOf()
        val first = p.runJPEG(copy)
        assertArrayEquals(jpeg, copy)
        val input = Input()
        input.setEncoded(copy)
        copy.fill(0)
        val again = Result()
        p.runInto(input, again)
        assertArrayEquals(first.data(0), again.data(0))
    }

    @Test
    fun intoBuffers() {
        val p = open()
        val want = p.runJPEG(jpeg).data(0)
        val file = direct(jpeg.size + 100)
        file.position(100)
        file.put(jpeg)
        val out = direct(want.size + 64)
        for (i in 0 until out.capacity()) out.put(i, 0x5a)
        val result = Result()
        result.setBuffer(0, buffer(out))
        val input = Input()
        input.setBuffer(buffer(file), 100, jpeg.size.toLong())
        p.runInto(input, result)
        assertArrayEquals(want, ByteArray(want.size) { out.get(it) })
        for (i in want.size until out.capacity()) assertEquals(0x5a, out.get(i))
        val small = Result()
        small.setBuffer(0, buffer(direct(want.size - 1)))
        assertEquals("input", code { p.runInto(input, small) })
        val copy = direct(want.size)
        val plain = Result()
        p.runInto(input, plain)
        plain.copy(0, buffer(copy))
        assertArrayEquals(want, ByteArray(want.size) { copy.get(it) })
        assertEquals("input", code { plain.copy(0, buffer(direct(want.size - 1))) })
        assertEquals("input", code { plain.copy(1, buffer(copy)) })
    }

    @Test
    fun huge() {
        val p = open()
        val zeros = ByteArray(300 shl 20)
        assertEquals("format", code { p.runJPEG(zeros) })
        val bomb = ByteBuffer.allocate(24).order(java.nio.ByteOrder.LITTLE_ENDIAN) // pixels that are not there
            .put(byteArrayOf(0, 'I'.code.toByte(), 'P'.code.toByte(), 'p'.code.toByte(), 'i'.code.toByte(), 'x'.code.toByte(), 0, 1))
            .putInt(1 shl 24).putInt(1 shl 24).put(4).array()
        assertTrue(code { p.runJPEG(bomb) } in listOf("format", "limit"))
        assertEquals("input", code { p.runRGBA(ByteArray(4), Frame().apply { width = 1 shl 24; height = 1 shl 24 }) })
    }

    @Test
    fun closingTwice() {
        val p = open()
        p.close()
        p.close()
        assertEquals("closed", code { p.runJPEG(jpeg) })
    }

    @Test
    fun threads() {
        val p = open()
        val want = p.runJPEG(jpeg).data(0)
        val pool = Executors.newFixedThreadPool(8)
        val small = File("../../testdata/images/jpeg_gray.jpg").readBytes()
        val wantSmall = p.runJPEG(small).data(0)
        val done = AtomicInteger()
        val work = (0 until 8).map { t ->
            pool.submit(Callable {
                val result = Result()
                val input = Input()
                repeat(1000) { i ->
                    if ((i + t) % 8 == 0) {
                        assertArrayEquals(want, p.runJPEG(jpeg).data(0))
                    } else {
                        input.setEncoded(small)
                        p.runInto(input, result)
                        assertArrayEquals(wantSmall, result.data(0))
                    }
                    done.incrementAndGet()
                }
            })
        }
        work.forEach { it.get() }
        pool.shutdown()
        assertEquals(8000, done.get())
    }

    @Test
    fun errorsHaveMessages() {
        val e = assertThrows(Exception::class.java) { open().runJPEG("no image".toByteArray()) }
        assertNotNull(e.message)
        assertTrue(e.message!!.contains("format"), e.message)
    }

    companion object {
        const val decode = """{"infer_prep_graph": 1, "inputs": [{"name": "image", "dtype": "bytes", "layout": "none", "shape": []}],
            "steps": [{"op": "decode", "version": 1, "in": ["image"], "out": ["image"], "params": {"color": "rgb", "alpha": "drop",
            "gray16": "clip", "refuse": [], "orientation": "ignore", "damage": "pillow", "scale": "full"}}], "outputs": ["image"]}"""
    }
}
