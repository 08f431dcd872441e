package io.github.inferprep

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.io.File

/** Runs the programs of ../README.md as printed: the POM takes them from there and compiles them. */
@Tag("goldens") // ONNX Runtime does not pass -Xcheck:jni
class ReadmeTest {
    @Test
    fun programs(@TempDir dir: File) {
        val blocks = File("../README.md").readLines().filter { it.startsWith("```kotlin") || it.startsWith("```java") }
        assertEquals(listOf("```kotlin", "```java"), blocks, "the POM takes one of each")
        Example.bundle.copyTo(dir.resolve("classifier.bundle"))
        for ((program, picture) in listOf("ReadmeKt" to "00.jpg", "Classify" to "07.jpg")) {
            Example.folder.resolve("images/$picture").copyTo(dir.resolve("photo.jpg"), overwrite = true)
            val classpath = System.getProperty("java.class.path").split(File.pathSeparator).joinToString(File.pathSeparator) { File(it).absolutePath }
            val p = ProcessBuilder(File(System.getProperty("java.home"), "bin/java").path, "-cp", classpath, program)
                .directory(dir).redirectErrorStream(true).start()
            val out = p.inputStream.bufferedReader().readText()
            assertEquals(0, p.waitFor(), out)
            assertEquals(Example.expected.getValue(picture).label, out.trim(), "$program, $picture")
        }
    }
}
