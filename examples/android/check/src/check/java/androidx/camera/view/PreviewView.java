package androidx.camera.view;

import androidx.camera.core.Preview;

public final class PreviewView extends android.widget.FrameLayout {
	public PreviewView(android.content.Context context, android.util.AttributeSet attributes) {
		super(context, attributes);
	}

	public Preview.SurfaceProvider getSurfaceProvider() {
		return new Preview.SurfaceProvider() {
		};
	}
}
