package io.github.inferprep.example

import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicLong

/**
 * Admits one camera frame at a time and drops the others. Frames never queue, so the screen shows
 * what the camera sees now, however slow the device. It is safe for concurrent use.
 */
class FrameGate {
    private val busy = AtomicBoolean()
    private val admissions = AtomicLong()
    private val drops = AtomicLong()

    /** Whether frames are wanted. Default false. */
    @Volatile
    var open = false

    /** The number of frames admitted. */
    val admitted: Long
        get() = admissions.get()

    /** The number of frames dropped. */
    val dropped: Long
        get() = drops.get()

    /** Reports whether the caller may work on its frame; it must then call [leave]. */
    fun enter(): Boolean {
        val ok = open && busy.compareAndSet(false, true)
        (if (ok) admissions else drops).incrementAndGet()
        return ok
    }

    /** Ends the work on the admitted frame. */
    fun leave() = busy.set(false)
}
