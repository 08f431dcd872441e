package io.github.inferprep.bridge;

/** Native loads the native library. */
final class Native {
	private Native() {}

	static void load() {
		String file = System.getProperty("inferprep.library");
		if (file != null) {
			System.load(file);
			return;
		}
		System.loadLibrary("inferprep");
	}
}
