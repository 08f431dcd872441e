package androidx.camera.core;

public class CameraInfoUnavailableException extends Exception {
}
