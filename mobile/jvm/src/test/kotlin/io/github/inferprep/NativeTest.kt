package io.github.inferprep

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.io.File
import java.net.URLClassLoader

/** Loading the native library. The other tests load it from the jar's resources. */
class NativeTest {
    private val classpath = System.getProperty("java.class.path")
    private val java = File(System.getProperty("java.home"), "bin/java").path

    private fun start(vararg args: String): Process =
        ProcessBuilder(listOf(java, "-cp", classpath) + args + Child::class.java.name).redirectErrorStream(true).start()

    private fun text(p: Process): String {
        val out = p.inputStream.bufferedReader().readText()
        assertEquals(0, p.waitFor(), out)
        return out.trim()
    }

    private val platform = if (System.getProperty("os.arch") == "aarch64") "linux/arm64" else "linux/amd64"

    private fun library(): File = File("target/classes/io/github/inferprep/native/$platform/libinferprep.so")

    @Test
    fun processesAtOnce(@TempDir dir: File) {
        val all = List(4) { start("-Djava.io.tmpdir=$dir") }
        for (p in all) assertEquals(InferPrep.version, text(p))
        assertEquals(emptyList<String>(), dir.list()!!.toList(), "copies of the library are deleted")
    }

    @Test
    fun classLoadersAtOnce() {
        val urls = classpath.split(File.pathSeparator).map { File(it).toURI().toURL() }.toTypedArray()
        val others = List(2) {
            URLClassLoader(urls, ClassLoader.getSystemClassLoader().parent).loadClass(Child::class.java.name)
        }
        for (c in others) {
            assertNotSame(Child::class.java, c)
            assertEquals(InferPrep.version, c.getMethod("run").invoke(null))
        }
    }

    @Test
    fun unknownPlatform() {
        val out = text(start("-Dos.arch=riscv64"))
        assertTrue(out.startsWith("NATIVE inferprep: there is no native library for linux/riscv64, only for linux/amd64"), out)
        assertTrue(out.contains("inferprep.library"), out)
        val mac = text(start("-Dos.name=Mac OS X", "-Dos.arch=aarch64"))
        assertTrue(mac.contains("no native library for mac os x/arm64"), mac)
    }

    @Test
    fun noTemporaryFolder(@TempDir dir: File) {
        val out = text(start("-Djava.io.tmpdir=$dir/none"))
        assertTrue(out.startsWith("NATIVE inferprep: the native library for $platform cannot be copied to $dir/none"), out)
    }

    @Test
    fun namedLibrary(@TempDir dir: File) {
        val copy = library().copyTo(dir.resolve("a library.so"))
        assertEquals(InferPrep.version, text(start("-Dinferprep.library=$copy", "-Dos.arch=riscv64")))
        val none = text(start("-Dinferprep.library=$dir/none.so"))
        assertTrue(none.startsWith("NATIVE ") && none.contains("$dir/none.so"), none)
        val damaged = dir.resolve("damaged.so").also { it.writeText("no library") }
        val failed = text(start("-Dinferprep.library=$damaged"))
        assertTrue(failed.contains("NATIVE ") && failed.contains("$damaged"), failed)
    }

    /** Prints the library's version, or the code and the message of the error. */
    object Child {
        @JvmStatic
        fun run(): String = InferPrep.version

        @JvmStatic
        fun main(args: Array<String>) {
            val first = runCatching { run() }.exceptionOrNull() as InferPrepException?
            if (first == null) {
                println(run())
                return
            }
            // The second error is the same, and not that of a class that failed to initialize.
            val second = runCatching { InferPrep.openGraph(ByteArray(0)) }.exceptionOrNull() as InferPrepException
            check(second.message == first.message) { second }
            println("${first.code} ${first.message}")
        }
    }
}
