package androidx.camera.core;

public final class Preview extends UseCase {
	public interface SurfaceProvider {
	}

	public SurfaceProvider provider;

	public void setSurfaceProvider(SurfaceProvider provider) {
		this.provider = provider;
	}

	public static final class Builder {
		public Preview build() {
			return new Preview();
		}
	}
}
