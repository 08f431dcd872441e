package io.github.inferprep.example

import io.github.inferprep.InferPrep
import io.github.inferprep.Outputs
import java.util.concurrent.Executor
import java.util.concurrent.RejectedExecutionException

/**
 * The app's logic, without Android types. It outlives the Activity, so a rotation neither loads the
 * model again nor loses a result.
 *
 * All methods but [frame] are for the main thread. The worker has one thread, which alone uses the
 * classifier.
 *
 * @param open opens the classifier, on the worker.
 * @param main runs tasks in order on the main thread, later.
 */
class Presenter<P>(private val open: () -> Classifier, private val worker: Executor, private val main: Executor) {
    /** A picture that the user chose. */
    class Picture<P>(val bytes: ByteArray, val thumbnail: P?)

    val gate = FrameGate()

    var state = State<P>()
        private set

    private var show: ((State<P>) -> Unit)? = null
    private var opening = false

    /** Counts the changes of the source: results of an earlier source are dropped. */
    private var turn = 0

    private var classifier: Classifier? = null // only for the worker

    /** Shows the state in [view] now and after each change, until [detach]. */
    fun attach(view: (State<P>) -> Unit) {
        show = view
        change(state)
        if (!opening) {
            opening = true
            worker.execute(::load)
            verify()
        }
    }

    /** Stops the camera frames and lets go of the view. */
    fun detach() {
        show = null
        gate.open = false
    }

    /** Verifies the bundle on this device. */
    fun verify() {
        worker.execute {
            val c = classifier ?: return@execute // a problem says why
            val end = try {
                c.verify { done, total ->
                    post { change(state.copy(verification = Verification.Running(done, total))) }
                }
                Verification.Passed
            } catch (e: Exception) {
                Verification.Failed(why(e))
            }
            post { change(state.copy(verification = end)) }
        }
    }

    /** Classifies a picture, which [read] reads on the worker, and stops the camera. */
    fun picture(read: () -> Picture<P>) {
        val at = ++turn
        change(state.copy(source = Source.PICTURE, thumbnail = null, result = null, problem = kept()))
        fun then(next: (State<P>) -> State<P>) = post { if (at == turn) change(next(state)) }
        worker.execute {
            try {
                val p = read()
                then { it.copy(thumbnail = p.thumbnail) }
                val c = classifier ?: return@execute // a problem says why
                val r = c.classify { prep, into -> prep.run(p.bytes, into) }
                then { it.copy(result = r) }
            } catch (e: Exception) {
                then { it.copy(problem = Problem(Problem.Kind.PICTURE, why(e))) }
            }
        }
    }

    /** Returns to the camera. */
    fun camera() {
        turn++
        change(state.copy(source = Source.CAMERA, thumbnail = null, result = null, problem = kept()))
    }

    /**
     * Classifies a camera frame if the app is ready for one, and drops it otherwise. Any thread may
     * call it; it returns at once.
     *
     * @param close releases the frame. It is called once, whatever happens.
     * @param run gives the frame to the preprocessing, on the worker.
     */
    fun frame(close: () -> Unit, run: (prep: InferPrep, into: Outputs) -> Unit) {
        if (!gate.enter()) {
            close()
            return
        }
        try {
            worker.execute {
                try {
                    val r = checkNotNull(classifier).classify(run)
                    frameDone { it.copy(result = r, problem = kept()) }
                } catch (e: Exception) {
                    frameDone { it.copy(result = null, problem = Problem(Problem.Kind.FRAME, why(e))) }
                } finally {
                    close()
                    gate.leave()
                }
            }
        } catch (e: RejectedExecutionException) {
            close()
            gate.leave()
        }
    }

    /** Shows a problem of the camera or of its permission. */
    fun problem(p: Problem) = change(state.copy(problem = p))

    /** Takes back a problem of the camera or of its permission: it is solved, or worth another try. */
    fun cameraReady() {
        val k = state.problem?.kind
        if (k == Problem.Kind.CAMERA || k == Problem.Kind.PERMISSION) {
            change(state.copy(problem = null))
        }
    }

    private fun load() {
        val failure = try {
            classifier = open()
            null
        } catch (e: Exception) {
            e
        } catch (e: LinkageError) { // ONNX Runtime has no native library for the device
            e
        }
        post {
            change(
                if (failure == null) {
                    state.copy(model = Model.READY)
                } else {
                    state.copy(model = Model.FAILED, problem = Problem(Problem.Kind.MODEL, why(failure)))
                },
            )
        }
    }

    /** The frame may be from before the camera was left: the gate is closed since. */
    private fun frameDone(next: (State<P>) -> State<P>) = post {
        if (gate.open) {
            change(next(state))
        }
    }

    /** The problem that stays when another picture or frame comes: the model's or the camera's. */
    private fun kept(): Problem? =
        state.problem?.takeIf { it.kind != Problem.Kind.PICTURE && it.kind != Problem.Kind.FRAME }

    private fun change(s: State<P>) {
        state = s
        gate.open = show != null && s.model == Model.READY && s.source == Source.CAMERA
        show?.invoke(s)
    }

    private fun post(task: () -> Unit) = main.execute(task)

    private fun why(e: Throwable): String = e.message ?: e.toString()
}
