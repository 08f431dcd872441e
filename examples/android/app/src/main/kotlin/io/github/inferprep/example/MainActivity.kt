package io.github.inferprep.example

import android.Manifest
import android.content.Intent
import android.content.pm.PackageManager
import android.graphics.Bitmap
import android.net.Uri
import android.os.Bundle
import android.provider.Settings
import android.view.View
import android.widget.Button
import android.widget.ImageView
import android.widget.TextView
import androidx.activity.ComponentActivity
import androidx.activity.result.PickVisualMediaRequest
import androidx.activity.result.contract.ActivityResultContracts
import androidx.camera.view.PreviewView

/** Shows the presenter's state, and passes on what the user does. */
class MainActivity : ComponentActivity() {
    private val presenter by lazy { (application as ExampleApp).presenter }
    private val preview by lazy { findViewById<PreviewView>(R.id.preview) }
    private val picture by lazy { findViewById<ImageView>(R.id.picture) }
    private val label by lazy { findViewById<TextView>(R.id.label) }
    private val probability by lazy { findViewById<TextView>(R.id.probability) }
    private val timing by lazy { findViewById<TextView>(R.id.timing) }
    private val problem by lazy { findViewById<TextView>(R.id.problem) }
    private val verified by lazy { findViewById<TextView>(R.id.verified) }
    private val cameraButton by lazy { findViewById<Button>(R.id.camera) }
    private val verifyButton by lazy { findViewById<Button>(R.id.verify) }
    private val camera by lazy { Camera(this, preview, presenter, (application as ExampleApp).main) }

    /** Whether the user was asked for the camera; a rotation does not ask again. */
    private var asked = false

    private var started = false

    private val ask = registerForActivityResult(ActivityResultContracts.RequestPermission()) { granted ->
        if (!granted) {
            presenter.problem(Problem(Problem.Kind.PERMISSION))
        }
        // onStart follows, or has been: render starts the camera.
        render(presenter.state)
    }

    private val pick = registerForActivityResult(ActivityResultContracts.PickVisualMedia()) { uri ->
        if (uri != null) { // null: the user chose none
            val resolver = applicationContext.contentResolver // the Activity may end before the read
            presenter.picture { readPicture(resolver, uri) }
        }
    }

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        asked = savedInstanceState?.getBoolean(ASKED) ?: false
        setContentView(R.layout.activity_main)
        findViewById<Button>(R.id.pick).setOnClickListener {
            pick.launch(PickVisualMediaRequest(ActivityResultContracts.PickVisualMedia.ImageOnly))
        }
        cameraButton.setOnClickListener { useCamera() }
        verifyButton.setOnClickListener { presenter.verify() }
    }

    override fun onStart() {
        super.onStart()
        started = true
        presenter.attach(::render)
        if (allowed()) {
            presenter.cameraReady() // the settings may have changed
        } else if (!asked) {
            asked = true
            ask.launch(Manifest.permission.CAMERA)
        } else if (presenter.state.problem == null) {
            presenter.problem(Problem(Problem.Kind.PERMISSION))
        }
    }

    override fun onStop() {
        started = false
        camera.stop()
        presenter.detach()
        super.onStop()
    }

    override fun onSaveInstanceState(outState: Bundle) {
        super.onSaveInstanceState(outState)
        outState.putBoolean(ASKED, asked)
    }

    private fun allowed() = checkSelfPermission(Manifest.permission.CAMERA) == PackageManager.PERMISSION_GRANTED

    private fun useCamera() {
        when {
            allowed() -> {
                presenter.cameraReady()
                presenter.camera()
            }
            shouldShowRequestPermissionRationale(Manifest.permission.CAMERA) -> ask.launch(Manifest.permission.CAMERA)
            // Android does not ask a third time: only the settings help.
            else -> startActivity(
                Intent(Settings.ACTION_APPLICATION_DETAILS_SETTINGS, Uri.fromParts("package", packageName, null)),
            )
        }
    }

    private fun render(s: State<Bitmap>) {
        val live = s.source == Source.CAMERA
        show(preview, live)
        show(picture, !live)
        picture.setImageBitmap(s.thumbnail)

        val r = s.result
        label.put(r?.label ?: getString(if (s.model == Model.LOADING) R.string.loading else R.string.waiting))
        probability.put(if (r == null) "" else getString(R.string.probability, r.probability * 100))
        timing.put(if (r == null) "" else getString(R.string.timing, r.preprocessNanos / 1e6, r.inferenceNanos / 1e6))

        val v = s.verification
        verified.put(
            when (v) {
                Verification.NotRun -> getString(R.string.verify_not_run)
                is Verification.Running -> getString(R.string.verify_running, v.done, v.total)
                Verification.Passed -> getString(R.string.verify_passed)
                is Verification.Failed -> getString(R.string.verify_failed, v.why)
            },
        )
        verified.setTextColor(getColor(if (v is Verification.Failed) R.color.error else R.color.text_secondary))
        verifyButton.isEnabled = s.model == Model.READY && v !is Verification.Running

        val p = s.problem
        show(problem, p != null)
        problem.put(
            when (p?.kind) {
                null -> ""
                Problem.Kind.MODEL -> getString(R.string.problem_model, p.why)
                Problem.Kind.PICTURE -> getString(R.string.problem_picture, p.why)
                Problem.Kind.FRAME -> getString(R.string.problem_frame, p.why)
                Problem.Kind.CAMERA -> getString(R.string.problem_camera, p.why)
                Problem.Kind.PERMISSION -> getString(R.string.problem_permission)
            },
        )

        show(cameraButton, !live || !allowed() || p?.kind == Problem.Kind.CAMERA)
        cameraButton.setText(if (allowed()) R.string.button_camera else R.string.button_allow)
        if (started && live && allowed() && p?.kind != Problem.Kind.CAMERA) {
            camera.start()
        } else if (!live) {
            camera.stop()
        }
    }

    private fun show(v: View, visible: Boolean) {
        v.visibility = if (visible) View.VISIBLE else View.GONE
    }

    /** Equal text is not set again: a live region would be announced again. */
    private fun TextView.put(s: String) {
        if (text.toString() != s) {
            text = s
        }
    }

    private companion object {
        const val ASKED = "asked"
    }
}
