package io.github.inferprep

import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import java.io.File
import java.nio.ByteBuffer

/** The times of runs through the bridge, for ../../bench.sh, which compares them. */
@Tag("bench")
class Bench {
    private fun best(name: String, run: () -> Unit) {
        repeat(2000) { run() }
        val medians = (0 until 5).map {
            val times = LongArray(400) {
                val start = System.nanoTime()
                run()
                System.nanoTime() - start
            }
            times.sort()
            times[times.size / 2]
        }
        println("bench $name ${medians.min() / 1e6}")
    }

    @Test
    fun times() {
        InferPrep.openGraph(File(System.getenv("GRAPH")).readBytes()).use { p ->
            val outputs = p.newOutputs()
            val jpeg = File("../../testdata/images/jpeg_large.jpg").readBytes()
            val direct = ByteBuffer.allocateDirect(jpeg.size).put(jpeg).also { it.flip() }
            best("jpeg") { p.run(jpeg, outputs) }
            best("jpeg-direct") { p.run(direct, outputs) }
            var x = 1
            fun plane(n: Int) = ByteBuffer.allocateDirect(n).also { b ->
                for (i in 0 until n) {
                    x = x * 1664525 + 1013904223
                    b.put(i, (x ushr 24).toByte())
                }
            }
            val y = plane(640 * 480)
            val vu = plane(640 * 240)
            val u = vu.duplicate().also { it.position(1) }
            for (rotation in listOf(0, 90)) {
                val frame = Frame(640, 480, rotation = rotation, chromaRowStride = 640, chromaPixelStride = 2)
                best("yuv-$rotation") { p.run(y, u, vu, frame, outputs) }
            }
        }
    }
}
