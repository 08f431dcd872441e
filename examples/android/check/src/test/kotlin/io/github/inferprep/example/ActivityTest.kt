package io.github.inferprep.example

import android.Manifest
import android.app.Application
import android.content.Intent
import android.content.pm.ActivityInfo
import android.content.res.Configuration
import android.graphics.Bitmap
import android.graphics.Color
import android.graphics.Rect
import android.net.Uri
import android.provider.Settings
import android.view.View
import android.view.ViewGroup
import android.widget.Button
import android.widget.ImageView
import android.widget.TextView
import androidx.activity.ComponentActivity.Registered
import androidx.activity.result.PickVisualMediaRequest
import androidx.activity.result.contract.ActivityResultContracts
import androidx.camera.core.CameraSelector
import androidx.camera.core.ImageAnalysis
import androidx.camera.core.ImageInfo
import androidx.camera.core.ImageProxy
import androidx.camera.lifecycle.ProcessCameraProvider
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotNull
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Before
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.Robolectric
import org.robolectric.RobolectricTestRunner
import org.robolectric.RuntimeEnvironment
import org.robolectric.Shadows.shadowOf
import org.robolectric.android.controller.ActivityController
import org.robolectric.annotation.Config
import org.robolectric.annotation.GraphicsMode
import java.io.ByteArrayInputStream
import java.nio.ByteBuffer

/**
 * The Activity with its real resources and manifest, in Robolectric. AndroidX and CameraX are the
 * declarations of src/check.
 */
@RunWith(RobolectricTestRunner::class)
@Config(sdk = [34])
@GraphicsMode(GraphicsMode.Mode.NATIVE)
class ActivityTest {
    private val app: Application get() = RuntimeEnvironment.getApplication()
    private lateinit var control: ActivityController<MainActivity>
    private val activity: MainActivity get() = control.get()

    @Before
    fun reset() {
        ProcessCameraProvider.camera = CameraSelector.DEFAULT_BACK_CAMERA
        ProcessCameraProvider.bound = null
    }

    private fun start(camera: Boolean) {
        if (camera) shadowOf(app).grantPermissions(Manifest.permission.CAMERA)
        control = Robolectric.buildActivity(MainActivity::class.java).setup()
    }

    /** Runs the main thread until [done]. */
    private fun await(what: String, done: () -> Boolean) {
        val end = System.nanoTime() + 20_000_000_000
        while (!done()) {
            assertTrue("no $what: ${(app as ExampleApp).presenter.state}", System.nanoTime() < end)
            shadowOf(android.os.Looper.getMainLooper()).idle()
            Thread.sleep(2)
        }
    }

    private fun text(id: Int): String = activity.findViewById<TextView>(id).text.toString()

    private fun visible(id: Int): Boolean = activity.findViewById<View>(id).visibility == View.VISIBLE

    private fun awaitVerified() = await("verification") { text(R.id.verified) == activity.getString(R.string.verify_passed) }

    @Suppress("UNCHECKED_CAST")
    private fun permission() = activity.registered.first { it.contract is ActivityResultContracts.RequestPermission } as Registered<String, Boolean>

    @Suppress("UNCHECKED_CAST")
    private fun picker() = activity.registered.first { it.contract is ActivityResultContracts.PickVisualMedia } as Registered<PickVisualMediaRequest, Uri?>

    private fun choose(name: String, bytes: ByteArray) {
        val uri = Uri.parse("content://pictures/$name")
        shadowOf(app.contentResolver).registerInputStreamSupplier(uri) { ByteArrayInputStream(bytes) }
        activity.findViewById<Button>(R.id.pick).performClick()
        assertEquals(ActivityResultContracts.PickVisualMedia.ImageOnly, picker().launches.last().mediaType)
        picker().callback.onActivityResult(uri)
    }

    @Test
    fun pictures() {
        start(camera = true)
        awaitVerified()
        for ((name, want) in expected) {
            choose(name, image(name))
            await(name) { text(R.id.probability) != "" }
            assertEquals(name, want.label, text(R.id.label))
            assertNotNull((activity.findViewById<ImageView>(R.id.picture).drawable as android.graphics.drawable.BitmapDrawable).bitmap)
            assertTrue(text(R.id.timing), Regex("Preprocessing: \\d+\\.\\d\\d ms. Inference: \\d+\\.\\d\\d ms.").matches(text(R.id.timing)))
        }
        assertFalse(visible(R.id.preview))
        assertNull("the camera is off while a picture shows", ProcessCameraProvider.bound)
        picker().callback.onActivityResult(null) // none chosen: nothing changes
        assertTrue(visible(R.id.picture))

        choose("broken", byteArrayOf(0, 1, 2))
        await("problem") { visible(R.id.problem) }
        assertTrue(text(R.id.problem), text(R.id.problem).startsWith("The picture cannot be classified: "))
        activity.findViewById<Button>(R.id.camera).performClick()
        await("camera") { ProcessCameraProvider.bound != null }
        assertTrue(visible(R.id.preview))
        assertFalse(visible(R.id.problem))
        assertFalse(visible(R.id.camera))
    }

    private class Plane(val data: ByteBuffer, val row: Int) : ImageProxy.PlaneProxy {
        override fun getRowStride() = row
        override fun getPixelStride() = 1
        override fun getBuffer() = data
    }

    private class Yuv(val w: Int, val h: Int, val parts: List<ByteBuffer>) : ImageProxy {
        @Volatile
        var closed = 0
        override fun close() { closed++ }
        override fun getCropRect() = Rect(0, 0, w, h)
        override fun getFormat() = android.graphics.ImageFormat.YUV_420_888
        override fun getHeight() = h
        override fun getWidth() = w
        override fun getPlanes(): Array<ImageProxy.PlaneProxy> = Array(3) { Plane(parts[it], if (it == 0) w else w / 2) }
        override fun getImageInfo() = ImageInfo { 0 }
    }

    /** An image as a camera's frame, in I420, of even sides. */
    private fun frame(name: String): Yuv {
        val b: Bitmap = image(name).let { android.graphics.BitmapFactory.decodeByteArray(it, 0, it.size) }
        val w = b.width and 1.inv()
        val h = b.height and 1.inv()
        val y = ByteBuffer.allocateDirect(w * h)
        val u = ByteBuffer.allocateDirect(w * h / 4)
        val v = ByteBuffer.allocateDirect(w * h / 4)
        for (j in 0 until h) {
            for (i in 0 until w) {
                val c = b.getPixel(i, j)
                val (r, g, l) = Triple(Color.red(c), Color.green(c), Color.blue(c))
                y.put((0.299 * r + 0.587 * g + 0.114 * l).toInt().toByte())
                if (i % 2 == 0 && j % 2 == 0) {
                    u.put((128 - 0.168736 * r - 0.331264 * g + 0.5 * l).toInt().coerceIn(0, 255).toByte())
                    v.put((128 + 0.5 * r - 0.418688 * g - 0.081312 * l).toInt().coerceIn(0, 255).toByte())
                }
            }
        }
        return Yuv(w, h, listOf(y, u, v).onEach { it.rewind() })
    }

    @Test
    fun frames() {
        start(camera = true)
        awaitVerified()
        val analysis = ProcessCameraProvider.bound.filterIsInstance<ImageAnalysis>().single()
        for ((name, want) in expected) {
            val f = frame(name)
            analysis.executor.execute { analysis.analyzer.analyze(f) }
            await("result of frame $name") { f.closed > 0 && text(R.id.label) == want.label }
            assertEquals(1, f.closed)
        }
        control.pause().stop()
        val late = frame("00.jpg")
        analysis.analyzer.analyze(late)
        assertEquals("a frame after onStop is dropped", 1, late.closed)
        assertNull(ProcessCameraProvider.bound)
    }

    @Test
    fun rotation() {
        start(camera = true)
        awaitVerified()
        choose("02.jpg", image("02.jpg"))
        await("result") { text(R.id.label) == "red square" }
        val probability = text(R.id.probability)
        val before = activity
        RuntimeEnvironment.setQualifiers("+land")
        control.configurationChange(Configuration(app.resources.configuration))
        assertTrue("the Activity is a new one", before !== activity)
        assertEquals(Configuration.ORIENTATION_LANDSCAPE, activity.resources.configuration.orientation)
        assertEquals("red square", text(R.id.label))
        assertEquals(probability, text(R.id.probability))
        assertTrue(visible(R.id.picture))
        assertEquals(activity.getString(R.string.verify_passed), text(R.id.verified))
    }

    @Test
    fun permissionDenied() {
        start(camera = false)
        assertEquals(listOf(Manifest.permission.CAMERA), permission().launches)
        permission().callback.onActivityResult(false)
        assertEquals(activity.getString(R.string.problem_permission), text(R.id.problem))
        assertTrue(visible(R.id.problem))
        assertNull(ProcessCameraProvider.bound)
        awaitVerified()
        choose("03.jpg", image("03.jpg")) // pictures work
        await("result") { text(R.id.label) == "blue square" }

        assertEquals(activity.getString(R.string.button_allow), text(R.id.camera))
        activity.findViewById<Button>(R.id.camera).performClick()
        val next: Intent? = shadowOf(activity).nextStartedActivity
        assertEquals(Settings.ACTION_APPLICATION_DETAILS_SETTINGS, next?.action)
        shadowOf(app.packageManager).setShouldShowRequestPermissionRationale(Manifest.permission.CAMERA, true)
        activity.findViewById<Button>(R.id.camera).performClick()
        assertEquals(2, permission().launches.size)

        control.recreate() // a rotation does not ask again
        assertTrue(permission().launches.isEmpty())
        assertTrue(visible(R.id.problem))

        shadowOf(app).grantPermissions(Manifest.permission.CAMERA)
        control.pause().stop().start().resume()
        assertFalse(visible(R.id.problem))
        activity.findViewById<Button>(R.id.camera).performClick()
        await("camera") { ProcessCameraProvider.bound != null }
    }

    @Test
    fun noCamera() {
        ProcessCameraProvider.camera = null
        start(camera = true)
        await("problem") { visible(R.id.problem) }
        assertEquals("The camera cannot be started: this device has no camera", text(R.id.problem))
        ProcessCameraProvider.camera = CameraSelector.DEFAULT_FRONT_CAMERA
        activity.findViewById<Button>(R.id.camera).performClick()
        await("camera") { ProcessCameraProvider.bound != null }
        assertFalse(visible(R.id.problem))
    }

    private fun views(v: View): List<View> =
        listOf(v) + if (v is ViewGroup) (0 until v.childCount).flatMap { views(v.getChildAt(it)) } else emptyList()

    private fun luminance(c: Int): Double {
        fun lin(x: Int) = (x / 255.0).let { if (it <= 0.04045) it / 12.92 else Math.pow((it + 0.055) / 1.055, 2.4) }
        return 0.2126 * lin(Color.red(c)) + 0.7152 * lin(Color.green(c)) + 0.0722 * lin(Color.blue(c))
    }

    /** WCAG's ratio. */
    private fun contrast(a: Int, b: Int): Double {
        val (dark, light) = listOf(luminance(a), luminance(b)).sorted()
        return (light + 0.05) / (dark + 0.05)
    }

    private fun accessible() {
        start(camera = false)
        permission().callback.onActivityResult(false)
        awaitVerified()
        val all = views(activity.findViewById(android.R.id.content))
        await("the texts' layouts") { all.all { it !is TextView || !it.isShown || it.layout != null } }
        val density = activity.resources.displayMetrics.density
        val background = activity.getColor(R.color.background)
        for (v in all.filter { it.isShown }) {
            val name = if (v.id == View.NO_ID) v.javaClass.simpleName else activity.resources.getResourceEntryName(v.id)
            if (v is Button) {
                assertTrue("$name: ${v.height / density} dp high", v.height >= 48 * density)
                assertTrue(name, v.text.isNotEmpty())
            } else if (v is TextView) {
                val c = contrast(v.currentTextColor, background)
                assertTrue("$name: contrast $c", c >= 4.5)
            }
            if (v is TextView) {
                assertTrue("$name is cut off", v.layout.height + v.compoundPaddingTop + v.compoundPaddingBottom <= v.height)
            }
        }
        assertNotNull(activity.findViewById<View>(R.id.preview).contentDescription)
        assertNotNull(activity.findViewById<View>(R.id.picture).contentDescription)
        for (id in listOf(R.id.label, R.id.problem)) {
            assertEquals(View.ACCESSIBILITY_LIVE_REGION_POLITE, activity.findViewById<View>(id).accessibilityLiveRegion)
        }
        // The last button can be reached: the panel scrolls to it.
        val last = activity.findViewById<View>(R.id.verify)
        last.requestRectangleOnScreen(Rect(0, 0, last.width, last.height), true)
        val seen = Rect()
        assertTrue(last.getGlobalVisibleRect(seen))
        assertEquals(last.height, seen.height())
    }

    @Test
    fun accessibleByDay() = accessible()

    @Test
    @Config(qualifiers = "+night")
    fun accessibleByNight() {
        assertEquals(Configuration.UI_MODE_NIGHT_YES, app.resources.configuration.uiMode and Configuration.UI_MODE_NIGHT_MASK)
        accessible()
    }

    @Test
    @Config(qualifiers = "+w320dp-h470dp", fontScale = 2f)
    fun accessibleWithLargeFonts() = accessible()

    @Test
    @Config(qualifiers = "+land")
    fun accessibleInLandscape() = accessible()

    @Test
    fun manifest() {
        val info = app.packageManager.getActivityInfo(android.content.ComponentName(app, MainActivity::class.java), 0)
        assertTrue(info.exported)
        assertEquals("rotations recreate the Activity", 0, info.configChanges and ActivityInfo.CONFIG_ORIENTATION)
        assertTrue(app is ExampleApp)
        assertEquals(24, app.applicationInfo.minSdkVersion)
    }
}
