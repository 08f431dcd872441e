@file:JvmName("InferPrepImages")

package io.github.inferprep

import android.graphics.ImageFormat
import android.graphics.PixelFormat
import android.graphics.Rect
import android.media.Image
import java.nio.ByteBuffer

/**
 * Runs on a camera's image, into [into], without copying its planes. The image may be closed afterwards.
 *
 * Formats: YUV_420_888 (converted as BT.601 in full range by libyuv's rule), RGBA_8888, and JPEG, which the crop
 * rectangle and the rotation do not apply to.
 *
 * @param rotation the clockwise rotation in degrees that makes the image upright: 0, 90, 180 or 270.
 * @throws InferPrepException with code INPUT for other formats, CLOSED after close.
 */
@JvmOverloads
@Throws(InferPrepException::class)
public fun InferPrep.run(image: Image, rotation: Int = 0, into: Outputs = newOutputs()): Outputs {
    val planes = image.planes.map { CameraPlane(it.buffer, it.rowStride, it.pixelStride) }
    return run(image.format, image.width, image.height, planes, image.cropRect, rotation, into)
}

/** CameraPlane is a plane of android.media.Image or of CameraX's ImageProxy. */
internal class CameraPlane(val buffer: ByteBuffer, val rowStride: Int, val pixelStride: Int)

internal fun InferPrep.run(
    format: Int, width: Int, height: Int, planes: List<CameraPlane>, crop: Rect, rotation: Int, into: Outputs,
): Outputs {
    fun frame(chroma: CameraPlane?) = Frame(
        width, height, rotation = rotation, rowStride = planes[0].rowStride,
        chromaRowStride = chroma?.rowStride ?: 0, chromaPixelStride = chroma?.pixelStride ?: 1,
        cropLeft = crop.left, cropTop = crop.top, cropRight = crop.right, cropBottom = crop.bottom,
    )
    return when {
        format == ImageFormat.JPEG -> run(planes[0].buffer, into)
        format == PixelFormat.RGBA_8888 -> run(planes[0].buffer, frame(null), into)
        // Android promises a pixel stride of 1 for Y, and equal strides for U and V.
        format == ImageFormat.YUV_420_888 && planes.size == 3 && planes[0].pixelStride == 1 &&
            planes[1].rowStride == planes[2].rowStride && planes[1].pixelStride == planes[2].pixelStride ->
            run(planes[0].buffer, planes[1].buffer, planes[2].buffer, frame(planes[1]), into)
        else -> throw InferPrepException(
            InferPrepException.Code.INPUT,
            "inferprep: an image of format $format with ${planes.size} planes: want YUV_420_888 (35), RGBA_8888 (1) or JPEG (256)",
        )
    }
}
