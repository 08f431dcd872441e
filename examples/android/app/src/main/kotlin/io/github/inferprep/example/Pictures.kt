package io.github.inferprep.example

import android.content.ContentResolver
import android.graphics.Bitmap
import android.graphics.BitmapFactory
import android.net.Uri
import java.io.ByteArrayOutputStream
import java.io.IOException

/** Larger files are refused: a provider may send without end. */
private const val MAX_FILE = 64 shl 20

/** The longest side of a thumbnail in pixels. */
private const val MAX_SIDE = 1024

/**
 * Reads a picture. The thumbnail is as the model sees the picture: the graph of this bundle ignores
 * EXIF's orientation, as the training did.
 */
fun readPicture(resolver: ContentResolver, uri: Uri): Presenter.Picture<Bitmap> {
    val stream = resolver.openInputStream(uri) ?: throw IOException("the picture is gone")
    val bytes = stream.use {
        val out = ByteArrayOutputStream()
        val part = ByteArray(64 shl 10)
        while (true) {
            val n = it.read(part)
            if (n < 0) break
            if (out.size() + n > MAX_FILE) throw IOException("the file has more than ${MAX_FILE shr 20} MiB")
            out.write(part, 0, n)
        }
        out.toByteArray()
    }
    return Presenter.Picture(bytes, thumbnail(bytes))
}

/** Returns null if Android cannot decode the picture: only the screen needs it. */
private fun thumbnail(bytes: ByteArray): Bitmap? {
    val o = BitmapFactory.Options()
    o.inJustDecodeBounds = true
    BitmapFactory.decodeByteArray(bytes, 0, bytes.size, o)
    o.inSampleSize = 1
    while (maxOf(o.outWidth, o.outHeight) / o.inSampleSize > MAX_SIDE) o.inSampleSize *= 2
    o.inJustDecodeBounds = false
    return BitmapFactory.decodeByteArray(bytes, 0, bytes.size, o)
}
