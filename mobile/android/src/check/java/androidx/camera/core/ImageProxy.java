package androidx.camera.core;

/**
 * The signatures of CameraX that CameraX.kt calls, to compile it where
 * Google's Maven repository, the only one that has CameraX, is not at hand.
 * No artifact contains this class.
 */
public interface ImageProxy extends AutoCloseable {
	@Override
	void close();

	android.graphics.Rect getCropRect();

	int getFormat();

	int getHeight();

	int getWidth();

	PlaneProxy[] getPlanes();

	ImageInfo getImageInfo();

	interface PlaneProxy {
		int getRowStride();

		int getPixelStride();

		java.nio.ByteBuffer getBuffer();
	}
}
