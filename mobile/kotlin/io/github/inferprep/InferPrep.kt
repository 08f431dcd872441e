package io.github.inferprep

import io.github.inferprep.mobile.Mobile
import io.github.inferprep.mobile.Preprocessor

/** InferPrep holds the preprocessing of a model. */
public class InferPrep private constructor(private val native: Preprocessor) : AutoCloseable {
    public companion object {
        /** Opens a data graph in JSON or msgp. */
        @JvmStatic
        public fun openGraph(graph: ByteArray): InferPrep = InferPrep(Mobile.openGraph(graph))
    }

    /** Runs on an encoded image and returns the bytes of the first output. */
    public fun run(image: ByteArray): ByteArray = native.runJPEG(image).data(0)

    override fun close() {
        native.close()
    }
}
