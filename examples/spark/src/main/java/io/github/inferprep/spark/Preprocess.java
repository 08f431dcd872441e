package io.github.inferprep.spark;

import io.github.inferprep.InferPrep;
import io.github.inferprep.InferPrepException;
import io.github.inferprep.Outputs;
import io.github.inferprep.Tensor;
import java.io.File;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.spark.SparkFiles;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * A user-defined function that turns an encoded image, such as column content of source binaryFile,
 * into a tensor with the bytes of {@code infer-prep run}.
 *
 * <p>The result is a struct of {@link #TYPE}: {@code dtype} (such as float32), {@code shape} without
 * a batch's axis, {@code data} (the elements, row-major and little-endian) and {@code error}. A null
 * image gives a null struct.
 *
 * <p>All tasks of an executor share one graph, which stays open until the executor ends. Objects of
 * this class are immutable and safe for concurrent use.
 */
public final class Preprocess implements UDF1<byte[], Row> {
  private static final long serialVersionUID = 1;

  /** The type of the results. */
  public static final StructType TYPE =
      new StructType()
          .add("dtype", DataTypes.StringType)
          .add("shape", DataTypes.createArrayType(DataTypes.LongType, false))
          .add("data", DataTypes.BinaryType)
          .add("error", DataTypes.StringType);

  /** What happens to an image that has no tensor. */
  public enum OnError {
    /** The task fails, and so does the job when its retries have failed. */
    FAIL,
    /** The result has the reason in {@code error}, and the other fields are null. */
    COLUMN
  }

  private final Source source;
  private final String output;
  private final OnError onError;

  private Preprocess(Source source, String output, OnError onError) {
    this.source = source;
    this.output = output;
    this.onError = onError;
  }

  /**
   * Returns the function of a data graph. It returns the graph's first output, and fails on a bad
   * image.
   *
   * @param graph the graph as {@code infer-prep graph import} writes it, for example from a preset.
   *     Tasks carry it with them.
   * @throws InferPrepException if the graph is invalid.
   */
  public static Preprocess graph(byte[] graph) {
    InferPrep.openGraph(graph).close(); // an invalid graph is reported here, not by a task
    return new Preprocess(new Source(graph.clone(), null), null, OnError.FAIL);
  }

  /**
   * Returns the function of a bundle. It returns the graph's first output, and fails on a bad image.
   *
   * @param file the name of a file that {@code SparkContext.addFile} has sent to the executors, or
   *     the absolute path of a file that each executor has.
   */
  public static Preprocess bundle(String file) {
    return new Preprocess(new Source(null, file), null, OnError.FAIL);
  }

  /** Returns a function of the output of a name. An unknown name fails the tasks. */
  public Preprocess output(String name) {
    return new Preprocess(source, name, onError);
  }

  /** Returns a function that treats bad images so. */
  public Preprocess onError(OnError onError) {
    return new Preprocess(source, output, onError);
  }

  /** Returns the function for DataFrames. */
  public UserDefinedFunction udf() {
    // Spark may run a deterministic function once for each field of its result.
    return functions.udf(this, TYPE).asNondeterministic();
  }

  /** Registers the function for SQL and Python. */
  public void register(SparkSession spark, String name) {
    spark.udf().register(name, udf());
  }

  @Override
  public Row call(byte[] image) {
    if (image == null) {
      return null;
    }
    Opened opened = source.open();
    Outputs outputs = opened.take();
    try {
      try {
        opened.prep.run(image, outputs);
      } catch (InferPrepException e) {
        if (onError == OnError.FAIL || !ofImage(e.getCode())) {
          throw e;
        }
        return RowFactory.create(null, null, null, e.getMessage());
      }
      Tensor t = output == null ? outputs.get(0) : outputs.get(output);
      ByteBuffer b = t.getBuffer();
      byte[] data = new byte[b.remaining()];
      b.get(data);
      return RowFactory.create(t.getType().name().toLowerCase(Locale.ROOT), t.getShape(), data, null);
    } finally {
      opened.free.add(outputs);
    }
  }

  /** Returns the number of graphs that this JVM has open. */
  static int opened() {
    return Source.ALL.size();
  }

  /** Reports whether an error of a run is the image's, not that of the program or the machine. */
  private static boolean ofImage(InferPrepException.Code code) {
    switch (code) {
      case FORMAT:
      case UNSUPPORTED:
      case LIMIT:
      case INPUT: // the graph does not take an image of this size
        return true;
      default:
        return false;
    }
  }

  /** A graph or bundle that each executor opens once. */
  private static final class Source implements java.io.Serializable {
    private static final long serialVersionUID = 1;
    static final Map<Object, Opened> ALL = new ConcurrentHashMap<>();

    private final byte[] graph;
    private final String bundle;
    private transient volatile Opened opened;

    Source(byte[] graph, String bundle) {
      this.graph = graph;
      this.bundle = bundle;
    }

    Opened open() {
      Opened o = opened;
      if (o == null) { // once for each task
        Object key = bundle != null ? bundle : ByteBuffer.wrap(graph);
        o = opened = ALL.computeIfAbsent(key, k -> new Opened(bundle != null ? InferPrep.open(file()) : InferPrep.openGraph(graph)));
      }
      return o;
    }

    private File file() {
      File f = new File(bundle);
      return f.isAbsolute() ? f : new File(SparkFiles.get(bundle));
    }
  }

  /** A graph of this JVM, and memory for as many runs as there were at once. */
  private static final class Opened {
    final InferPrep prep;
    final Queue<Outputs> free = new ConcurrentLinkedQueue<>();

    Opened(InferPrep prep) {
      this.prep = prep;
    }

    Outputs take() {
      Outputs o = free.poll();
      return o != null ? o : prep.newOutputs();
    }
  }
}
