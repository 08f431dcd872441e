import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DFSTestUtil;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;

/**
 * A real HDFS in one process, for tests. It prints a URI for each namenode on
 * one line when it is ready, then obeys the commands on standard input, and
 * answers each with "ok" or "error TEXT". It ends at the end of standard input.
 */
public final class MiniDFS {
  private static MiniDFSCluster cluster;
  private static final List<MiniDFSCluster.DataNodeProperties> stopped = new ArrayList<>();

  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    // Tests kill datanodes: the namenode notices after 3 s instead of 10 min.
    conf.set("dfs.heartbeat.interval", "1");
    conf.set("dfs.namenode.heartbeat.recheck-interval", "500");
    conf.set("dfs.namenode.fs-limits.min-block-size", "1024");
    int port = 0;
    int datanodes = 1;
    boolean ha = false;
    for (int i = 0; i < args.length; i++) {
      switch (args[i]) {
        case "--port": port = Integer.parseInt(args[++i]); break;
        case "--datanodes": datanodes = Integer.parseInt(args[++i]); break;
        case "--ha": ha = true; break;
        case "-D": {
          String[] pair = args[++i].split("=", 2);
          conf.set(pair[0], pair[1]);
          break;
        }
        default: throw new IllegalArgumentException(
            args[i] + ": want --port N, --datanodes N, --ha or -D KEY=VALUE");
      }
    }
    File base = Files.createTempDirectory("minidfs").toFile();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> FileUtil.fullyDelete(base)));
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, base.getPath());
    MiniDFSCluster.Builder builder = new MiniDFSCluster.Builder(conf).numDataNodes(datanodes);
    if (ha) {
      builder.nnTopology(MiniDFSNNTopology.simpleHATopology());
    } else {
      builder.nameNodePort(port);
    }
    cluster = builder.build();
    if (ha) {
      cluster.transitionToActive(0);
    }
    cluster.waitActive();
    StringBuilder uris = new StringBuilder();
    for (int i = 0; i < cluster.getNumNameNodes(); i++) {
      uris.append(i == 0 ? "" : " ").append("hdfs://127.0.0.1:").append(cluster.getNameNodePort(i));
    }
    System.out.println(uris);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      try {
        obey(line.split(" ", 3));
        System.out.println("ok");
      } catch (Throwable e) {
        System.out.println("error " + e.toString().replace('\n', ' '));
      }
    }
    // Without a shutdown in good order, which takes seconds. Hadoop's own hooks
    // would create files again.
    FileUtil.fullyDelete(base);
    Runtime.getRuntime().halt(0);
  }

  private static void obey(String[] words) throws Exception {
    int number = words.length > 1 ? Integer.parseInt(words[1]) : 0;
    switch (words[0]) {
      case "stop-datanode":
        stopped.add(cluster.stopDataNode(number));
        break;
      case "start-datanodes":
        for (MiniDFSCluster.DataNodeProperties d : stopped) {
          cluster.restartDataNode(d, true);
        }
        stopped.clear();
        cluster.waitActive();
        break;
      case "stop-namenode":
        cluster.shutdownNameNode(number);
        break;
      case "start-namenode":
        cluster.restartNameNode(number, false);
        break;
      case "activate": // one of two namenodes
        cluster.transitionToStandby(1 - number);
        cluster.transitionToActive(number);
        break;
      case "corrupt": // corrupt N PATH: a byte in N replicas of the first block
        LocatedBlock block = DFSTestUtil.getAllBlocks(
            cluster.getFileSystem(), new Path(words[2])).get(0);
        int left = number;
        for (int i = 0; i < cluster.getDataNodes().size() && left > 0; i++) {
          File f = cluster.getBlockFile(i, block.getBlock());
          if (f == null) {
            continue;
          }
          try (RandomAccessFile file = new RandomAccessFile(f, "rw")) {
            file.seek(f.length() / 2);
            int b = file.read();
            file.seek(f.length() / 2);
            file.write(b ^ 1);
          }
          left--;
        }
        if (left > 0) {
          throw new IllegalStateException(left + " replicas fewer than wanted");
        }
        break;
      default:
        throw new IllegalArgumentException("unknown command " + words[0]);
    }
  }
}
