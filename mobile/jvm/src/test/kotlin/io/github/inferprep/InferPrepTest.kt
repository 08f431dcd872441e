package io.github.inferprep

import io.github.inferprep.InferPrepException.Code
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.io.File
import java.io.IOException
import java.io.InputStream
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.concurrent.Callable
import java.util.concurrent.Executors

/** The Kotlin layer: buffers, lifetimes, errors and coroutines. GoldenTest compares the tensors. */
class InferPrepTest {
    private val bundle = File("../../testdata/bundle/torchvision.bundle")
    private val images = File("../../testdata/images")
    private val large = images.resolve("jpeg_large.jpg").readBytes()
    private val gray = images.resolve("jpeg_gray.jpg").readBytes()

    private val decode = """{"infer_prep_graph": 1, "inputs": [{"name": "image", "dtype": "bytes", "layout": "none", "shape": []}],
        "steps": [{"op": "decode", "version": 1, "in": ["image"], "out": ["image"], "params": {"color": "rgb", "alpha": "drop",
        "gray16": "clip", "refuse": [], "orientation": "ignore", "damage": "pillow", "scale": "full"}}], "outputs": ["image"]}"""

    private fun graph() = InferPrep.openGraph(decode.toByteArray())

    private fun code(f: () -> Any?): Code {
        val e = assertThrows(InferPrepException::class.java) { f() }
        assertTrue(e.message!!.isNotEmpty())
        return e.code
    }

    private fun bytes(t: Tensor) = ByteArray(t.buffer.remaining()).also { t.buffer.get(it) }

    private fun bytes(o: Outputs) = o.map { bytes(it) }

    private fun direct(data: ByteArray, before: Int = 0, after: Int = 0): ByteBuffer {
        val b = ByteBuffer.allocateDirect(before + data.size + after)
        b.position(before)
        b.put(data)
        b.limit(before + data.size)
        b.position(before)
        return b
    }

    @Test
    fun theBundle() {
        val p = InferPrep.open(bundle)
        assertTrue(p.outputs.isNotEmpty())
        assertEquals(64, p.digest.length)
        val same = InferPrep.open(bundle.readBytes())
        val streamed = bundle.inputStream().use { InferPrep.open(it) }
        for (other in listOf(same, streamed)) {
            assertEquals(p.digest, other.digest)
            assertEquals(p.labels, other.labels)
            assertEquals(p.meta, other.meta)
            assertEquals(p.models, other.models)
            assertEquals(p.outputs.map { "$it" }, other.outputs.map { "$it" })
            other.close()
        }
        for (m in p.models) assertTrue(p.model(m).isNotEmpty())
        assertEquals(Code.INPUT, code { p.model("no such model") })
        assertThrows(UnsupportedOperationException::class.java) { (p.outputs as MutableList).clear() }
        assertTrue(InferPrep.version.isNotEmpty())
        p.close()
    }

    @Test
    fun allKindsOfMemoryGiveTheSameTensors() {
        val p = InferPrep.open(bundle)
        val want = bytes(p.run(large))
        val out = p.newOutputs()
        val padded = direct(large, 100, 50)
        val heap = ByteBuffer.wrap(ByteArray(7) + large + ByteArray(9), 7, large.size)
        val kinds = listOf(padded, heap, padded.asReadOnlyBuffer(), heap.asReadOnlyBuffer(), direct(large), ByteBuffer.wrap(large))
        for (b in kinds) {
            val position = b.position()
            p.run(gray, out)
            assertSame(out, p.run(b, out))
            assertEquals(want.size, out.size)
            for (i in want.indices) assertArrayEquals(want[i], bytes(out[i]))
            assertEquals(position, b.position())
            assertEquals(large.size, b.remaining())
        }
        p.close()
    }

    @Test
    fun sizesThatDependOnTheImage() {
        val p = graph()
        assertEquals(listOf(-1L, -1, 3), p.outputs[0].shape.toList())
        assertEquals("image: uint8 HWC (?, ?, 3)", "${p.outputs[0]}")
        assertEquals("InferPrep[image: uint8 HWC (?, ?, 3)]", "$p")
        assertEquals("[image: uint8 HWC (310, 420, 3)]", "${p.sizes(310, 420)}")
        val e = assertThrows(InferPrepException::class.java) { p.sizes(0, 420) }
        assertEquals(InferPrepException.Code.INPUT, e.code)
        val out = p.newOutputs()
        val small = bytes(p.run(gray))
        val big = bytes(p.run(large))
        repeat(3) {
            assertArrayEquals(small[0], bytes(p.run(gray, out)[0]))
            assertArrayEquals(big[0], bytes(p.run(large, out)[0]))
            assertEquals(listOf(310L, 420, 3), out["image"].shape.toList())
            assertEquals(listOf(1L, 310, 420, 3), out["image"].batchShape.toList())
            assertEquals(310 * 420 * 3, out[0].buffer.remaining())
        }
        p.close()
    }

    @Test
    fun fixedOutputsAreWrittenInPlace() {
        val p = InferPrep.open(bundle)
        val out = p.newOutputs()
        p.run(large, out)
        val t = out[0]
        assertTrue(t.buffer.isDirect)
        assertEquals(ByteOrder.nativeOrder(), t.buffer.order())
        assertEquals(t.shape.fold(1L) { a, b -> a * b } * t.type.size, t.buffer.remaining().toLong())
        assertEquals(p.outputs[0].shape.toList(), t.shape.toList())
        assertEquals(p.outputs[0].batchShape.toList(), t.batchShape.toList())
        val floats = t.asFloatBuffer()
        assertTrue(floats.isDirect)
        assertEquals(ByteOrder.nativeOrder(), floats.order())
        val before = FloatArray(floats.remaining()) { floats.get(it) }
        p.run(gray, out)
        assertSame(t, out[0])
        assertNotEquals(before.toList(), List(before.size) { floats.get(it) })
        for (f in listOf<() -> Any?>({ t.asIntBuffer() }, { t.asLongBuffer() }, { t.asShortBuffer() }, { t.asDoubleBuffer() })) {
            assertEquals(Code.INPUT, code(f))
        }
        p.close()
    }

    @Test
    fun frames() {
        val p = graph()
        val pixels = ByteArray(6 * 4 * 4) { (it * 37).toByte() }
        val f = Frame(6, 4)
        val want = bytes(p.run(direct(pixels, 3, 5), f))[0]
        assertArrayEquals(ByteArray(6 * 4 * 3) { pixels[it / 3 * 4 + it % 3] }, want)
        val out = p.newOutputs()
        assertArrayEquals(want, bytes(p.run(ByteBuffer.wrap(pixels), f, out)[0]))
        assertEquals(listOf(6L, 4, 3), p.run(direct(pixels), Frame(6, 4, rotation = 90), out)[0].shape.toList())
        assertEquals(listOf(2L, 3, 3), p.run(direct(pixels), Frame(6, 4, 0, 0, 0, 1, 1, 1, 4, 3), out)[0].shape.toList())
        // Nothing is left of the earlier frame's pixels.
        assertEquals(Code.INPUT, code { p.run(ByteBuffer.wrap(pixels, 0, pixels.size - 1), f, out) })
        assertEquals(0, out.size)
        for (bad in listOf(Frame(0, 4), Frame(-6, 4), Frame(6, 4, 45), Frame(6, 4, 0, 8), Frame(6, 4, cropLeft = 5, cropRight = 5), Frame(6, 4, cropRight = 7))) {
            assertEquals(Code.INPUT, code { p.run(direct(pixels), bad, out) })
        }
        assertEquals(Code.INPUT, code { p.run(ByteBuffer.allocate(0), f, out) })

        val y = ByteArray(6 * 4) { (it * 11).toByte() }
        val u = ByteArray(3 * 2) { (it * 40).toByte() }
        val v = ByteArray(3 * 2) { (200 - it * 30).toByte() }
        val i420 = bytes(p.run(direct(y), direct(u), direct(v), f))[0]
        assertArrayEquals(i420, bytes(p.run(ByteBuffer.wrap(y), ByteBuffer.wrap(u), ByteBuffer.wrap(v), f, out)[0]))
        val nv12 = ByteArray(12) { if (it % 2 == 0) u[it / 2] else v[it / 2] }
        val uv = direct(nv12)
        val vu = uv.duplicate().also { it.position(1) }
        assertArrayEquals(i420, bytes(p.run(direct(y), uv, vu, Frame(6, 4, chromaPixelStride = 2), out)[0]))
        assertEquals(Code.INPUT, code { p.run(direct(y), direct(u), ByteBuffer.wrap(v, 0, 5), f, out) })
        assertEquals(Code.INPUT, code { p.run(direct(y), direct(u), ByteBuffer.allocate(0), f, out) })
        p.close()
    }

    @Test
    fun lifetimes() {
        val p = InferPrep.open(bundle)
        val q = graph()
        val out = p.newOutputs()
        assertEquals(0, out.size)
        p.run(large, out)
        assertEquals(p.outputs.map { it.name }, out.map { it.name })
        assertEquals(Code.INPUT, code { out["no such output"] })
        assertThrows(IndexOutOfBoundsException::class.java) { out[out.size] }
        assertEquals(Code.INPUT, code { q.run(large, out) })
        assertEquals(p.outputs.size, out.size, "the other InferPrep has changed nothing")
        assertEquals(Code.FORMAT, code { p.run("no image".toByteArray(), out) })
        assertEquals(0, out.size)
        p.run(large, out)
        val view = out[0].buffer
        val want = bytes(out[0])
        out.close()
        out.close()
        assertEquals(Code.CLOSED, code { out[0] })
        assertEquals(Code.CLOSED, code { out["x"] })
        assertEquals(Code.CLOSED, code { p.run(large, out) })
        assertEquals("[]", "$out")
        assertArrayEquals(want, ByteArray(want.size) { view.get(it) })

        val last = p.run(large)
        p.close()
        p.close()
        assertEquals(Code.CLOSED, code { p.run(large) })
        assertEquals(Code.CLOSED, code { p.run(direct(large), last) })
        assertEquals(Code.CLOSED, code { p.verify() })
        assertEquals(Code.CLOSED, code { p.model() })
        assertEquals(Code.CLOSED, code { p.verifySignature("") })
        assertEquals(64, p.digest.length)
        q.close()
    }

    @Test
    fun errors() {
        assertEquals(Code.BUNDLE, code { InferPrep.open(ByteArray(0)) })
        assertEquals(Code.BUNDLE, code { InferPrep.open(large) })
        assertEquals(Code.IO, code { InferPrep.open(File("no such file")) })
        assertEquals(Code.GRAPH, code { InferPrep.openGraph(ByteArray(0)) })
        assertEquals(Code.OP, code { InferPrep.openGraph(decode.replace("\"decode\"", "\"decod\"").toByteArray()) })
        assertEquals(Code.PARAM, code { InferPrep.openGraph(decode.replace("clip", "clop").toByteArray()) })
        val damaged = bundle.readBytes()
        damaged[damaged.size / 2]++
        assertTrue(code { InferPrep.open(damaged).use { it.verify() } } in listOf(Code.DIGEST, Code.BUNDLE))
        val broken = object : InputStream() {
            override fun read() = throw IOException("the disk is on fire")
        }
        assertEquals(Code.IO, code { InferPrep.open(broken) })
        graph().use {
            assertEquals(Code.FORMAT, code { it.run(ByteArray(0)) })
            assertEquals(Code.FORMAT, code { it.run(ByteBuffer.allocateDirect(0)) })
            assertEquals(Code.FORMAT, code { it.run(ByteBuffer.allocate(0)) })
            assertEquals(Code.FORMAT, code { it.run(large.copyOf(100)) })
            assertEquals(Code.INPUT, code { it.verify() })
            assertEquals(Code.INPUT, code { it.model() })
            assertEquals(Code.INPUT, code { it.verifySignature("") })
        }
        InferPrep.open(bundle).use { assertEquals(Code.SIGNATURE, code { it.verifySignature("no key") }) }
    }

    /** Go and Kotlin have the same names for kinds of errors, types and rules. */
    @Test
    fun namesAreGos() {
        val codes = Regex("""^//\t"(\w+)" """, RegexOption.MULTILINE).findAll(File("../errors.go").readText()).map { it.groupValues[1] }.toList()
        assertEquals(Code.entries.map { it.name.lowercase() }.toSet() - "native", codes.toSet())
        val go = File("../../tensor/dtype.go").readText()
        val types = Regex("""(\w+): +"(\w+)"""").findAll(go.substringAfter("dtypeNames = ").substringBefore("\n}")).map { it.groupValues[2] }.toList()
        assertEquals(DType.entries.map { it.name.lowercase() }.toSet() + "invalid", types.toSet())
        for (t in DType.entries) {
            assertTrue(go.substringAfter("dtypeSizes").contains(Regex("${t.name}: ${t.size}\\b", RegexOption.IGNORE_CASE)), t.name)
        }
    }

    @Test
    fun progress() {
        val p = InferPrep.open(bundle)
        val steps = mutableListOf<Int>()
        val here = Thread.currentThread()
        p.verify { done, total ->
            assertSame(here, Thread.currentThread())
            steps += done
            assertTrue(done <= total)
            if (done == total) assertEquals((0..total).toList(), steps)
        }
        assertTrue(steps.size > 2)
        val mute = object : RuntimeException() {
            override val message: String get() = throw IllegalStateException("no message")
        }
        for (e in listOf(IllegalStateException(), IOException("checked"), StackOverflowError(), CancellationException("stop"), mute)) {
            for (at in 0..1) {
                assertSame(e, assertThrows(Throwable::class.java) { p.verify { done, _ -> if (done == at) throw e } })
            }
        }
        p.verify()
        p.close()
    }

    @Test
    fun coroutines() = runBlocking<Unit> {
        val p = InferPrep.open(bundle)
        val want = bytes(p.run(large)[0])
        val all = List(8) { async { bytes(p.runSuspending(large)[0]) } }
        for (a in all) assertArrayEquals(want, a.await())
        assertArrayEquals(want, bytes(p.runSuspending(direct(large))[0]))
        val pixels = ByteBuffer.allocateDirect(64 * 64 * 4)
        val f = Frame(64, 64)
        val plane = ByteBuffer.allocateDirect(64 * 64)
        val chroma = ByteBuffer.allocateDirect(32 * 32)
        assertArrayEquals(bytes(p.run(pixels, f)[0]), bytes(p.runSuspending(pixels, f)[0]))
        assertArrayEquals(bytes(p.run(plane, chroma, chroma, f)[0]), bytes(p.runSuspending(plane, chroma, chroma, f)[0]))
        val failed = runCatching { p.runSuspending(ByteArray(3)) }.exceptionOrNull()
        assertEquals(Code.FORMAT, (failed as InferPrepException).code)
        p.verifySuspending()

        var last = -1
        val job = async(Dispatchers.Default) {
            p.verifySuspending { done, _ ->
                last = done
                if (done == 1) cancel()
            }
        }
        val canceled = runCatching { job.await() }.exceptionOrNull()
        assertTrue(canceled is CancellationException, "$canceled")
        assertEquals(1, last)
        val unstarted = async(Dispatchers.Default) {
            cancel()
            p.runSuspending(large)
        }
        assertTrue(runCatching { unstarted.await() }.exceptionOrNull() is CancellationException)
        p.close()
    }

    @Test
    fun closeWhileOthersRun() {
        val pool = Executors.newFixedThreadPool(8)
        repeat(20) { round ->
            val p = InferPrep.open(bundle)
            val want = bytes(p.run(large)[0])
            val out = p.newOutputs()
            val work = List(8) { t ->
                pool.submit(Callable {
                    try {
                        while (true) {
                            val b = if (t % 2 == 0) p.run(large, out) else p.run(direct(large))
                            if (t % 2 == 1) assertArrayEquals(want, bytes(b[0]))
                        }
                        @Suppress("UNREACHABLE_CODE")
                        null
                    } catch (e: InferPrepException) {
                        e.code
                    }
                })
            }
            Thread.sleep(20)
            if (round % 2 == 0) out.close()
            p.close()
            for (w in work) assertEquals(Code.CLOSED, w.get())
        }
        pool.shutdown()
    }

    /** Go must not read buffers that the garbage collector has freed. */
    @Test
    fun buffersStayAlive() {
        val p = graph()
        val want = bytes(p.run(large))[0]
        val pool = Executors.newFixedThreadPool(2)
        val work = List(2) {
            pool.submit(Callable { repeat(150) { assertArrayEquals(want, bytes(p.run(direct(large)))[0]) } })
        }
        while (work.any { !it.isDone }) {
            System.gc()
            ByteBuffer.allocateDirect(large.size) // takes freed memory and clears it
        }
        work.forEach { it.get() }
        pool.shutdown()
        p.close()
    }
}
