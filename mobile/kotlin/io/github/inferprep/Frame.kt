package io.github.inferprep

/**
 * Describes the pixels of a bitmap or of a camera frame in memory. It is immutable, so one Frame
 * serves all frames of a camera.
 *
 * The runs reject values that do not fit together, or do not fit the memory, with code INPUT.
 *
 * @property width the pixels of a row, before the crop and the rotation.
 * @property height the rows, before the crop and the rotation.
 * @property rotation the clockwise rotation in degrees that makes the image upright, after the
 * crop: 0, 90, 180 or 270. Default 0.
 * @property rowStride the bytes from one row to the next, of Y in YUV frames. Default 0: rows
 * without gaps.
 * @property chromaRowStride the bytes from one row of U and V to the next. Default 0: rows without
 * gaps.
 * @property chromaPixelStride the bytes from one sample of U and V to the next: 1 for planes of
 * their own (I420), 2 for interleaved planes (NV12, NV21). Default 1.
 * @property cropLeft the first column of the crop rectangle. Default 0.
 * @property cropTop the first row of the crop rectangle. Default 0.
 * @property cropRight the column after the crop rectangle. Default [width].
 * @property cropBottom the row after the crop rectangle. Default [height].
 */
public class Frame @JvmOverloads constructor(
    public val width: Int,
    public val height: Int,
    public val rotation: Int = 0,
    public val rowStride: Int = 0,
    public val chromaRowStride: Int = 0,
    public val chromaPixelStride: Int = 1,
    public val cropLeft: Int = 0,
    public val cropTop: Int = 0,
    public val cropRight: Int = width,
    public val cropBottom: Int = height,
) {
    /** Go's Frame, made once: it takes ten calls into Go. Nothing changes it afterwards. */
    internal val native: io.github.inferprep.mobile.Frame by lazy {
        io.github.inferprep.mobile.Frame().also {
            it.width = width.toLong()
            it.height = height.toLong()
            it.rotation = rotation.toLong()
            it.rowStride = rowStride.toLong()
            it.chromaRowStride = chromaRowStride.toLong()
            it.chromaPixelStride = chromaPixelStride.toLong()
            it.cropLeft = cropLeft.toLong()
            it.cropTop = cropTop.toLong()
            it.cropRight = cropRight.toLong()
            it.cropBottom = cropBottom.toLong()
        }
    }
}
