package io.github.inferprep.spark;

import static org.apache.spark.sql.functions.callUDF;
import static org.apache.spark.sql.functions.col;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.inferprep.InferPrepException;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares the function in Spark's local mode with infer-prep run. test.sh makes the cases. */
class PreprocessTest {
  private static final Path CASES = Paths.get("target/cases");
  private static final Map<String, String> DTYPES = new HashMap<>();

  static {
    DTYPES.put("|u1", "uint8");
    DTYPES.put("<f2", "float16");
    DTYPES.put("<f4", "float32");
    DTYPES.put("<i8", "int64");
  }

  private static SparkSession spark;

  @BeforeAll
  static void start() {
    assertTrue(Files.isDirectory(CASES), "no " + CASES + ": run test.sh");
    spark =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.warehouse.dir", new File("target/warehouse").getAbsolutePath())
            .config("spark.sql.shuffle.partitions", "2")
            .getOrCreate();
    spark.sparkContext().setLogLevel("ERROR");
  }

  @AfterAll
  static void stop() {
    spark.stop();
  }

  /** The cases: a folder each, with graph.json or graph.bundle, and Go's tensors in expected. */
  static List<Path> cases() throws IOException {
    try (Stream<Path> s = Files.list(CASES.resolve("graphs"))) {
      return s.sorted().collect(Collectors.toList());
    }
  }

  private static Preprocess of(Path dir) throws IOException {
    Path bundle = dir.resolve("graph.bundle");
    return Files.exists(bundle) ? Preprocess.bundle(bundle.toAbsolutePath().toString()) : Preprocess.graph(Files.readAllBytes(dir.resolve("graph.json")));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void equalsGo(Path dir) throws IOException {
    Path images = CASES.resolve("images").toRealPath();
    long files;
    try (Stream<Path> s = Files.walk(images)) {
      files = s.filter(f -> Files.isRegularFile(f) && f.toFile().length() > 0).count(); // Spark skips empty ones
    }
    int before = Preprocess.opened();
    Dataset<Row> rows = ImagesToTensors.tensors(spark, of(dir).onError(Preprocess.OnError.COLUMN), images.toString());
    int equal = 0, bad = 0;
    java.util.Iterator<Row> it = rows.toLocalIterator();
    while (it.hasNext()) {
      Row row = it.next();
      Path path = images.relativize(Paths.get(URI.create(row.getString(0))));
      Path npy = dir.resolve("expected").resolve(path + ".npy");
      if (!Files.exists(npy)) {
        assertNotNull(row.getString(4), path + ": infer-prep run has no tensor");
        assertTrue(row.isNullAt(1) && row.isNullAt(2) && row.isNullAt(3), path.toString());
        bad++;
        continue;
      }
      assertNull(row.getString(4), path.toString());
      Npy want = new Npy(Files.readAllBytes(npy));
      assertEquals(want.dtype, row.getString(1), path.toString());
      assertEquals(want.shape, row.getList(2), path.toString());
      assertArrayEquals(want.data, row.<byte[]>getAs(3), path.toString());
      equal++;
    }
    assertEquals(files, equal + bad);
    assertTrue(equal >= 500 && bad >= 1, equal + " equal, " + bad + " bad");
    assertTrue(Preprocess.opened() <= before + 1, "tasks do not share the graph");
    System.out.println("spark: " + dir.getFileName() + ": " + equal + " tensors equal Go's, " + bad + " images are bad in both");
  }

  @Test
  void parquet(@TempDir Path tmp) throws Exception {
    Path dir = cases().get(0);
    Dataset<Row> rows = ImagesToTensors.tensors(spark, of(dir).onError(Preprocess.OnError.COLUMN), CASES.resolve("images").toString());
    String out = tmp.resolve("tensors").toString();
    rows.write().parquet(out);
    Dataset<Row> back = spark.read().parquet(out);
    assertArrayEquals(new String[] {"path", "dtype", "shape", "data", "error"}, back.columns());
    assertEquals(rows.count(), back.count());
    assertEquals(0, back.filter(col("data").isNull().equalTo(col("error").isNull())).count());
  }

  @Test
  void badImageFailsTheJob() throws IOException {
    Preprocess p = of(cases().get(0));
    SparkException e = assertThrows(SparkException.class, () -> column(new byte[] {1, 2, 3}).select(p.udf().apply(col("image"))).collect());
    Throwable cause = e;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    assertTrue(cause instanceof InferPrepException, e.toString());
    assertEquals(InferPrepException.Code.FORMAT, ((InferPrepException) cause).getCode());
  }

  @Test
  void sqlAndNull() throws IOException {
    of(cases().get(0)).onError(Preprocess.OnError.COLUMN).register(spark, "preprocess");
    List<Row> rows = column(null, new byte[0]).select(callUDF("preprocess", col("image")).as("t")).collectAsList();
    assertTrue(rows.get(0).isNullAt(0));
    Row t = rows.get(1).getStruct(0);
    assertTrue(t.isNullAt(0) && t.isNullAt(1) && t.isNullAt(2));
    assertNotNull(t.getString(3));
  }

  @Test
  void programmingErrors() throws IOException {
    assertThrows(InferPrepException.class, () -> Preprocess.graph("{}".getBytes(StandardCharsets.UTF_8)));
    byte[] image = Files.readAllBytes(CASES.resolve("good.png"));
    Preprocess noOutput = of(cases().get(0)).output("nothing").onError(Preprocess.OnError.COLUMN);
    assertThrows(SparkException.class, () -> column(image).select(noOutput.udf().apply(col("image"))).collect());
    Preprocess noFile = Preprocess.bundle("/nothing.bundle").onError(Preprocess.OnError.COLUMN);
    assertThrows(SparkException.class, () -> column(image).select(noFile.udf().apply(col("image"))).collect());
  }

  private static Dataset<Row> column(byte[]... images) {
    List<Row> rows = Arrays.stream(images).map(b -> RowFactory.create((Object) b)).collect(Collectors.toList());
    return spark.createDataFrame(rows, new StructType().add("image", DataTypes.BinaryType));
  }

  /** A NumPy file of version 1 in C order. */
  private static final class Npy {
    final String dtype;
    final List<Long> shape;
    final byte[] data;

    Npy(byte[] file) {
      int header = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).getShort(8);
      String h = new String(file, 10, header, StandardCharsets.US_ASCII);
      Matcher m = Pattern.compile("'descr': '(.*?)', 'fortran_order': False, 'shape': \\((.*?),?\\)").matcher(h);
      assertTrue(m.find(), h);
      dtype = DTYPES.get(m.group(1));
      shape = Arrays.stream(m.group(2).split(",")).map(s -> Long.parseLong(s.trim())).collect(Collectors.toList());
      data = Arrays.copyOfRange(file, 10 + header, file.length);
    }
  }
}
