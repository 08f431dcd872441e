package io.github.inferprep

import com.android.tools.r8.R8
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Test
import java.io.File
import java.util.zip.ZipFile

/** Shrinks an app with the consumer rules of the AAR, and runs it. */
class ShrinkTest {
    @Test
    fun shrinks() {
        val paths = System.getProperty("java.class.path").split(File.pathSeparator)
        val libraries = paths.filter { p -> listOf("infer-prep", "kotlin-stdlib", "kotlinx-coroutines-core", "annotations").any { File(p).name.startsWith(it) } || p.contains("/jvm/target/classes") }
        val app = File("target/test-classes/io/github/inferprep").listFiles { f -> f.name.startsWith("ShrunkApp") }!!.map { it.path }
        assertTrue("$paths", libraries.size >= 3 && app.isNotEmpty())
        val dir = File("target/shrunk").apply { deleteRecursively(); mkdirs() }
        val rules = File(dir, "rules.txt").apply {
            writeText("-keep class io.github.inferprep.ShrunkApp { public static void main(java.lang.String[]); }\n-dontwarn **\n")
        }
        val programs = libraries.map { File(it) }.map { f ->
            if (!f.isDirectory) f.path else File(dir, "${f.parentFile.parentFile.name}.jar").also { zip(f, it) }.path
        }
        val out = File(dir, "app.jar")
        R8.main(
            arrayOf(
                "--release", "--classfile", "--output", out.path, "--lib", System.getProperty("java.home"),
                "--pg-conf", "proguard.txt", "--pg-conf", rules.path,
            ) + programs + app,
        )
        val names = ZipFile(out).use { z -> z.entries().toList().map { it.name } }
        assertTrue("$names", "io/github/inferprep/bridge/Seq.class" in names && "io/github/inferprep/mobile/Preprocessor.class" in names)
        assertFalse("InferPrep keeps its name", "io/github/inferprep/InferPrepImages.class" in names)
        val graph = File(dir, "graph.json").apply {
            writeText(
                """{"infer_prep_graph": 1, "inputs": [{"name": "image", "dtype": "bytes", "layout": "none", "shape": []}],
                "steps": [{"op": "decode", "version": 1, "in": ["image"], "out": ["image"], "params": {"color": "rgb", "alpha": "drop",
                "gray16": "clip", "refuse": [], "orientation": "ignore", "damage": "pillow", "scale": "full"}}], "outputs": ["image"]}""",
            )
        }
        val p = ProcessBuilder(
            "${System.getProperty("java.home")}/bin/java", "-Dinferprep.library=${System.getProperty("inferprep.library")}",
            "-cp", out.path, "io.github.inferprep.ShrunkApp", graph.path, "../../testdata/images/jpeg_large.jpg",
        ).redirectErrorStream(true).start()
        assertEquals("image [310, 420, 3] INPUT INPUT\n", p.inputStream.bufferedReader().readText())
        assertEquals(0, p.waitFor())
    }

    private fun zip(from: File, to: File) {
        java.util.zip.ZipOutputStream(to.outputStream()).use { z ->
            from.walk().filter { it.isFile && it.extension == "class" }.forEach {
                z.putNextEntry(java.util.zip.ZipEntry(it.relativeTo(from).path))
                z.write(it.readBytes())
            }
        }
    }
}
