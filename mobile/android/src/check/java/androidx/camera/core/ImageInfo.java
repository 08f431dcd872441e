package androidx.camera.core;

/** See ImageProxy. */
public interface ImageInfo {
	int getRotationDegrees();
}
