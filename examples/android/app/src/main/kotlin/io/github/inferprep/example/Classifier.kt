package io.github.inferprep.example

import ai.onnxruntime.OnnxTensor
import ai.onnxruntime.OrtEnvironment
import ai.onnxruntime.OrtSession
import io.github.inferprep.InferPrep
import io.github.inferprep.Outputs
import kotlin.math.exp

/**
 * The most probable class of a picture.
 *
 * @property logits the model's scores, in the order of the bundle's labels.
 */
class Classification(
    val label: String,
    val probability: Float,
    val logits: FloatArray,
    val preprocessNanos: Long,
    val inferenceNanos: Long,
)

/**
 * A bundle's preprocessing and its ONNX model. It is safe for concurrent use, one picture at a time.
 * It has no Android types: android and server code are the same.
 */
class Classifier(bundle: ByteArray) : AutoCloseable {
    private val prep = InferPrep.open(bundle)
    private val env = OrtEnvironment.getEnvironment()
    private val session: OrtSession
    private val outputs: Outputs

    init {
        try {
            require(prep.labels.isNotEmpty()) { "the bundle has no labels" }
            outputs = prep.newOutputs()
            session = env.createSession(prep.model())
        } catch (e: Exception) {
            prep.close()
            throw e
        }
    }

    /** Classifies the picture that [run] gives to the preprocessing, for example `prep.run(jpeg, into)`. */
    @Synchronized
    fun classify(run: (prep: InferPrep, into: Outputs) -> Unit): Classification {
        val start = System.nanoTime()
        run(prep, outputs)
        val between = System.nanoTime()
        val logits = infer()
        val end = System.nanoTime()
        check(logits.size == prep.labels.size) { "the model has ${logits.size} scores for ${prep.labels.size} labels" }
        var best = 0
        for (i in logits.indices) {
            if (logits[i] > logits[best]) {
                best = i
            }
        }
        val sum = logits.sumOf { exp((it - logits[best]).toDouble()) } // softmax, without overflow
        return Classification(prep.labels[best], (1 / sum).toFloat(), logits, between - start, end - between)
    }

    /** The model reads the tensors in place: they are in direct memory. */
    private fun infer(): FloatArray {
        val inputs = mutableMapOf<String, OnnxTensor>()
        try {
            for (name in session.inputNames) {
                val t = if (outputs.size == 1) outputs[0] else outputs[name]
                inputs[name] = OnnxTensor.createTensor(env, t.asFloatBuffer(), t.batchShape)
            }
            session.run(inputs).use { result ->
                val scores = (result[0] as OnnxTensor).floatBuffer
                return FloatArray(scores.remaining()).also { scores.get(it) }
            }
        } finally {
            inputs.values.forEach { it.close() }
        }
    }

    /** Proves that this device computes the training's tensors; throws InferPrepException if not. */
    fun verify(progress: (done: Int, total: Int) -> Unit) = prep.verify { done, total -> progress(done, total) }

    @Synchronized
    override fun close() {
        session.close()
        outputs.close()
        prep.close()
    }
}
