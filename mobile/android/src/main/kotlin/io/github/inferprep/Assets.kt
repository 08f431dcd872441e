@file:JvmName("InferPrepAssets")

package io.github.inferprep

import android.content.res.AssetManager
import java.io.IOException

/**
 * Opens a bundle among an app's assets, and copies it into memory.
 *
 * @throws IOException if there is no such asset, or it cannot be read.
 * @throws InferPrepException if it is not a valid bundle.
 */
@Throws(IOException::class, InferPrepException::class)
public fun InferPrep.Companion.open(assets: AssetManager, name: String): InferPrep =
    assets.open(name).use { open(it) }
