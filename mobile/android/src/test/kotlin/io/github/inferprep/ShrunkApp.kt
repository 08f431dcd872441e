package io.github.inferprep

import java.io.File
import java.nio.ByteBuffer

/** An app that R8 shrinks: ShrinkTest runs what is left of it. */
object ShrunkApp {
    @JvmStatic
    fun main(args: Array<String>) {
        InferPrep.openGraph(File(args[0]).readBytes()).use { p ->
            val image = File(args[1]).readBytes()
            val t = p.run(image)[0]
            val code = try {
                p.run(ByteBuffer.allocateDirect(4), Frame(1, 1, rotation = 1))
                null
            } catch (e: InferPrepException) {
                e.code
            }
            val verify = try {
                p.verify { _, _ -> }
                null
            } catch (e: InferPrepException) {
                e.code
            }
            println("${t.name} ${t.shape.toList()} $code $verify")
        }
    }
}
