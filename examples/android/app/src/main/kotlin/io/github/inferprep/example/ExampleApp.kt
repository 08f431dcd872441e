package io.github.inferprep.example

import android.app.Application
import android.graphics.Bitmap
import android.os.Handler
import android.os.Looper
import java.util.concurrent.Executor
import java.util.concurrent.Executors

/** Holds what outlives the Activity: the model is loaded once for the process. */
class ExampleApp : Application() {
    /** Runs tasks on the main thread. Context.getMainExecutor needs Android 9. */
    val main: Executor = Handler(Looper.getMainLooper()).let { h -> Executor { h.post(it) } }

    val presenter: Presenter<Bitmap> by lazy {
        Presenter(
            open = { Classifier(assets.open("classifier.bundle").use { it.readBytes() }) },
            worker = Executors.newSingleThreadExecutor { Thread(it, "infer") },
            main = main,
        )
    }
}
