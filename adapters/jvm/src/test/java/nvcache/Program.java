package nvcache;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.rocksdb.Cache;

/**
 * A process of its own, for what ends one.
 *
 * <p>usage: Program FOLDER SPEC COMMAND; the database is FOLDER/db
 *
 * <p>Commands: read (two rounds over the database), refused (prints what the cache's exception
 * says), exit (System.exit with four readers running), run (the same, until somebody kills the
 * process), copies (two class loaders, each with a copy of RocksDB and of nvcache, at once; the
 * databases are FOLDER/db0 and FOLDER/db1), again (as copies, with one RocksDB for both).
 *
 * <p>NVCACHE_TEST_LEFT names a folder that a killed process left: it gets a name as if that process
 * had had this one's number.
 *
 * <p>Prints "verified" at the end. Exit: 0 good, 3 a wrong value, 4 anything else.
 */
public final class Program {
  private Program() {}

  public static void main(String[] arguments) {
    try {
      String left = System.getenv("NVCACHE_TEST_LEFT");
      if (left != null) {
        String name = "nvcache-jvm-" + ProcessHandle.current().pid() + "-left";
        Files.move(Path.of(left), Path.of(left).resolveSibling(name));
      }
      run(Path.of(arguments[0]), arguments[1], arguments[2]);
    } catch (Throwable error) {
      end(error);
    }
    System.out.println("verified");
  }

  private static void end(Throwable error) {
    error.printStackTrace();
    Runtime.getRuntime().halt(error instanceof Database.WrongValue ? 3 : 4);
  }

  private static void run(Path folder, String spec, String command) throws Exception {
    switch (command) {
      case "read":
        read(folder.resolve("db").toString(), spec);
        System.out.println("cores=" + cores());
        break;
      case "refused":
        try {
          Nvcache.cache(spec);
        } catch (IllegalStateException error) {
          System.out.println(error.getMessage());
          return;
        }
        throw new IllegalStateException("not refused");
      case "exit":
        readUntil(folder, spec, 20_000);
        System.out.println("verified");
        System.exit(0);
        break;
      case "run":
        readUntil(folder, spec, 1000);
        System.out.println("running");
        new CountDownLatch(1).await();
        break;
      case "copies":
      case "again":
        copies(folder, spec, command.equals("copies"));
        System.out.println("cores=" + cores());
        break;
      default:
        throw new IllegalArgumentException(command);
    }
  }

  /** Called by name in another class loader, too. */
  public static void read(String database, String spec) throws Exception {
    try (Cache cache = Nvcache.cache(spec); Database db = new Database(Path.of(database), cache)) {
      for (int round = 0; round < 2; ++round) {
        db.read(2 * Database.KEYS, 7);
        db.scan();
      }
      System.out.println("tier_hits=" + db.tierHits());
    }
  }

  private static void readUntil(Path folder, String spec, long count) throws Exception {
    Database db = new Database(folder.resolve("db"), Nvcache.cache(spec));
    AtomicLong gets = new AtomicLong();
    for (int i = 0; i < 4; ++i) {
      long seed = i;
      Thread reader = new Thread(() -> {
        try {
          for (long round = 0;; ++round) {
            db.read(100, seed + 4 * round);
            gets.addAndGet(100);
          }
        } catch (Throwable error) {
          end(error);
        }
      });
      reader.setDaemon(true);
      reader.start();
    }
    while (gets.get() < count) Thread.onSpinWait();
  }

  /** How often nvcache itself is loaded. */
  private static long cores() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/maps")).stream()
        .filter(line -> line.contains("libnvcache_jvm_core"))
        .map(line -> line.substring(line.indexOf('/'))).distinct().count();
  }

  private static void copies(Path folder, String spec, boolean each) throws Exception {
    List<URL> all = new ArrayList<>();
    List<URL> ours = new ArrayList<>();
    for (String part : System.getProperty("java.class.path").split(":")) {
      URL url = Path.of(part).toUri().toURL();
      all.add(url);
      if (!part.contains("rocksdbjni")) ours.add(url);
    }
    List<URL> rocksdb = new ArrayList<>(all);
    rocksdb.removeAll(ours);
    ClassLoader platform = ClassLoader.getPlatformClassLoader();
    ClassLoader shared = new URLClassLoader(rocksdb.toArray(new URL[0]), platform);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 2; ++i) {
      String database = folder.resolve("db" + i).toString();
      ClassLoader loader = each ? new URLClassLoader(all.toArray(new URL[0]), platform)
          : new URLClassLoader(ours.toArray(new URL[0]), shared);
      threads.add(new Thread(() -> {
        try {
          loader.loadClass("nvcache.Program").getMethod("read", String.class, String.class)
              .invoke(null, database, spec);
        } catch (Throwable error) {
          end(error);
        }
      }));
    }
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
  }
}
