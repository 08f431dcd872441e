package io.github.inferprep.example

import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import org.w3c.dom.Element
import java.io.File
import javax.xml.parsers.DocumentBuilderFactory

/** The files of the Gradle project that nothing here compiles. aapt2 has resolved all references. */
class ProjectTest {
    private val res = File("../app/src/main/res")
    private val shown = listOf("text", "contentDescription", "hint", "label", "title")

    private fun elements(f: File): List<Element> {
        val all = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(f).getElementsByTagName("*")
        return List(all.length) { all.item(it) as Element }
    }

    @Test
    fun noTextOutsideStrings() {
        val files = res.walk().filter { it.extension == "xml" && it.parentFile.name.startsWith("layout") } + File("../app/src/main/AndroidManifest.xml")
        var seen = 0
        for (f in files) {
            for (e in elements(f)) {
                for (a in shown.map { "android:$it" }.filter { e.hasAttribute(it) }) {
                    seen++
                    assertTrue("${f.name}: $a=${e.getAttribute(a)}", e.getAttribute(a).startsWith("@string/"))
                }
            }
        }
        assertTrue(seen > 5)
    }

    @Test
    fun noTextInCode() {
        val literal = Regex("""(?:\.text = |\.put\(|setText\(|contentDescription = |makeText\()"[^"]+"""")
        for (f in File("../app/src/main/kotlin").walk().filter { it.extension == "kt" }) {
            assertEquals(f.name, null, literal.find(f.readText())?.value)
        }
    }

    @Test
    fun everyStringIsUsed() {
        val used = File("../app/src/main").walk().filter { it.isFile }.joinToString("\n") { it.readText() }
        for (e in elements(File(res, "values/strings.xml")).filter { it.tagName == "string" }) {
            val name = e.getAttribute("name")
            assertTrue(name, Regex("(R\\.string\\.|@string/)$name\\b").containsMatchIn(used))
        }
    }

    @Test
    fun sameVersionsAsTested() {
        val catalogue = File("../gradle/libs.versions.toml").readText()
        fun pom(f: String, tag: Regex) = tag.find(File(f).readText())!!.groupValues[1]
        fun has(name: String, version: String) = assertTrue("$name $version", "\n$name = \"$version\"\n" in catalogue)
        has("kotlin", pom("../../../mobile/pom.xml", Regex("<kotlin.version>(.*)</")))
        has("coroutines", pom("../../../mobile/pom.xml", Regex("<coroutines.version>(.*)</")))
        has("onnxruntime", pom("pom.xml", Regex("<artifactId>onnxruntime</artifactId>\\s*<version>(.*)</")))
    }

    @Test
    fun catalogueAndBuildAgree() {
        val catalogue = File("../gradle/libs.versions.toml").readText()
        val build = File("../app/build.gradle.kts").readText() + File("../build.gradle.kts").readText()
        val libraries = Regex("(?m)^([a-z0-9-]+) = \\{ module").findAll(catalogue).map { it.groupValues[1].replace('-', '.') }.toSet()
        val used = Regex("implementation\\(libs\\.([a-z0-9.]+)\\)").findAll(build).map { it.groupValues[1] }.toSet()
        assertEquals(libraries, used)
        for (ref in Regex("version.ref = \"(.*?)\"").findAll(catalogue)) {
            assertTrue(ref.value, Regex("(?m)^${ref.groupValues[1]} = \"").containsMatchIn(catalogue))
        }
    }
}
