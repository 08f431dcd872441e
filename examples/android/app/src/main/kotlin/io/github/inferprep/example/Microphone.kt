package io.github.inferprep.example

import android.media.AudioFormat
import android.media.AudioRecord
import android.media.MediaRecorder
import io.github.inferprep.InferPrep
import io.github.inferprep.SoundFormat
import io.github.inferprep.Tensor

/**
 * Records the microphone for a bundle of a speech model. The app needs the permission RECORD_AUDIO,
 * which the caller asks for.
 *
 * @param prep the bundle's preprocessing.
 * @param samplingRate that of the model. Android resamples the microphone to it.
 */
class Microphone(private val prep: InferPrep, private val samplingRate: Int = 16_000) {
    @Volatile
    private var recording = false

    /**
     * Records until [stop], or for [seconds]. It blocks: call it on a thread of its own.
     *
     * @param parts receives the parts of the outputs as they are computed, such as the columns of a
     * spectrogram. They are valid until it returns.
     * @return the outputs that depend on the whole sound, and the last parts of the others.
     * @throws IllegalStateException if the microphone cannot be used.
     */
    fun record(seconds: Int = 30, parts: (List<Tensor>) -> Unit = {}): List<Tensor> {
        val least = AudioRecord.getMinBufferSize(samplingRate, AudioFormat.CHANNEL_IN_MONO, AudioFormat.ENCODING_PCM_16BIT)
        check(least > 0) { "the microphone has no mono samples of $samplingRate Hz" }
        // VOICE_RECOGNITION changes the sound least; half a second may wait while the thread is busy.
        val record = AudioRecord(
            MediaRecorder.AudioSource.VOICE_RECOGNITION, samplingRate, AudioFormat.CHANNEL_IN_MONO,
            AudioFormat.ENCODING_PCM_16BIT, maxOf(least, samplingRate),
        )
        val block = ShortArray(samplingRate / 10)
        recording = true
        prep.stream(SoundFormat(samplingRate)).use { stream ->
            try {
                check(record.state == AudioRecord.STATE_INITIALIZED) { "the microphone cannot be opened" }
                record.startRecording()
                var left = samplingRate.toLong() * seconds
                while (recording && left > 0) {
                    val n = record.read(block, 0, minOf(left, block.size.toLong()).toInt())
                    check(n >= 0) { "the microphone failed: error $n of AudioRecord.read" }
                    parts(stream.push(block, 0, n))
                    left -= n
                }
            } finally {
                record.release()
            }
            return stream.end()
        }
    }

    /** Ends the recording, from any thread. */
    fun stop() {
        recording = false
    }
}
