@file:JvmName("InferPrepCameraX")

package io.github.inferprep

import androidx.camera.core.ImageProxy

/**
 * Runs on a frame of CameraX, into [into], without copying its planes: use it in an ImageAnalysis.Analyzer, and
 * close the frame afterwards. The crop rectangle and the rotation are those of the frame. Formats: YUV_420_888,
 * which is CameraX's default, RGBA_8888 and JPEG, as for android.media.Image.
 *
 * An app that calls this depends on androidx.camera:camera-core 1.1 or later; this library does not bring it.
 *
 * @throws InferPrepException with code INPUT for other formats, CLOSED after close.
 */
@JvmOverloads
@Throws(InferPrepException::class)
public fun InferPrep.run(image: ImageProxy, into: Outputs = newOutputs()): Outputs {
    val planes = image.planes.map { CameraPlane(it.buffer, it.rowStride, it.pixelStride) }
    return run(image.format, image.width, image.height, planes, image.cropRect, image.imageInfo.rotationDegrees, into)
}
