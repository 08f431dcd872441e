package io.github.inferprep.example

import com.google.gson.Gson
import com.google.gson.reflect.TypeToken
import java.io.File

/** What the Python program of examples/classifier computes for an image. */
class Expected(val logits: FloatArray, val label: String)

val expected: Map<String, Expected> =
    Gson().fromJson(File("../../classifier/expected.json").readText(), object : TypeToken<Map<String, Expected>>() {}.type)

fun image(name: String): ByteArray = File("../../classifier/images/$name").readBytes()

val bundle: ByteArray by lazy { File("target/linked/assets/classifier.bundle").readBytes() }
