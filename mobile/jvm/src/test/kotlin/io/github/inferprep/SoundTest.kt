package io.github.inferprep

import io.github.inferprep.InferPrepException.Code
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.io.File
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.security.MessageDigest
import kotlin.random.Random

/** Sounds: files, samples of each kind of memory, and streams. */
class SoundTest {
    private val file = File("../../testdata/speech/sounds/speech.wav").readBytes()
    private val pcm = ShortArray((file.size - 44) / 2).also {
        ByteBuffer.wrap(file, 44, file.size - 44).order(ByteOrder.LITTLE_ENDIAN).asShortBuffer().get(it)
    }
    private val floats = FloatArray(pcm.size) { pcm[it] / 32768f }
    private val expected = File("../../testdata/speech/expected.json").readText()
    private val mono = SoundFormat(16000)

    private val mel = """{"infer_prep_graph": 1, "inputs": [{"name": "sound", "dtype": "bytes", "layout": "none", "shape": []}],
        "steps": [
        {"op": "decode_sound", "version": 1, "in": ["sound"], "out": ["sound"], "params": {"sampling_rate": 16000}},
        {"op": "mix_mono", "version": 1, "in": ["sound"], "out": ["samples"], "params": {}},
        {"op": "spectrogram", "version": 1, "in": ["samples"], "out": ["features"], "params": {
        "frame_length": 400, "hop_length": 160, "fft_length": 400, "pad": 200, "scale": 1, "remove_dc": false, "preemphasis": 0,
        "window": "hann", "periodic": true, "rule": "complex64", "power": 2, "root": 0, "sampling_rate": 16000, "mels": 80,
        "mel_scale": "slaney", "mel_low": 0, "mel_high": 8000, "mel_triangles": false, "mel_norm": true, "floor": 1e-10, "add_floor": false,
        "log": "log10", "mean": [], "std": [], "frames_first": true}}], "outputs": ["features"]}"""

    private fun bytes(t: Tensor) = ByteArray(t.buffer.remaining()).also { t.buffer.get(it) }

    private fun code(f: () -> Any?): Code = assertThrows(InferPrepException::class.java) { f() }.code

    private fun direct(before: Int): ByteBuffer = ByteBuffer.allocateDirect(before + 2 * pcm.size).order(ByteOrder.LITTLE_ENDIAN).also {
        it.position(before)
        it.slice().order(ByteOrder.LITTLE_ENDIAN).asShortBuffer().put(pcm)
    }

    @Test
    fun theBundlesOfSpeechModels() {
        for (name in listOf("wav2vec2", "whisper")) {
            InferPrep.open(File("../../testdata/bundle/$name.bundle")).use { p ->
                p.verify()
                val want = bytes(p.run(file)[0])
                val digest = MessageDigest.getInstance("SHA-256").digest(want).joinToString("") { "%02x".format(it) }
                assertTrue(expected.contains(digest), "the tensor is that of transformers")
                val out = p.newOutputs()
                val b = direct(6)
                for (o in listOf(
                    { p.run(pcm, mono, out) }, { p.run(floats, mono, out) }, { p.run(b, SampleEncoding.INT16, mono, out) },
                    { p.run(ByteBuffer.wrap(file, 44, file.size - 44), SampleEncoding.INT16, mono) },
                )) {
                    assertArrayEquals(want, bytes(o()[0]))
                }
                p.stream(mono).use { s ->
                    assertEquals(listOf(-1), s.axes)
                    var at = 0
                    while (at < pcm.size) {
                        val n = minOf(Random.nextInt(700), pcm.size - at)
                        assertEquals(0, s.push(pcm, at, n)[0].buffer.remaining())
                        at += n
                    }
                    val all = s.end()[0]
                    assertArrayEquals(want, bytes(all))
                    assertEquals(p.run(file)[0].shape.toList(), all.shape.toList())
                    assertEquals(Code.INPUT, code { s.end() })
                }
                assertEquals(Code.UNSUPPORTED, code { p.run(pcm, SoundFormat(8000)) })
                assertEquals(Code.INPUT, code { p.stream(SoundFormat(8000)) })
                assertEquals(Code.INPUT, code { p.run(pcm.copyOf(3), SoundFormat(16000, 2)) })
            }
        }
    }

    @Test
    fun partsOfStreams() {
        val p = InferPrep.openGraph(mel.toByteArray())
        val want = bytes(p.run(file)[0])
        val pieces = listOf<(SoundStream, Int, Int) -> List<Tensor>>(
            { s, at, n -> s.push(pcm, at, n) },
            { s, at, n -> s.push(floats, at, n) },
            { s, at, n -> s.push(direct(0).also { it.position(2 * at).limit(2 * (at + n)) }, SampleEncoding.INT16) },
        )
        for (push in pieces) {
            val s = p.stream(mono)
            assertEquals(listOf(0), s.axes)
            var got = ByteArray(0)
            var parts = 0
            for (at in pcm.indices step 128) {
                val t = push(s, at, minOf(128, pcm.size - at))[0]
                if (t.buffer.hasRemaining()) parts++
                got += bytes(t)
            }
            got += bytes(s.end()[0])
            assertArrayEquals(want, got)
            assertTrue(parts > 15)
            s.close()
            s.close()
            assertEquals(Code.CLOSED, code { s.end() })
        }
        val s = p.stream(mono)
        p.close() // the stream goes on
        assertEquals(0, s.push(ShortArray(0))[0].buffer.remaining())
        assertEquals(0, s.push(ByteBuffer.allocate(0), SampleEncoding.UINT8)[0].buffer.remaining())
        assertThrows(IndexOutOfBoundsException::class.java) { s.push(pcm, 1, pcm.size) }
        s.push(pcm)
        assertTrue(s.end()[0].buffer.hasRemaining())
        assertEquals(Code.CLOSED, code { p.stream(mono) })
        InferPrep.open(File("../../testdata/bundle/torchvision.bundle")).use { image ->
            assertEquals(Code.UNSUPPORTED, code { image.stream(mono) })
        }
    }

    /** The time of 30 s of sound, as a fraction of the 30 s. It is printed, not asserted: machines differ. */
    @Test
    fun realTimeFactor() {
        val p = InferPrep.openGraph(mel.toByteArray())
        val sound = ShortArray(480_000) { pcm[it % pcm.size] }
        val out = p.newOutputs()
        fun best(f: () -> Unit): Double = (1..5).minOf {
            val start = System.nanoTime()
            f()
            (System.nanoTime() - start) / 30e9
        }
        val whole = best { p.run(sound, mono, out) }
        val block = best { p.stream(mono).use { s -> for (at in sound.indices step 1600) s.push(sound, at, minOf(1600, sound.size - at)) } }
        println("real-time factor of 80 mels at 16 kHz: %.5f whole, %.5f in blocks of 0.1 s".format(whole, block))
        p.close()
    }
}
