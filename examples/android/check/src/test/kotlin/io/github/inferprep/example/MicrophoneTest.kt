package io.github.inferprep.example

import io.github.inferprep.InferPrep
import io.github.inferprep.Tensor
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config
import org.robolectric.shadows.ShadowAudioRecord
import java.io.File
import java.nio.ByteBuffer
import java.nio.ByteOrder

/** The microphone of Robolectric gives a file's samples, and then silence. */
@RunWith(RobolectricTestRunner::class)
@Config(sdk = [34])
class MicrophoneTest {
    private val file = File("../../../testdata/speech/sounds/speech.wav").readBytes()

    private fun bytes(t: Tensor) = ByteArray(t.buffer.remaining()).also { t.buffer.get(it) }

    @Test
    fun whatItRecordsIsTheFile() {
        for (name in listOf("wav2vec2", "whisper")) {
            InferPrep.open(File("../../../testdata/bundle/$name.bundle")).use { prep ->
                val m = Microphone(prep)
                val source = Source { m.stop() }
                ShadowAudioRecord.setSource(source)
                var parts = 0
                val got = m.record { parts++ }
                assertTrue(parts > 1)
                assertArrayEquals(bytes(prep.run(file)[0]), bytes(got[0]))
            }
        }
    }

    private inner class Source(private val ended: () -> Unit) : ShadowAudioRecord.AudioRecordSource {
        private var at = 44

        override fun readInShortArray(audioData: ShortArray, offsetInShorts: Int, sizeInShorts: Int, isBlocking: Boolean): Int {
            val n = minOf(sizeInShorts, (file.size - at) / 2)
            ByteBuffer.wrap(file, at, 2 * n).order(ByteOrder.LITTLE_ENDIAN).asShortBuffer().get(audioData, offsetInShorts, n)
            at += 2 * n
            if (at == file.size) ended()
            return n
        }
    }
}
