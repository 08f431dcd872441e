package io.github.inferprep

import io.github.inferprep.InferPrepException.Code
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test
import java.io.File

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
}
