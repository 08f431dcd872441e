package io.github.inferprep.spark;

import static org.apache.spark.sql.functions.col;

import java.nio.file.Files;
import java.nio.file.Paths;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/** Writes the tensors of a folder's images as Parquet, with a row for each image. */
public final class ImagesToTensors {
  private ImagesToTensors() {}

  /** Runs the program: GRAPH IMAGES OUTPUT. A GRAPH that ends in .bundle is a bundle. */
  public static void main(String[] args) throws Exception {
    if (args.length != 3) {
      System.err.println("usage: ImagesToTensors GRAPH IMAGES OUTPUT");
      System.exit(2);
    }
    try (SparkSession spark = SparkSession.builder().appName("images to tensors").getOrCreate()) {
      Preprocess preprocess;
      if (args[0].endsWith(".bundle")) {
        spark.sparkContext().addFile(args[0]);
        preprocess = Preprocess.bundle(Paths.get(args[0]).getFileName().toString());
      } else {
        preprocess = Preprocess.graph(Files.readAllBytes(Paths.get(args[0])));
      }
      tensors(spark, preprocess.onError(Preprocess.OnError.COLUMN), args[1]).write().parquet(args[2]);
    }
  }

  /** Returns the tensors of all files below a folder: path, dtype, shape, data, error. */
  static Dataset<Row> tensors(SparkSession spark, Preprocess preprocess, String images) {
    return spark
        .read()
        .format("binaryFile")
        .option("recursiveFileLookup", "true")
        .load(images)
        .select(col("path"), preprocess.udf().apply(col("content")).as("tensor"))
        .select("path", "tensor.*");
  }
}
