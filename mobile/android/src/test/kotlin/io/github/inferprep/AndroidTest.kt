package io.github.inferprep

import android.content.res.AssetManager
import android.graphics.Bitmap
import android.graphics.BitmapFactory
import android.graphics.Color
import android.graphics.Rect
import android.media.Image
import androidx.camera.core.ImageInfo
import androidx.camera.core.ImageProxy
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.RuntimeEnvironment
import org.robolectric.annotation.Config
import org.robolectric.annotation.GraphicsMode
import java.io.File
import java.io.IOException
import java.lang.management.BufferPoolMXBean
import java.lang.management.ManagementFactory
import java.nio.ByteBuffer
import java.util.concurrent.Callable
import java.util.concurrent.Executors
import java.util.zip.ZipEntry
import java.util.zip.ZipOutputStream

/** Android's classes are Robolectric's, on the JVM; the native library is the one for Linux. */
@RunWith(RobolectricTestRunner::class)
@Config(sdk = [34], manifest = Config.NONE)
@GraphicsMode(GraphicsMode.Mode.NATIVE)
class AndroidTest {
    private fun decode(color: String) = InferPrep.openGraph(
        """{"infer_prep_graph": 1, "inputs": [{"name": "image", "dtype": "bytes", "layout": "none", "shape": []}],
        "steps": [{"op": "decode", "version": 1, "in": ["image"], "out": ["image"], "params": {"color": "$color", "alpha": "drop",
        "gray16": "clip", "refuse": [], "orientation": "ignore", "damage": "pillow", "scale": "full"}}], "outputs": ["image"]}""".toByteArray(),
    )

    private fun bytes(t: Tensor): ByteArray = t.buffer.let { b -> ByteArray(b.remaining()).also { b.duplicate().get(it) } }

    @Test
    fun opaqueBitmap() {
        val p = decode("rgb")
        val png = File("../../testdata/images/png_rgb8.png").readBytes()
        val want = p.run(png)[0]
        val bitmap = BitmapFactory.decodeByteArray(png, 0, png.size)
        val got = p.run(bitmap)[0]
        assertArrayEquals(want.shape, got.shape)
        assertArrayEquals(bytes(want), bytes(got))
        val hard = bitmap.copy(Bitmap.Config.RGB_565, false)
        assertArrayEquals(want.shape, p.run(hard)[0].shape)
    }

    @Test
    fun transparentBitmap() {
        val p = decode("rgba")
        val bitmap = Bitmap.createBitmap(3, 2, Bitmap.Config.ARGB_8888)
        bitmap.setPixel(1, 0, Color.argb(255, 10, 20, 30))
        bitmap.setPixel(2, 1, Color.argb(0x80, 255, 0, 255))
        val want = ByteArray(24)
        byteArrayOf(10, 20, 30, -1).copyInto(want, 4)
        byteArrayOf(-1, 0, -1, 0x80.toByte()).copyInto(want, 20)
        assertArrayEquals(want, bytes(p.run(bitmap)[0]))
        val straight = Bitmap.createBitmap(3, 2, Bitmap.Config.ARGB_8888)
        straight.isPremultiplied = false
        straight.setPixel(1, 0, Color.argb(255, 10, 20, 30))
        straight.setPixel(2, 1, Color.argb(0x80, 255, 0, 255))
        assertArrayEquals(want, bytes(p.run(straight)[0]))
    }

    @Test
    fun bitmapsInTurn() {
        val p = decode("rgba")
        val bitmaps = listOf(3 to 5, 640 to 480, 1 to 1, 33 to 2).map { (w, h) ->
            Bitmap.createBitmap(IntArray(w * h) { (it * 0x010305) or (255 shl 24) }, w, h, Bitmap.Config.ARGB_8888)
        }
        val want = bitmaps.map { bytes(p.run(it)[0]) }
        for ((b, w) in bitmaps.zip(want)) {
            assertArrayEquals(ByteArray(b.width * b.height * 4) { i -> (i / 4 * 0x010305 or (255 shl 24)).let { c -> listOf(c shr 16, c shr 8, c, c shr 24)[i % 4] }.toByte() }, w)
        }
        fun direct() = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean::class.java).first { it.name == "direct" }.totalCapacity
        val shared = p.newOutputs()
        for (b in bitmaps) p.run(b, shared)
        val before = direct()
        repeat(20) {
            for ((b, w) in bitmaps.zip(want)) assertArrayEquals(w, bytes(p.run(b, shared)[0]))
        }
        assertTrue("a run makes no memory of its own: $before, ${direct()}", direct() <= before)
        val pool = Executors.newFixedThreadPool(4)
        val work = List(4) { t ->
            pool.submit(Callable {
                val own = p.newOutputs()
                repeat(50) { i ->
                    val k = (i + t) % bitmaps.size
                    assertArrayEquals(want[k], bytes(p.run(bitmaps[k], own)[0]))
                    p.run(bitmaps[k], shared)
                }
            })
        }
        work.forEach { it.get() }
        pool.shutdown()
        fun code(b: Bitmap) = assertThrows(InferPrepException::class.java) { p.run(b, shared) }.code
        assertEquals(InferPrepException.Code.INPUT, code(bitmaps[1].copy(Bitmap.Config.ARGB_8888, false).also { it.recycle() }))
        shared.close()
        assertEquals(InferPrepException.Code.CLOSED, code(bitmaps[0]))
    }

    private class Plane(val data: ByteBuffer, val row: Int, val pixel: Int) : ImageProxy.PlaneProxy {
        override fun getRowStride() = row
        override fun getPixelStride() = pixel
        override fun getBuffer() = data
    }

    private class Proxy(
        val w: Int, val h: Int, val format_: Int, val list: Array<ImageProxy.PlaneProxy>, val rotation: Int, val crop: Rect = Rect(0, 0, w, h),
    ) : ImageProxy {
        override fun close() = Unit
        override fun getCropRect() = crop
        override fun getFormat() = format_
        override fun getHeight() = h
        override fun getWidth() = w
        override fun getPlanes() = list
        override fun getImageInfo() = ImageInfo { rotation }
    }

    private fun direct(vararg b: Int): ByteBuffer = ByteBuffer.allocateDirect(b.size).also { d -> b.forEach { d.put(it.toByte()) }; d.rewind() }

    @Test
    fun cameraFrames() {
        val p = decode("rgb")
        // Four by two pixels in NV21 with rows of six bytes: white and black on the left, red on the right.
        val y = direct(255, 255, 76, 76, 9, 9, 0, 0, 76, 76)
        val vu = direct(128, 128, 255, 85)
        val u = vu.duplicate().also { it.position(1) }
        val planes = arrayOf<ImageProxy.PlaneProxy>(Plane(y, 6, 1), Plane(u.slice(), 6, 2), Plane(vu, 6, 2))
        val upright = p.run(Proxy(4, 2, 35, planes, 0))[0]
        assertArrayEquals(longArrayOf(2, 4, 3), upright.shape)
        val rgb = bytes(upright)
        assertArrayEquals(byteArrayOf(-1, -1, -1, -1, -1, -1), rgb.copyOf(6))
        assertArrayEquals(byteArrayOf(0, 0, 0, 0, 0, 0), rgb.copyOfRange(12, 18))
        assertEquals(255, rgb[6].toInt() and 255)
        val turned = p.run(Proxy(4, 2, 35, planes, 90))[0]
        assertArrayEquals(longArrayOf(4, 2, 3), turned.shape)
        assertArrayEquals(byteArrayOf(0, 0, 0, -1, -1, -1), bytes(turned).copyOf(6))
        val cut = p.run(Proxy(4, 2, 35, planes, 0, Rect(1, 1, 3, 2)))[0]
        assertArrayEquals(rgb.copyOfRange(15, 21), bytes(cut))
        val rgba = arrayOf<ImageProxy.PlaneProxy>(Plane(direct(1, 2, 3, 255, 4, 5, 6, 255, 0, 0, 7, 8, 9, 255, 10, 11, 12, 255), 10, 4))
        assertArrayEquals(byteArrayOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), bytes(p.run(Proxy(2, 2, 1, rgba, 0))[0]))
        val jpeg = File("../../testdata/images/jpeg_large.jpg").readBytes()
        val file = ByteBuffer.allocateDirect(jpeg.size).put(jpeg).also { it.rewind() }
        val still = p.run(Proxy(420, 310, 256, arrayOf(Plane(file, 0, 0)), 0))[0]
        assertArrayEquals(bytes(p.run(jpeg)[0]), bytes(still))
    }

    private class MediaPlane(val p: AndroidTest.Plane) : Image.Plane() {
        override fun `$$robo$getData`(): Any? = Image.Plane::class.java.getField("__robo_data__").get(this)
        override fun getRowStride() = p.row
        override fun getPixelStride() = p.pixel
        override fun getBuffer() = p.data
    }

    /** Apps get images from a camera only; its constructor is hidden from them. */
    private class MediaImage(val w: Int, val h: Int, val format_: Int, vararg list: AndroidTest.Plane) : Image() {
        // Robolectric's own, which compilers do not see in Image.
        override fun `$$robo$getData`(): Any? = Image::class.java.getField("__robo_data__").get(this)
        val list = list.map { MediaPlane(it) }.toTypedArray<Image.Plane>()
        init { mIsImageValid = true }
        override fun close() { mIsImageValid = false }
        override fun getFormat() = format_
        override fun getHeight() = h
        override fun getWidth() = w
        override fun getPlanes() = list
        override fun getTimestamp() = 0L
        override fun getTransform() = 0
        override fun getScalingMode() = 0
    }

    @Test
    fun images() {
        val p = decode("rgb")
        val y = direct(255, 255, 76, 76, 0, 0, 76, 76)
        val u = direct(128, 85)
        val v = direct(128, 255)
        val image = MediaImage(4, 2, 35, Plane(y, 4, 1), Plane(u, 2, 1), Plane(v, 2, 1))
        val want = bytes(p.run(y, u, v, Frame(4, 2))[0])
        assertEquals(24, want.size)
        assertArrayEquals(want, bytes(p.run(image)[0]))
        val half = p.run(image, 180)[0]
        assertArrayEquals(want.toList().chunked(3).reversed().flatten().toByteArray(), bytes(half))
        image.cropRect = Rect(0, 1, 2, 2)
        assertArrayEquals(want.copyOfRange(12, 18), bytes(p.run(image)[0]))
        val e = assertThrows(InferPrepException::class.java) { p.run(image, 45) }
        assertEquals(InferPrepException.Code.INPUT, e.code)
    }

    @Test
    fun assets() {
        // An app's assets are files of its ZIP archive.
        val apk = File("target/assets.apk")
        ZipOutputStream(apk.outputStream()).use { z ->
            for (name in listOf("bundle/torchvision.bundle", "images/png_rgb8.png")) {
                z.putNextEntry(ZipEntry("assets/$name"))
                z.write(File("../../testdata", name).readBytes())
            }
        }
        val assets = RuntimeEnvironment.getApplication().assets
        val add = AssetManager::class.java.getMethod("addAssetPath", String::class.java) // hidden from apps
        assertTrue((add.invoke(assets, apk.absolutePath) as Int) > 0)
        InferPrep.open(assets, "bundle/torchvision.bundle").use { p ->
            assertEquals(InferPrep.open(File("../../testdata/bundle/torchvision.bundle")).digest, p.digest)
            p.verify()
        }
        assertThrows(IOException::class.java) { InferPrep.open(assets, "missing.bundle") }
        val e = assertThrows(InferPrepException::class.java) { InferPrep.open(assets, "images/png_rgb8.png") }
        assertEquals(InferPrepException.Code.BUNDLE, e.code)
    }

    @Test
    fun invalidFrames() {
        val p = decode("rgb")
        val y = arrayOf<ImageProxy.PlaneProxy>(Plane(direct(1), 1, 1))
        for (bad in listOf(Proxy(1, 1, 35, y, 0), Proxy(1, 1, 4, y, 0), Proxy(1, 1, 1, y, 0))) {
            val e = assertThrows(InferPrepException::class.java) { p.run(bad) }
            assertEquals(InferPrepException.Code.INPUT, e.code)
        }
    }
}
