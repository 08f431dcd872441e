package io.github.inferprep.example

/** What the screen shows. [P] is the type of a picture's thumbnail. */
data class State<P>(
    val model: Model = Model.LOADING,
    val source: Source = Source.CAMERA,
    val thumbnail: P? = null,
    val result: Classification? = null,
    val verification: Verification = Verification.NotRun,
    val problem: Problem? = null,
)

enum class Model { LOADING, READY, FAILED }

enum class Source { CAMERA, PICTURE }

sealed class Verification {
    object NotRun : Verification()

    data class Running(val done: Int, val total: Int) : Verification()

    object Passed : Verification()

    data class Failed(val why: String) : Verification()
}

data class Problem(val kind: Kind, val why: String = "") {
    enum class Kind { MODEL, PICTURE, FRAME, CAMERA, PERMISSION }
}
