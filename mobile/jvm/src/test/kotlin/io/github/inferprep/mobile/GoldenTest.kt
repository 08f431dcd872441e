package io.github.inferprep.mobile

import com.google.gson.Gson
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import java.io.File
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.security.MessageDigest
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import kotlin.math.abs

/** All goldens of the references in testdata whose graph takes one encoded image, through the bridge. */
@Tag("goldens")
class GoldenTest {
    private class Cases(val graphs: List<IntArray>, val inputs: List<Input>, val cases: List<Case>)
    private class Input(val path: String?, val at: IntArray, val type: String?)
    private class Case(val kind: String, val name: String, val graph: Int, val `in`: IntArray, val out: List<Output>?, val error: String?)
    private class Output(
        val name: String, val type: String, val layout: String?, val dims: LongArray, val sha256: String,
        val want: IntArray?, val tolerance: Double,
    )

    private val dir = File("target/cases")
    private val root = File("../..")

    @Test
    fun goldens() {
        val p = ProcessBuilder(System.getenv("GO") ?: "go", "run", "./tools/goldencases", "-out", dir.absolutePath)
            .directory(root).redirectErrorStream(true).start()
        val log = p.inputStream.bufferedReader().readText()
        assertEquals(0, p.waitFor(), log)
        val file = File(dir, "cases.json").reader().use { Gson().fromJson(it, Cases::class.java) }
        val blob = File(dir, "cases.bin").readBytes()
        val images = ConcurrentHashMap<Int, ByteArray>()
        fun image(i: Int) = images.getOrPut(i) {
            val input = file.inputs[i]
            if (input.path == null) blob.copyOfRange(input.at[0], input.at[0] + input.at[1]) else File(root, input.path).readBytes()
        }
        val (cases, left) = file.cases.partition { it.`in`.size == 1 && file.inputs[it.`in`[0]].type.isNullOrEmpty() }
        val differences = ConcurrentLinkedQueue<String>()
        val tensors = AtomicInteger()
        val start = System.nanoTime()
        cases.groupBy { it.graph }.entries.toList().parallelStream().forEach { (graph, list) ->
            val at = file.graphs[graph]
            val prep = Mobile.openGraph(blob.copyOfRange(at[0], at[0] + at[1]))
            for (c in list) {
                val problem = check(prep, image(c.`in`[0]), c, blob, tensors)
                if (problem != null) differences += "${c.kind}: ${c.name}: $problem"
            }
            prep.close()
        }
        println("%,d goldens equal (%,d graphs, %,d tensors, %.1f s), %d differ; %,d left out: their graphs take tensors or several inputs".format(
            cases.size - differences.size, cases.distinctBy { it.graph }.size, tensors.get(), (System.nanoTime() - start) / 1e9, differences.size, left.size))
        assertEquals(emptyList<String>(), differences.take(20))
        assertTrue(cases.size > 14_000, "${cases.size} cases")
    }

    private fun check(prep: Preprocessor, image: ByteArray, c: Case, blob: ByteArray, tensors: AtomicInteger): String? {
        val result = try {
            prep.runJPEG(image)
        } catch (e: Exception) {
            return if (c.error != null && Mobile.code(e) == c.error) null else "${Mobile.code(e)}: ${e.message}, want ${c.error ?: "no error"}"
        }
        if (c.error != null) return "no error, want one of code ${c.error}"
        val want = c.out!!
        if (result.outputs() != want.size.toLong()) return "${result.outputs()} outputs, want ${want.size}"
        for ((i, w) in want.withIndex()) {
            val at = i.toLong()
            val dims = LongArray(result.rank(at).toInt()) { result.dim(at, it.toLong()) }
            val layout = result.layout(at).ifEmpty { "none" }
            if (prep.outputName(at) != w.name || result.dType(at) != w.type || !dims.contentEquals(w.dims) || (!w.layout.isNullOrEmpty() && layout != w.layout)) {
                return "${prep.outputName(at)} ${result.dType(at)} ${dims.toList()} $layout, want ${w.name} ${w.type} ${w.dims.toList()} ${w.layout}"
            }
            val data = result.data(at) ?: ByteArray(0)
            if (hex(data) != w.sha256 && !near(data, w, blob)) return "${w.name}: other bytes than the reference"
            tensors.incrementAndGet()
        }
        return null
    }

    private fun near(data: ByteArray, w: Output, blob: ByteArray): Boolean {
        if (w.want == null || w.type != "float32") return false
        val got = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer()
        val want = ByteBuffer.wrap(blob, w.want[0], w.want[1]).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer()
        return got.remaining() == want.remaining() && (0 until got.remaining()).all { abs(got[it] - want[it]) <= w.tolerance }
    }

    private fun hex(data: ByteArray) = MessageDigest.getInstance("SHA-256").digest(data).joinToString("") { "%02x".format(it) }
}
