package io.github.inferprep

import ai.onnxruntime.OnnxTensor
import ai.onnxruntime.OrtEnvironment
import com.google.gson.Gson
import com.google.gson.reflect.TypeToken
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assertions.fail
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import java.io.File
import java.nio.ByteBuffer
import java.security.MessageDigest
import kotlin.math.abs

/**
 * The bundle of examples/classifier with ONNX Runtime, against Python's predictions. ONNX Runtime's own calls of JNI do
 * not pass -Xcheck:jni, so this runs without it.
 */
@Tag("goldens")
class ClassifierTest {
    private fun direct(t: Tensor): ByteArray = t.buffer.duplicate().let { b -> ByteArray(b.remaining()).also { b.get(it) } }

    @Test
    fun predictions() {
        val names = File(Example.folder, "images").list()!!.sorted()
        assertEquals(12, names.size)
        InferPrep.open(Example.bundle).use { prep ->
            val progress = mutableListOf<Pair<Int, Int>>()
            prep.verify { done, total -> progress += done to total }
            assertEquals((0..13).map { it to 13 }, progress, "12 golden samples, and the digests")
            val env = OrtEnvironment.getEnvironment()
            env.createSession(prep.model()).use { session ->
                val outputs = prep.newOutputs()
                var worst = 0f
                for (name in names) {
                    val e = Example.expected.getValue(name)
                    val t = prep.run(File(Example.folder, "images/$name").readBytes(), outputs)[0]
                    val digest = MessageDigest.getInstance("SHA-256").digest(direct(t)).joinToString("") { "%02x".format(it) }
                    assertEquals(e.sha256, digest, "$name: the tensor")
                    OnnxTensor.createTensor(env, t.asFloatBuffer(), t.batchShape).use { input ->
                        session.run(mapOf(session.inputNames.first() to input)).use { result ->
                            @Suppress("UNCHECKED_CAST")
                            val logits = (result[0].value as Array<FloatArray>)[0]
                            for ((i, l) in logits.withIndex()) worst = maxOf(worst, abs(l - e.logits[i]))
                            assertEquals(e.label, prep.labels[logits.indices.maxByOrNull { logits[it] }!!], name)
                        }
                    }
                }
                println("classifier: 12 tensors and 12 labels equal to Python's; outputs within $worst")
                assertTrue(worst < 1e-3, "$worst")
            }
        }
    }

    @Test
    fun cancel() {
        InferPrep.open(Example.bundle).use { prep ->
            val stop = IllegalStateException("enough")
            assertEquals(stop, assertThrows(IllegalStateException::class.java) { prep.verify { done, _ -> if (done == 3) throw stop } })
            prep.verify()
        }
    }

    /**
     * Camera frames through one InferPrep until the process and Java's heap stay as large for 10,000 of them. The runtimes of Java and Go, and
     * malloc, take memory in steps of some MiB for the first 60,000 or so; with a leak of 50 bytes a frame the process never stays as large.
     */
    @Test
    fun memory() {
        InferPrep.open(Example.bundle).use { prep ->
            val outputs = prep.newOutputs()
            val y = ByteBuffer.allocateDirect(320 * 240)
            val u = ByteBuffer.allocateDirect(160 * 120)
            val v = ByteBuffer.allocateDirect(160 * 120)
            for (i in 0 until y.capacity()) y.put(i, (i * 7).toByte())
            val frame = Frame(320, 240, rotation = 90)
            fun resident() = File("/proc/self/status").readLines().first { it.startsWith("VmRSS") }.filter { it.isDigit() }.toLong() / 1024.0
            fun used(): Double {
                System.gc()
                return Runtime.getRuntime().let { it.totalMemory() - it.freeMemory() } / 1048576.0
            }
            var first = 0.0
            var firstUsed = 0.0
            for (i in 1..200_000) {
                prep.run(y, u, v, frame, outputs)
                if (i % 10_000 != 0) continue
                val lastUsed = used()
                val last = resident()
                println("%d frames: Java heap %.1f MiB, RSS %.1f MiB".format(i, lastUsed, last))
                if (i > 10_000 && last - first in -0.5..0.5 && lastUsed - firstUsed in -0.5..0.5) return
                first = last
                firstUsed = lastUsed
            }
            fail<Unit>("the process still grows after 200,000 frames")
        }
    }
}

/** The bundle of examples/classifier, made once for all tests. */
internal object Example {
    val folder: File = File("../../examples/classifier").absoluteFile

    val bundle: File by lazy {
        val bundle = File("target/classifier.bundle").absoluteFile
        bundle.delete()
        val p = ProcessBuilder(
            System.getenv("GO") ?: "go", "run", "../../cmd/infer-prep", "bundle", "create", "--torchvision", "transforms.json", "--model", "model.onnx",
            "--labels", "labels.txt", "--golden", "images", "--expect", "tensors", "-o", bundle.path,
        ).directory(folder).redirectErrorStream(true).start()
        val log = p.inputStream.bufferedReader().readText()
        assertEquals(0, p.waitFor(), log)
        bundle
    }

    class Expected(val sha256: String, val logits: FloatArray, val label: String)

    /** What Python computes of the picture of a name. */
    val expected: Map<String, Expected> by lazy {
        File(folder, "expected.json").reader().use { Gson().fromJson(it, object : TypeToken<Map<String, Expected>>() {}) }
    }
}
