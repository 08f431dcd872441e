package io.github.inferprep.mobile

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/**
 * The JVM turns signals into exceptions. Go has handlers of its own and must pass signals of Java code on. The tag
 * makes this run without -Xcheck:jni and libjsig, as programs do.
 */
@Tag("goldens")
class SignalTest {
    private class Box(@JvmField val value: Int)

    @Test
    fun nullDereferences() {
        Mobile.version()
        val boxes = arrayOfNulls<Box>(2)
        boxes[0] = Box(1)
        var sum = 0L
        // Compiled code has no check for null; it takes SIGSEGV.
        repeat(200_000) { sum += boxes[0]!!.value }
        var caught = 0
        repeat(1000) {
            try {
                sum += valueOf(boxes[1])
            } catch (e: NullPointerException) {
                caught++
            }
        }
        assertEquals(1000, caught)
        assertEquals(200_000, sum)
    }

    private fun valueOf(b: Box?): Int = unchecked(b).value

    @Suppress("UNCHECKED_CAST")
    private fun unchecked(b: Any?): Box = (listOf(b) as List<Box>)[0]

    private var depth = 0

    private fun recurse(): Int {
        depth++
        return recurse() + 1
    }

    @Test
    fun stackOverflow() {
        Mobile.version()
        repeat(20) { assertThrows(StackOverflowError::class.java) { recurse() } }
    }

    @Test
    fun garbageCollection() { // safepoints are pages that fault
        val p = Mobile.openGraph(BridgeTest.decode.toByteArray())
        val image = java.io.File("../../testdata/images/jpeg_large.jpg").readBytes()
        val threads = (0 until 4).map {
            Thread { repeat(200) { p.runJPEG(image).data(0) } }.apply { start() }
        }
        while (threads.any { it.isAlive }) {
            System.gc()
            Thread.sleep(1)
        }
    }
}
