package io.github.inferprep.bridge;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** Native loads the native library. */
public final class Native {
	private static final String FILE = "libinferprep.so";
	private static final String RESOURCES = "/io/github/inferprep/native/";
	private static final String[] PLATFORMS = {"linux/amd64", "linux/arm64"};

	private static boolean loaded;

	private Native() {}

	/**
	 * load loads the library once for this class's loader: the file that the
	 * system property inferprep.library names, on Android the app's, and else
	 * the one in the jar. It can be called again after an error.
	 */
	public static synchronized void load() {
		if (loaded) {
			return;
		}
		String file = System.getProperty("inferprep.library");
		if (file != null) {
			System.load(new File(file).getAbsolutePath());
		} else if ("Dalvik".equals(System.getProperty("java.vm.name"))) {
			System.loadLibrary("inferprep");
		} else {
			loadResource();
		}
		loaded = true;
	}

	private static void loadResource() {
		String platform = platform();
		try (InputStream in = Native.class.getResourceAsStream(RESOURCES + platform + "/" + FILE)) {
			if (in == null) {
				throw error("there is no native library for " + platform + ", only for " + available(), null);
			}
			// Each process and class loader gets its own file: the JVM refuses
			// to load one file into two class loaders.
			File copy = File.createTempFile("libinferprep", ".so");
			try {
				write(in, copy);
				System.load(copy.getPath());
			} catch (UnsatisfiedLinkError e) {
				throw error("the native library for " + platform + " was copied to " + copy + ", and loading it failed: " +
					e.getMessage() + "; it needs glibc 2.34 and a file system that is not mounted noexec " +
					"(the property java.io.tmpdir names the folder)", e);
			} finally {
				if (!copy.delete()) { // Linux keeps the memory of deleted files
					copy.deleteOnExit();
				}
			}
		} catch (IOException e) {
			throw error("the native library for " + platform + " cannot be copied to " +
				System.getProperty("java.io.tmpdir") + " (the property java.io.tmpdir): " + e, e);
		}
	}

	private static void write(InputStream in, File file) throws IOException {
		// Nobody else may change what is about to be loaded.
		file.setReadable(false, false);
		file.setWritable(false, false);
		file.setReadable(true, true);
		file.setWritable(true, true);
		try (OutputStream out = new FileOutputStream(file)) {
			byte[] buffer = new byte[1 << 16];
			for (int n; (n = in.read(buffer)) > 0; ) {
				out.write(buffer, 0, n);
			}
		}
	}

	/** platform returns the system and the architecture in Go's words. */
	private static String platform() {
		String os = System.getProperty("os.name").toLowerCase(java.util.Locale.ROOT);
		String arch = System.getProperty("os.arch").toLowerCase(java.util.Locale.ROOT);
		if (arch.equals("x86_64")) {
			arch = "amd64";
		} else if (arch.equals("aarch64")) {
			arch = "arm64";
		}
		return os + "/" + arch;
	}

	private static String available() {
		StringBuilder b = new StringBuilder();
		for (String p : PLATFORMS) {
			if (Native.class.getResource(RESOURCES + p + "/" + FILE) != null) {
				b.append(b.length() == 0 ? "" : ", ").append(p);
			}
		}
		return b.length() == 0 ? "none: this jar has none" : b.toString();
	}

	private static UnsatisfiedLinkError error(String message, Throwable cause) {
		UnsatisfiedLinkError e = new UnsatisfiedLinkError("inferprep: " + message +
			"; the system property inferprep.library can name the library's file");
		e.initCause(cause);
		return e;
	}
}
