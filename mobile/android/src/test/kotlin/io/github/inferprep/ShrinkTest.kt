package io.github.inferprep

import com.android.tools.r8.CompilationFailedException
import com.android.tools.r8.R8
import com.android.tools.r8.R8Command
import com.android.tools.r8.origin.Origin
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test
import java.io.File
import java.util.zip.ZipEntry
import java.util.zip.ZipFile
import java.util.zip.ZipOutputStream

/** Shrinks an app with the consumer rules of the AAR, and runs it. */
class ShrinkTest {
    @Test
    fun shrinks() {
        val app = File("target/test-classes/io/github/inferprep").listFiles { f -> f.name.startsWith("ShrunkApp") }!!.map { it.path }
        assertTrue(app.isNotEmpty())
        val dir = File("target/shrunk").apply { deleteRecursively(); mkdirs() }
        val rules = File(dir, "rules.txt").apply {
            writeText("-keep class io.github.inferprep.ShrunkApp { public static void main(java.lang.String[]); }\n-dontwarn **\n")
        }
        val programs = programs(dir) { it.extension == "class" }
        val out = File(dir, "app.jar")
        shrink("--classfile", "--output", out.path, "--lib", System.getProperty("java.home"), "--pg-conf", "proguard.txt", "--pg-conf", rules.path, *(programs + app).toTypedArray())
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
        assertEquals("image [310, 420, 3] INPUT INPUT\n", run(out, graph))
        // Without the consumer rules, the native library does not find its classes.
        shrink("--classfile", "--output", out.path, "--lib", System.getProperty("java.home"), "--pg-conf", rules.path, *(programs + app).toTypedArray())
        assertFalse("the consumer rules have no effect", run(out, graph).startsWith("image"))
    }

    /** What an app for Android 5 without CameraX ships; its classes are all there, of Android or Java. */
    @Test
    fun dexes() {
        val dir = File("target/dexed").apply { deleteRecursively(); mkdirs() }
        val rules = File(dir, "rules.txt").apply { writeText("-keep class io.github.inferprep.** { *; }\n-dontwarn org.robolectric.**\n") }
        val programs = programs(dir) { it.extension == "class" && !it.path.contains("/androidx/") }
        // R8 does not accept all of Robolectric's Android; these are the packages in use.
        val android = File(dir, "android-all.jar").also { to ->
            val used = Regex("android/(graphics|content|hardware|os|util|annotation)/.*|android/media/Image.*")
            ZipOutputStream(to.outputStream()).use { z ->
                ZipFile(paths.single { File(it).name.startsWith("android-all") }).use { all ->
                    all.entries().asSequence().filter { it.name.endsWith(".class") && used.matches(it.name) }.forEach {
                        z.putNextEntry(ZipEntry(it.name))
                        all.getInputStream(it).copyTo(z)
                    }
                }
            }
        }.path
        val out = File(dir, "app.zip")
        shrink("--min-api", "21", "--output", out.path, "--lib", System.getProperty("java.home"), "--lib", android, "--pg-conf", "proguard.txt", "--pg-conf", rules.path, *programs.toTypedArray())
        val dex = ZipFile(out).use { z -> z.getInputStream(z.getEntry("classes.dex")).readBytes() }.toString(Charsets.ISO_8859_1)
        for (name in listOf("bridge/Seq", "mobile/Preprocessor", "InferPrepBitmaps", "InferPrepCameraX")) {
            assertTrue(name, "Lio/github/inferprep/$name;" in dex)
        }
        // Without the rule for CameraX, such an app does not build.
        val fewer = File(dir, "fewer.txt").apply { writeText(File("proguard.txt").readLines().filter { "dontwarn" !in it }.joinToString("\n")) }
        assertThrows(CompilationFailedException::class.java) {
            shrink("--min-api", "21", "--output", out.path, "--lib", System.getProperty("java.home"), "--lib", android, "--pg-conf", fewer.path, "--pg-conf", rules.path, *programs.toTypedArray())
        }
    }

    private val paths = System.getProperty("java.class.path").split(File.pathSeparator)

    /** Returns the classes of the library and of what it depends on, as files that R8 takes. */
    private fun programs(dir: File, keep: (File) -> Boolean): List<String> {
        val libraries = paths.filter { p ->
            listOf("infer-prep", "kotlin-stdlib", "kotlinx-coroutines-core", "annotations").any { File(p).name.startsWith(it) } ||
                p.endsWith("/jvm/target/classes") || p.endsWith("/android/target/classes")
        }
        assertTrue("$paths", libraries.size >= 4)
        return libraries.map { File(it) }.map { f ->
            if (!f.isDirectory) f.path else File(dir, "${f.parentFile.parentFile.name}.jar").also { zip(f, it, keep) }.path
        }
    }

    private fun shrink(vararg args: String) = R8.run(R8Command.parse(arrayOf("--release") + args, Origin.unknown()).build())

    private fun run(app: File, graph: File): String {
        val p = ProcessBuilder(
            "${System.getProperty("java.home")}/bin/java", "-Dinferprep.library=${System.getProperty("inferprep.library")}",
            "-cp", app.path, "io.github.inferprep.ShrunkApp", graph.path, "../../testdata/images/jpeg_large.jpg",
        ).redirectErrorStream(true).start()
        val said = p.inputStream.bufferedReader().readText()
        return if (p.waitFor() == 0) said else "failed: $said"
    }

    private fun zip(from: File, to: File, keep: (File) -> Boolean) {
        ZipOutputStream(to.outputStream()).use { z ->
            from.walk().filter { it.isFile && keep(it) }.forEach {
                z.putNextEntry(ZipEntry(it.relativeTo(from).path))
                z.write(it.readBytes())
            }
        }
    }
}
