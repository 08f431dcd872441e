@file:JvmName("InferPrepBitmaps")

package io.github.inferprep

import android.graphics.Bitmap
import java.nio.ByteBuffer

/**
 * Runs on a bitmap's pixels, into [into].
 *
 * Opaque bitmaps are exact. Android multiplies the colors of transparent bitmaps by alpha, which loses bits that
 * `Bitmap.getPixels`, used here, cannot restore: pass the file where there is one, or decode it with
 * `inPremultiplied = false`. Hardware bitmaps are copied first. Colors are not converted to another color space, except
 * by Android for bitmaps that are not of 8 bits.
 *
 * @throws InferPrepException with code CLOSED after close.
 */
@JvmOverloads
@Throws(InferPrepException::class)
public fun InferPrep.run(bitmap: Bitmap, into: Outputs = newOutputs()): Outputs {
    // The pixels of hardware bitmaps, which are newer than Android 5, cannot be read.
    if (bitmap.config?.name == "HARDWARE") {
        val copy = bitmap.copy(Bitmap.Config.ARGB_8888, false)
        try {
            return run(copy, into)
        } finally {
            copy.recycle()
        }
    }
    // Bitmap.copyPixelsToBuffer is faster, but its order of bytes is the device's.
    val pixels = ByteBuffer.allocateDirect(bitmap.width * 4 * bitmap.height)
    val row = IntArray(bitmap.width)
    for (y in 0 until bitmap.height) {
        bitmap.getPixels(row, 0, bitmap.width, 0, y, bitmap.width, 1)
        for (c in row) {
            pixels.putInt((c shl 8) or (c ushr 24)) // ARGB to RGBA
        }
    }
    pixels.rewind()
    return run(pixels, Frame(bitmap.width, bitmap.height), into)
}
