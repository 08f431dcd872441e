package io.github.inferprep

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import java.io.File

class SmokeTest {
    @Test
    fun decode() {
        val graph = """{"infer_prep_graph": 1, "inputs": [{"name": "image", "dtype": "bytes", "layout": "none", "shape": []}],
            "steps": [{"op": "decode", "version": 1, "in": ["image"], "out": ["image"], "params": {"color": "rgb", "alpha": "drop",
            "gray16": "clip", "refuse": [], "orientation": "ignore", "damage": "pillow", "scale": "full"}}], "outputs": ["image"]}"""
        InferPrep.openGraph(graph.toByteArray()).use { p ->
            val out = p.run(File("../../testdata/images/jpeg_large.jpg").readBytes())
            assertEquals(listOf(310L, 420, 3), out["image"].shape.toList())
            assertEquals(420 * 310 * 3, out[0].buffer.remaining())
        }
    }
}
