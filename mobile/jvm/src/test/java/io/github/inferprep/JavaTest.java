package io.github.inferprep;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.inferprep.InferPrepException.Code;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The whole API as Java sees it. */
class JavaTest {
	private final File bundle = new File("../../testdata/bundle/torchvision.bundle");
	private final File image = new File("../../testdata/images/jpeg_large.jpg");

	@Test
	void everything() throws Exception {
		byte[] jpeg = Files.readAllBytes(image.toPath());
		byte[] bytes = Files.readAllBytes(bundle.toPath());
		String version = new String(Files.readAllBytes(new File("../../internal/version/VERSION").toPath())).trim();
		assertEquals("v" + version, InferPrep.getVersion());
		InferPrep.open(bytes).close();
		InferPrep.open(new ByteArrayInputStream(bytes)).close();
		try (InferPrep prep = InferPrep.open(bundle); Outputs outputs = prep.newOutputs()) {
			List<Integer> steps = new ArrayList<>();
			prep.verify((done, total) -> steps.add(done));
			assertEquals(6, steps.size());
			prep.verify();
			assertEquals(2, prep.getLabels().size());
			Map<String, String> meta = prep.getMeta();
			assertEquals("€", meta.get("ü"));
			assertEquals(9, prep.model().length);
			assertEquals(9, prep.model(prep.getModels().get(0)).length);
			assertEquals(64, prep.getDigest().length());
			OutputInfo info = prep.getOutputs().get(0);
			assertEquals("pixel_values", info.getName());
			assertEquals(DType.FLOAT32, info.getType());
			assertEquals(4, info.getType().getSize());
			assertEquals(Layout.CHW, info.getLayout());

			Outputs first = prep.run(jpeg);
			prep.run(jpeg, outputs);
			prep.run(ByteBuffer.wrap(jpeg));
			prep.run(ByteBuffer.wrap(jpeg), outputs);
			for (Tensor t : outputs) {
				FloatBuffer floats = t.asFloatBuffer();
				assertEquals(3 * 56 * 56, floats.remaining());
				assertEquals(first.get(t.getName()).asFloatBuffer(), floats);
				assertEquals(4, t.getBatchShape().length);
				assertEquals(3, t.getShape().length);
				assertTrue(t.getBuffer().isDirect());
			}
			ByteBuffer pixels = ByteBuffer.allocateDirect(64 * 64 * 4);
			prep.run(pixels, new Frame(64, 64));
			prep.run(pixels, new Frame(64, 64, 90), outputs);
			prep.run(pixels, pixels, pixels, new Frame(64, 64, 0, 64, 32, 1), outputs);
			prep.run(pixels, pixels, pixels, new Frame(64, 64, 180, 64, 64, 2, 2, 2, 60, 60));

			InferPrepException e = assertThrows(InferPrepException.class, () -> prep.run(new byte[3]));
			assertEquals(Code.FORMAT, e.getCode());
			e = assertThrows(InferPrepException.class, () -> prep.verifySignature("no key"));
			assertEquals(Code.SIGNATURE, e.getCode());
			assertThrows(NullPointerException.class, () -> prep.run((byte[]) null));
		}
		InferPrepException e = assertThrows(InferPrepException.class, () -> InferPrep.openGraph(new byte[0]));
		assertEquals(Code.GRAPH, e.getCode());
		// Programs can make their own, for their tests.
		assertEquals(Code.IO, new InferPrepException(Code.IO, "message").getCode());
	}
}
