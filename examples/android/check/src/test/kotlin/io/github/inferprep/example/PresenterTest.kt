package io.github.inferprep.example

import io.github.inferprep.Frame
import io.github.inferprep.InferPrepException
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotNull
import org.junit.Assert.assertNull
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config
import org.robolectric.annotation.GraphicsMode
import java.nio.ByteBuffer
import java.util.concurrent.Executor
import java.util.concurrent.RejectedExecutionException

/**
 * The presenter with the real preprocessing and ONNX Runtime. It needs no Android, but one class
 * loader of a JVM has the native library: ActivityTest's.
 */
@RunWith(RobolectricTestRunner::class)
@Config(sdk = [34])
@GraphicsMode(GraphicsMode.Mode.NATIVE)
class PresenterTest {
    /** Runs tasks when the test says so, in order. */
    private class Queue : Executor {
        val tasks = ArrayDeque<Runnable>()

        override fun execute(task: Runnable) {
            tasks.add(task)
        }

        fun drain() {
            while (tasks.isNotEmpty()) tasks.removeFirst().run()
        }
    }

    private val worker = Queue()
    private val main = Queue()
    private val states = mutableListOf<State<String>>()
    private var opened = 0

    private fun presenter(bytes: ByteArray = bundle) = Presenter<String>({ opened++; Classifier(bytes) }, worker, main)

    private fun settle() {
        while (worker.tasks.isNotEmpty() || main.tasks.isNotEmpty()) {
            worker.drain()
            main.drain()
        }
    }

    @Test
    fun predictions() {
        assertEquals(12, expected.size)
        Classifier(bundle).use { c ->
            for ((name, want) in expected) {
                val got = c.classify { prep, into -> prep.run(image(name), into) }
                // ONNX Runtime's sums depend on the processor's instructions.
                assertArrayEquals(name, want.logits, got.logits, 1e-3f)
                assertEquals(name, want.label, got.label)
                val most = want.logits.maxOf { it }
                assertEquals(1 / want.logits.sumOf { Math.exp((it - most).toDouble()) }, got.probability.toDouble(), 1e-3)
                assertTrue(got.preprocessNanos > 0 && got.inferenceNanos > 0)
            }
        }
    }

    @Test
    fun pictures() {
        val p = presenter()
        p.attach { states += it }
        assertEquals(Model.LOADING, p.state.model)
        settle()
        assertEquals(Model.READY, p.state.model)
        assertEquals(Verification.Passed, p.state.verification)
        assertTrue(states.any { it.verification == Verification.Running(6, expected.size + 1) })
        for ((name, want) in expected) {
            p.picture { Presenter.Picture(image(name), "small $name") }
            assertNull(p.state.result)
            settle()
            assertEquals(want.label, p.state.result?.label)
            assertEquals("small $name", p.state.thumbnail)
            assertFalse(p.gate.open)
        }
        p.picture { Presenter.Picture(byteArrayOf(1, 2, 3), null) }
        settle()
        assertEquals(Problem.Kind.PICTURE, p.state.problem?.kind)
        assertNull(p.state.result)
        p.picture { throw java.io.IOException("gone") }
        settle()
        assertEquals(Problem(Problem.Kind.PICTURE, "gone"), p.state.problem)
        p.camera()
        assertNull(p.state.problem)
        assertTrue(p.gate.open)
    }

    @Test
    fun onlyTheLastPicture() {
        val p = presenter()
        p.attach {}
        settle()
        p.picture { Presenter.Picture(image("00.jpg"), "00") }
        p.picture { Presenter.Picture(image("01.jpg"), "01") }
        worker.drain()
        p.camera()
        settle()
        assertNull(p.state.result)
        assertNull(p.state.thumbnail)
    }

    @Test
    fun frames() {
        val p = presenter()
        var closed = 0
        val close: () -> Unit = { closed++ }
        // A red square of RGBA pixels before grey ones.
        val pixels = ByteBuffer.allocateDirect(96 * 96 * 4)
        for (y in 0 until 96) {
            for (x in 0 until 96) {
                pixels.putInt(if (x in 24..72 && y in 24..72) 0xE01010FF.toInt() else 0x808080FF.toInt())
            }
        }
        pixels.rewind()
        fun send() = p.frame(close) { prep, into -> prep.run(pixels, Frame(96, 96), into) }

        send()
        assertEquals(1, closed) // before the model is open
        p.attach {}
        settle()
        send()
        send()
        send()
        assertEquals("dropped frames are released at once", 3, closed)
        assertEquals("frames do not queue", 1, worker.tasks.size)
        settle()
        assertEquals(4, closed)
        assertEquals("red square", p.state.result?.label)

        p.frame(close) { prep, into -> prep.run(byteArrayOf(1), into) }
        settle()
        assertEquals(5, closed)
        assertEquals(Problem.Kind.FRAME, p.state.problem?.kind)
        assertNull(p.state.result)
        send()
        settle()
        assertNull(p.state.problem)
        assertNotNull(p.state.result)

        // A result that comes after a picture was chosen, or after the screen is off, is dropped.
        send()
        p.picture { Presenter.Picture(image("01.jpg"), null) }
        settle()
        assertEquals("blue circle", p.state.result?.label)
        p.camera()
        p.detach()
        send()
        assertTrue(worker.tasks.isEmpty())
        assertEquals(8, closed)
        assertEquals(3 + 1, p.gate.admitted)
    }

    @Test
    fun rejected() {
        var stopped = false
        val p = Presenter<String>({ Classifier(bundle) }, { if (stopped) throw RejectedExecutionException() else it.run() }, { it.run() })
        p.attach {}
        stopped = true
        var closed = 0
        p.frame({ closed++ }) { _, _ -> }
        p.frame({ closed++ }) { _, _ -> }
        assertEquals(2, closed)
        assertEquals(2, p.gate.admitted)
    }

    @Test
    fun rotation() {
        val p = presenter()
        p.attach { states += it }
        settle()
        p.picture { Presenter.Picture(image("02.jpg"), "02") }
        p.detach()
        settle()
        states.clear()
        p.attach { states += it }
        settle()
        assertEquals(1, opened)
        assertEquals(1, states.size)
        assertEquals("red square", states[0].result?.label)
        assertEquals("02", states[0].thumbnail)
    }

    @Test
    fun brokenBundle() {
        val p = presenter(bundle.copyOf(100))
        p.attach {}
        settle()
        assertEquals(Model.FAILED, p.state.model)
        assertEquals(Problem.Kind.MODEL, p.state.problem?.kind)
        assertFalse(p.gate.open)
        p.picture { Presenter.Picture(image("00.jpg"), null) }
        settle()
        assertEquals(Problem.Kind.MODEL, p.state.problem?.kind)
        p.cameraReady()
        assertEquals(Problem.Kind.MODEL, p.state.problem?.kind)

        // A changed byte in the last golden sample is found by verify.
        val changed = bundle.clone()
        val at = String(changed, Charsets.ISO_8859_1).lastIndexOf("JFIF")
        assertTrue(at > 0)
        changed[at + 400] = (changed[at + 400].toInt() xor 1).toByte()
        val q = presenter(changed)
        q.attach {}
        settle()
        assertTrue("${q.state.verification}", q.state.verification is Verification.Failed)
    }

    @Test
    fun afterClose() {
        val c = Classifier(bundle)
        c.close()
        val e = assertThrows(InferPrepException::class.java) { c.classify { prep, into -> prep.run(image("00.jpg"), into) } }
        assertEquals(InferPrepException.Code.CLOSED, e.code)
    }
}
