package androidx.camera.core;

/** The signatures of CameraX that the app calls; see ComponentActivity.kt. */
public interface Camera {
}
