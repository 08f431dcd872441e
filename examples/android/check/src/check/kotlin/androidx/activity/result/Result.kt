package androidx.activity.result

import androidx.activity.result.contract.ActivityResultContracts.PickVisualMedia

abstract class ActivityResultLauncher<I> {
    abstract fun launch(input: I)
}

fun interface ActivityResultCallback<O> {
    fun onActivityResult(result: O)
}

class PickVisualMediaRequest internal constructor() {
    var mediaType: PickVisualMedia.VisualMediaType = PickVisualMedia.ImageAndVideo
        internal set
}

fun PickVisualMediaRequest(
    mediaType: PickVisualMedia.VisualMediaType = PickVisualMedia.ImageAndVideo,
): PickVisualMediaRequest = PickVisualMediaRequest().also { it.mediaType = mediaType }
