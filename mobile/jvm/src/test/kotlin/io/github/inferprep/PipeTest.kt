package io.github.inferprep

import io.github.inferprep.InferPrepException.Code
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.io.File
import java.nio.ByteBuffer
import java.security.MessageDigest

/** Batches of a list of images, compared with runs of the single images. */
class PipeTest {
    private val bundle = File("../../testdata/bundle/torchvision.bundle")
    private val files = listOf("jpeg_large.jpg", "jpeg_gray.jpg", "jpeg_large.jpg", "jpeg_gray.jpg", "jpeg_large.jpg")
        .map { File("../../testdata/images").resolve(it) }

    private fun bytes(t: Tensor) = ByteArray(t.buffer.remaining()).also { t.buffer.get(it) }

    private fun code(f: () -> Any?): Code = assertThrows(InferPrepException::class.java) { f() }.code

    private fun config(set: PipeConfig.() -> Unit = {}): PipeConfig {
        val c = PipeConfig().apply(set)
        files.forEachIndexed { i, f -> if (i % 2 == 0) c.addFile(f) else c.addImage(f.readBytes()) }
        return c
    }

    private fun all(p: Pipe) = generateSequence { p.next() }.toList()

    private fun single(prep: InferPrep) = files.map { f -> bytes(prep.run(f.readBytes())[0]) }

    @Test
    fun singleImages() = InferPrep.open(bundle).use { prep ->
        val want = single(prep)
        prep.pipe(config()).use { pipe ->
            assertEquals(files.size.toLong(), pipe.length)
            val got = all(pipe)
            assertEquals(files.size, got.size)
            got.forEachIndexed { i, b ->
                assertArrayEquals(intArrayOf(i), b.images)
                assertArrayEquals(want[i], bytes(b[0]))
                assertArrayEquals(prep.outputs[0].shape, b[0].shape)
                assertArrayEquals(prep.outputs[0].batchShape, b[prep.outputs[0].name].batchShape)
            }
            assertNull(pipe.next())
            assertEquals(Code.INPUT, code { got[0]["no such output"] })
        }
    }

    @Test
    fun batchesInShuffledOrder() = InferPrep.open(bundle).use { prep ->
        val want = single(prep)
        val shape = prep.outputs[0].shape
        val orders = mutableListOf<List<Int>>()
        prep.pipe(config { batchSize = 2; shuffle = true; seed = 7 }).use { pipe ->
            assertEquals(3, pipe.length)
            for (epoch in 0L until 4) {
                assertEquals(epoch, pipe.epoch)
                val got = all(pipe)
                assertEquals(listOf(2, 2, 1), got.map { it.images.size })
                for (b in got) {
                    val size = longArrayOf(b.images.size.toLong())
                    assertArrayEquals(size + shape, b[0].shape)
                    assertArrayEquals(size + shape, b[0].batchShape)
                    assertArrayEquals(b.images.map { want[it] }.reduce { x, y -> x + y }, bytes(b[0]))
                }
                orders += got.flatMap { it.images.toList() }
                assertEquals(files.indices.toList(), orders.last().sorted())
                pipe.nextEpoch()
            }
        }
        assertNotEquals(1, orders.toSet().size)
        prep.pipe(config { batchSize = 2; dropLast = true }).use { assertEquals(2, all(it).size) }
    }

    @Test
    fun states() = InferPrep.open(bundle).use { prep ->
        fun made() = prep.pipe(config { batchSize = 2; shuffle = true; seed = 3 })
        made().use { first ->
            assertNotNull(first.next())
            val state = first.state()
            val want = all(first)
            made().use { other ->
                other.restore(state)
                val got = all(other)
                assertEquals(want.map { it.images.toList() }, got.map { it.images.toList() })
                want.zip(got).forEach { (w, g) -> assertArrayEquals(bytes(w[0]), bytes(g[0])) }
            }
            prep.pipe(config { batchSize = 2; seed = 4; shuffle = true }).use { different ->
                assertEquals(Code.STATE, code { different.restore(state) })
                assertEquals(Code.STATE, code { different.restore(byteArrayOf(1, 2, 3)) })
                assertEquals(3, all(different).size)
            }
        }
    }

    @Test
    fun badImagesAndWrongUse() {
        val prep = InferPrep.open(bundle)
        assertEquals(Code.INPUT, code { prep.pipe(PipeConfig()) })
        assertEquals(Code.INPUT, code { prep.pipe(config { batchSize = -1 }) })
        assertEquals(Code.INPUT, code { PipeConfig().addFile(File("")) })
        val bad = config { skipBad = true }
        bad.addImage(byteArrayOf(1, 2, 3))
        bad.addFile(File("no such file"))
        prep.pipe(bad).use { pipe ->
            assertEquals(-1, pipe.length)
            assertEquals(files.size, all(pipe).size)
            assertEquals(2, pipe.skipped)
        }
        bad.skipBad = false
        prep.pipe(bad).use { pipe ->
            repeat(files.size) { assertNotNull(pipe.next()) }
            val first = code { pipe.next() }
            assertEquals(first, code { pipe.next() })
            pipe.nextEpoch()
            assertNotNull(pipe.next())
        }
        val closed = prep.pipe(config())
        closed.close()
        closed.close()
        assertEquals(Code.CLOSED, code { closed.next() })
        val left = prep.pipe(config())
        prep.close()
        assertEquals(Code.CLOSED, code { left.next() })
        assertEquals(Code.CLOSED, code { prep.pipe(config()) })
        left.close()
    }

    @Test
    fun intoBuffers() = InferPrep.open(bundle).use { prep ->
        val want = prep.pipe(config { batchSize = 2 }).use { all(it) }
        val full = bytes(want[0][0]).size
        prep.pipe(config { batchSize = 2 }).use { pipe ->
            val whole = ByteBuffer.allocateDirect(full + 24)
            repeat(whole.capacity()) { whole.put(it, 0x5a) }
            whole.position(8).limit(full + 16)
            val wrong = listOf(
                arrayOf(), arrayOf(whole, whole), arrayOf(ByteBuffer.allocate(full)), arrayOf(whole.asReadOnlyBuffer()),
                arrayOf(ByteBuffer.allocateDirect(full - 1)), arrayOf(ByteBuffer.allocateDirect(0)),
            )
            for (w in wrong) assertEquals(Code.INPUT, code { pipe.nextInto(*w) })
            for (w in want) {
                val got = pipe.nextInto(whole)!!
                assertArrayEquals(w.images, got.images)
                assertArrayEquals(w[0].shape, got[0].shape)
                assertArrayEquals(bytes(w[0]), bytes(got[0]))
                assertArrayEquals(bytes(w[0]), ByteArray(got[0].buffer.remaining()) { whole.get(8 + it) })
                assertEquals(8, whole.position())
                assertEquals(full + 16, whole.limit())
            }
            for (i in (0 until 8) + (full + 8 until full + 24)) assertEquals(0x5a, whole.duplicate().also { it.clear() }.get(i))
            assertNull(pipe.nextInto(whole))
            pipe.nextEpoch()
            whole.put(8, 0x5a)
            assertArrayEquals(bytes(want[0][0]), bytes(pipe.next()!![0]))
            assertEquals(0x5a, whole.get(8), "the buffer of an earlier call")
        }
    }

    /** Each JVM ends after two batches without a close; the next one goes on with the batch after them. */
    @Test
    fun stateInAnotherProcess(@TempDir dir: File) {
        val want = InferPrep.open(bundle).use { prep -> prep.pipe(Child.config()).use { p -> List(10) { Child.line(p) } } }
        val got = mutableListOf<String>()
        repeat(5) {
            val p = ProcessBuilder(
                File(System.getProperty("java.home"), "bin/java").path, "-cp", System.getProperty("java.class.path"),
                Child::class.java.name, dir.resolve("state").path,
            ).redirectError(ProcessBuilder.Redirect.INHERIT).start()
            got += p.inputStream.bufferedReader().readLines()
            assertEquals(3, p.waitFor())
        }
        assertEquals(want, got)
        assertEquals(10, want.toSet().size)
    }

    /** Reads, restores and saves the state of a pipe in a file. */
    object Child {
        private fun files() = File("../../testdata/images").listFiles { f -> f.name.startsWith("png_gray") }!!.sorted().take(11)

        fun config() = PipeConfig().apply { batchSize = 2; shuffle = true; seed = 11; files().forEach(::addFile) }

        /** The next batch of any epoch: its images and its tensor's digest. */
        fun line(p: Pipe): String {
            val b = p.next() ?: p.run { nextEpoch(); next()!! }
            val digest = MessageDigest.getInstance("SHA-256").apply { update(b[0].buffer) }.digest()
            return "${p.epoch} ${b.images.toList()} ${digest.joinToString("") { "%02x".format(it) }}"
        }

        @JvmStatic
        fun main(args: Array<String>) {
            val state = File(args[0])
            val pipe = InferPrep.open(File("../../testdata/bundle/torchvision.bundle")).pipe(config())
            if (state.exists()) pipe.restore(state.readBytes())
            repeat(2) { println(line(pipe)) }
            state.writeBytes(pipe.state())
            Runtime.getRuntime().halt(3)
        }
    }

    /** 1,000 batches in new memory, and 1,000 in one buffer: Go's heap, Java's and the process stay as large. */
    @Test
    fun memory() = InferPrep.open(bundle).use { prep ->
        prep.pipe(config { batchSize = 2; shuffle = true }).use { pipe ->
            val one = ByteBuffer.allocateDirect(2 * bytes(prep.run(files[0].readBytes())[0]).size)
            for (into in listOf(false, true)) {
                fun batches(n: Int) {
                    var left = n
                    while (left > 0) if ((if (into) pipe.nextInto(one) else pipe.next()) == null) pipe.nextEpoch() else left--
                }
                fun sizes(): List<Double> {
                    repeat(2) { // direct buffers are freed after a collection
                        System.gc()
                        Thread.sleep(20)
                    }
                    val java = Runtime.getRuntime().let { it.totalMemory() - it.freeMemory() }
                    val resident = File("/proc/self/status").readLines().first { it.startsWith("VmRSS") }.filter { it.isDigit() }.toLong() * 1024
                    return listOf(InferPrep.nativeHeap, java, resident).map { it / 1048576.0 }
                }
                batches(200)
                val first = sizes()
                batches(800)
                val last = sizes()
                println(
                    "1,000 batches of %s: Go's heap %.2f MiB after 200 and %.2f at the end, Java's %.1f and %.1f, RSS %.1f and %.1f".format(
                        if (into) "nextInto" else "next", first[0], last[0], first[1], last[1], first[2], last[2],
                    ),
                )
                for ((i, limit) in listOf(1, 4, 8).withIndex()) assertTrue(last[i] < first[i] + limit, "$i: $first, $last MiB")
            }
        }
    }
}
