@file:JvmName("InferPrepBitmaps")

package io.github.inferprep

import android.graphics.Bitmap
import java.nio.ByteOrder

/**
 * Runs on a bitmap's pixels, into [into].
 *
 * Opaque bitmaps are exact. Android multiplies the colors of transparent bitmaps by alpha, which loses bits that
 * `Bitmap.getPixels`, used here, cannot restore: pass the file where there is one, or decode it with
 * `inPremultiplied = false`. Hardware bitmaps are copied first. Colors are not converted to another color space, except
 * by Android for bitmaps that are not of 8 bits.
 *
 * The pixels are copied into memory of [into], which keeps it for the next run.
 *
 * @throws InferPrepException with code INPUT for a recycled bitmap, CLOSED after close.
 */
@JvmOverloads
@Throws(InferPrepException::class)
public fun InferPrep.run(bitmap: Bitmap, into: Outputs = newOutputs()): Outputs {
    if (bitmap.isRecycled) {
        throw InferPrepException(InferPrepException.Code.INPUT, "inferprep: a recycled bitmap: it has no pixels")
    }
    // The pixels of hardware bitmaps, which are newer than Android 5, cannot be read.
    if (bitmap.config?.name == "HARDWARE") {
        val copy = bitmap.copy(Bitmap.Config.ARGB_8888, false)
        try {
            return run(copy, into)
        } finally {
            copy.recycle()
        }
    }
    return run(Frame(bitmap.width, bitmap.height), into) { pixels ->
        // Bitmap.copyPixelsToBuffer is faster, but its order of bytes is the device's.
        val ints = pixels.order(ByteOrder.BIG_ENDIAN).asIntBuffer()
        val row = IntArray(bitmap.width)
        for (y in 0 until bitmap.height) {
            bitmap.getPixels(row, 0, row.size, 0, y, row.size, 1)
            for (x in row.indices) {
                row[x] = (row[x] shl 8) or (row[x] ushr 24) // ARGB to RGBA
            }
            ints.put(row)
        }
    }
}
