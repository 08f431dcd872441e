package io.github.inferprep.bridge;

/** Direct tells Go about the memory of direct buffers. */
public final class Direct {
	static { Seq.touch(); }

	private Direct() {}

	/**
	 * register returns a number for Mobile.newBuffer, or 0 if buffer is null,
	 * empty or not direct. The memory starts at the buffer's index 0. The
	 * caller keeps the buffer reachable as long as Go may use it.
	 */
	public static native long register(java.nio.ByteBuffer buffer);
}
