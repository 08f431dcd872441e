package io.github.inferprep

import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.io.File
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.security.MessageDigest

/**
 * A training on the device: a linear classifier on a shuffled pipe with random ops. mobile/training_test.go
 * has the same one in Go. Both use additions, multiplications and comparisons of float32 in one order, so
 * their weights have the same bits.
 */
class TrainingTest {
    private val example = File("../../examples/classifier")
    private val labels = example.resolve("labels.txt").readLines().filter { it.isNotEmpty() }
    private val files = List(12) { example.resolve("images/%02d.jpg".format(it)) }
    private val classes = example.resolve("expected.json").readText().let { text ->
        files.map { f ->
            val drawn = Regex("\"${f.name}\": \\{[^}]*\"drawn\": \"([^\"]*)\"").find(text)!!.groupValues[1]
            labels.indexOf(drawn)
        }
    }

    private val epochs = 80
    private val rate = 1f / 64
    private val size = 3 * 16 * 16

    /** The memory of one batch, and its numbers. */
    private val memory = ByteBuffer.allocateDirect(4 * 4 * size)
    private val x = FloatArray(4 * size)

    private fun <T> training(use: (Pipe) -> T): T =
        InferPrep.openGraph(File("../testdata/training.graph.json").readBytes()).use { prep ->
            val config = PipeConfig().apply { batchSize = 4; shuffle = true; seed = 5 }
            files.forEach(config::addFile)
            prep.pipe(config).use(use)
        }

    private class Linear(val size: Int) {
        val weights = List(4) { FloatArray(size + 1) } // the bias last

        fun scores(x: FloatArray, at: Int) = FloatArray(weights.size) { k ->
            var s = weights[k][size]
            for (i in 0 until size) s += weights[k][i] * x[at + i]
            s
        }

        /** The multiclass hinge loss of Crammer and Singer: pushes down the strongest wrong class within the margin. */
        fun step(x: FloatArray, at: Int, label: Int, rate: Float) {
            val s = scores(x, at)
            var worst = -1
            for (k in s.indices) if (k != label && (worst < 0 || s[k] > s[worst])) worst = k
            if (s[label] - s[worst] >= 1) return
            for (i in 0 until size) {
                val d = rate * x[at + i]
                weights[label][i] += d
                weights[worst][i] -= d
            }
            weights[label][size] += rate
            weights[worst][size] -= rate
        }

        fun digest(): String {
            val b = ByteBuffer.allocate(4 * weights.size * (size + 1)).order(ByteOrder.LITTLE_ENDIAN)
            weights.forEach { w -> w.forEach(b::putFloat) }
            return MessageDigest.getInstance("SHA-256").digest(b.array()).joinToString("") { "%02x".format(it) }
        }
    }

    /** Trains from where [pipe] is to the end of the epochs, or for some batches. */
    private fun train(pipe: Pipe, linear: Linear, batches: Int = Int.MAX_VALUE, each: (Int, Int) -> Unit = { _, _ -> }) {
        var left = batches
        while (left > 0) {
            val batch = pipe.nextInto(memory)
            if (batch == null) {
                if (pipe.epoch == epochs - 1L) return
                pipe.nextEpoch()
                continue
            }
            val images = batch.images
            batch[0].asFloatBuffer().get(x, 0, images.size * size)
            images.forEachIndexed { i, number ->
                val s = linear.scores(x, i * size)
                each(classes[number], s.indices.maxBy { s[it] })
                linear.step(x, i * size, classes[number], rate)
            }
            left--
        }
    }

    /** The weights are those of Go's test, also if the training goes on from a state of the pipe and the weights. */
    @Test
    fun weights() {
        val want = File("../testdata/training.sha256").readText().trim()
        val linear = Linear(size)
        val right = mutableListOf<Boolean>()
        training { train(it, linear) { label, got -> right += label == got } }
        assertEquals(want, linear.digest())
        assertEquals(epochs * files.size, right.size)
        assertTrue(right.takeLast(files.size).all { it })

        val cut = Linear(size)
        val state = training { pipe ->
            train(pipe, cut, 41) // in the middle of an epoch
            pipe.state()
        }
        training { pipe ->
            pipe.restore(state)
            train(pipe, cut)
        }
        linear.weights.zip(cut.weights).forEach { (a, b) -> assertArrayEquals(a, b) }
        assertEquals(want, cut.digest())
    }

    /**
     * The bound of mobile/README.md: after the first epochs, Go's heap grows by less than 1 MiB and the process by
     * less than 8 MiB, however long the training.
     */
    @Test
    fun memory() {
        fun sizes(): List<Double> {
            repeat(2) {
                System.gc()
                Thread.sleep(20)
            }
            val resident = File("/proc/self/status").readLines().first { it.startsWith("VmRSS") }.filter { it.isDigit() }.toLong() / 1024.0
            return listOf(InferPrep.nativeHeap / 1048576.0, resident)
        }
        training { pipe ->
            val linear = Linear(size)
            fun run(trainings: Int) = repeat(trainings) {
                repeat(5) {
                    train(pipe, linear, 3)
                    pipe.nextEpoch()
                }
            }
            run(40)
            val first = sizes()
            run(200)
            val last = sizes()
            println("3,600 batches: Go's heap %.2f MiB after 600 and %.2f at the end, RSS %.1f and %.1f".format(first[0], last[0], first[1], last[1]))
            assertTrue(last[0] < first[0] + 1, "$first, $last MiB")
            assertTrue(last[1] < first[1] + 8, "$first, $last MiB")
            // A batch, a decoded image and the 12 paths are below 1 MiB; the rest is Go's code and tables.
            assertTrue(last[0] < 8, "$last MiB")
        }
    }
}
