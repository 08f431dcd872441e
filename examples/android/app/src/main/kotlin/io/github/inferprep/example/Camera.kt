package io.github.inferprep.example

import android.graphics.Bitmap
import androidx.activity.ComponentActivity
import androidx.camera.core.CameraSelector
import androidx.camera.core.ImageAnalysis
import androidx.camera.core.Preview
import androidx.camera.lifecycle.ProcessCameraProvider
import androidx.camera.view.PreviewView
import io.github.inferprep.run
import java.util.concurrent.Executor

/** CameraX for one Activity: it shows the camera's view and gives the frames to the presenter. */
class Camera(
    private val activity: ComponentActivity,
    private val view: PreviewView,
    private val presenter: Presenter<Bitmap>,
    private val main: Executor,
) {
    private var provider: ProcessCameraProvider? = null
    private var wanted = false
    private var bound = false

    /** Starts the camera, if it is not running. CameraX stops it when the Activity stops. */
    fun start() {
        if (wanted) {
            return
        }
        wanted = true
        val future = ProcessCameraProvider.getInstance(activity)
        future.addListener({
            try {
                provider = future.get()
                bind()
            } catch (e: Exception) {
                wanted = false
                presenter.problem(Problem(Problem.Kind.CAMERA, (e.cause ?: e).let { it.message ?: it.toString() }))
            }
        }, main)
    }

    /** Stops the camera, if it is running. */
    fun stop() {
        wanted = false
        if (bound) {
            bound = false
            provider?.unbindAll()
        }
    }

    private fun bind() {
        val p = provider ?: return
        if (!wanted || activity.isDestroyed) { // stopped in the meantime
            return
        }
        val side = listOf(CameraSelector.DEFAULT_BACK_CAMERA, CameraSelector.DEFAULT_FRONT_CAMERA).find { p.hasCamera(it) }
            ?: throw IllegalStateException("this device has no camera")
        val preview = Preview.Builder().build()
        preview.setSurfaceProvider(view.surfaceProvider)
        val analysis = ImageAnalysis.Builder().setBackpressureStrategy(ImageAnalysis.STRATEGY_KEEP_ONLY_LATEST).build()
        // The presenter returns at once, so CameraX's own thread may call it.
        analysis.setAnalyzer(Runnable::run) { image ->
            presenter.frame(image::close) { prep, into -> prep.run(image, into) }
        }
        p.unbindAll()
        p.bindToLifecycle(activity, side, preview, analysis)
        bound = true
        presenter.cameraReady()
    }
}
