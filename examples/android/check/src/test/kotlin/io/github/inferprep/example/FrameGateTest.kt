package io.github.inferprep.example

import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Test
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread

class FrameGateTest {
    @Test
    fun oneAtATime() {
        val g = FrameGate()
        assertFalse(g.enter()) // closed
        g.open = true
        assertTrue(g.enter())
        assertFalse(g.enter())
        g.leave()
        assertTrue(g.enter())
        assertEquals(2, g.admitted)
        assertEquals(2, g.dropped)
    }

    @Test
    fun threads() {
        val g = FrameGate().also { it.open = true }
        val inside = AtomicInteger()
        val most = AtomicInteger()
        List(8) {
            thread {
                repeat(10_000) {
                    if (g.enter()) {
                        most.accumulateAndGet(inside.incrementAndGet(), ::maxOf)
                        inside.decrementAndGet()
                        g.leave()
                    }
                }
            }
        }.forEach { it.join() }
        assertEquals(1, most.get())
        assertEquals(80_000, g.admitted + g.dropped)
    }
}
