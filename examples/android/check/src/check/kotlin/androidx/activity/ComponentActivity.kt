// The signatures of androidx.activity and androidx.lifecycle that the app calls, to compile and test it
// where Google's Maven repository is not at hand. No artifact contains them.
package androidx.activity

import android.app.Activity
import androidx.activity.result.ActivityResultCallback
import androidx.activity.result.ActivityResultLauncher
import androidx.activity.result.contract.ActivityResultContract
import androidx.lifecycle.LifecycleOwner

/** It launches nothing: a test reads the launches and answers them. */
open class ComponentActivity : Activity(), LifecycleOwner {
    class Registered<I, O>(val contract: ActivityResultContract<I, O>, val callback: ActivityResultCallback<O>) :
        ActivityResultLauncher<I>() {
        val launches = mutableListOf<I>()

        override fun launch(input: I) {
            launches += input
        }
    }

    val registered = mutableListOf<Registered<*, *>>()

    fun <I, O> registerForActivityResult(
        contract: ActivityResultContract<I, O>,
        callback: ActivityResultCallback<O>,
    ): ActivityResultLauncher<I> = Registered(contract, callback).also { registered += it }
}
