// A Java program over RocksDB that knows nothing of nvcache: fills a database, reads every value
// back and verifies it, while it flushes, compacts and reopens. Prints what it counted, a
// `name=value` a line, and "verified" at the end. A wrong value ends it with code 3.
//
// usage: Drive FOLDER COMMAND...
//   fill             writes all keys, and compacts
//   reads=N          N skewed gets
//   multi=N          N multi-gets of 32 skewed keys
//   scan             an iterator over all keys
//   iterators=N      N iterators at once, which each walk over 200 keys in turn
//   reopen           closes the database and opens it with a new cache
//   churn=N          N writes among reads, with flushes and a compaction under way
//   exit=N           System.exit(0) with four readers running, after N of their gets
//   run              four readers until somebody kills the process
//
// Properties: cache=BYTES|none (8 MiB), clock=true (a HyperClockCache), strict=true, keys=N (20000).
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.FlushOptions;
import org.rocksdb.HyperClockCache;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Statistics;
import org.rocksdb.TickerType;
import org.rocksdb.WriteOptions;

public final class Drive {
  static final int KEYS = Integer.getInteger("keys", 20_000);
  static final int VALUE_BYTES = 1000;

  final Path folder;
  final AtomicLongArray versions = new AtomicLongArray(KEYS);
  final AtomicLong gets = new AtomicLong();
  Cache cache;
  Options options;
  Statistics statistics;
  RocksDB db;

  Drive(Path folder) {
    this.folder = folder;
  }

  static byte[] key(int number) {
    return String.format("key%09d", number).getBytes(StandardCharsets.UTF_8);
  }

  static byte[] value(int number, long version) {
    byte[] bytes = new byte[VALUE_BYTES];
    SplittableRandom random = new SplittableRandom(number * 1_000_003L + version);
    for (int i = 0; i < VALUE_BYTES; i += 8) {
      long word = random.nextLong();
      for (int j = i; j < i + 8; ++j, word >>>= 8) bytes[j] = (byte) word;
    }
    return bytes;
  }

  // Most reads go to few keys, spread over the whole database.
  static int skewed(SplittableRandom random) {
    double x = random.nextDouble();
    long rank = (long) (KEYS * x * x);
    return (int) (rank * 7919 % KEYS);
  }

  Cache makeCache() {
    String size = System.getProperty("cache", "8388608");
    if (size.equals("none")) return null;
    long bytes = Long.parseLong(size);
    if (Boolean.getBoolean("clock")) return new HyperClockCache(bytes, 8 << 10, -1, false);
    return new LRUCache(bytes, -1, Boolean.getBoolean("strict"));
  }

  void open() throws RocksDBException {
    cache = makeCache();
    BlockBasedTableConfig table = new BlockBasedTableConfig();
    if (cache != null) table.setBlockCache(cache);
    table.setFilterPolicy(new BloomFilter(10)).setCacheIndexAndFilterBlocks(true);
    if (statistics == null) statistics = new Statistics();
    options = new Options().setCreateIfMissing(true).setTableFormatConfig(table)
        .setStatistics(statistics).setMaxBackgroundJobs(2).setWriteBufferSize(8 << 20);
    db = RocksDB.open(options, folder.toString());
  }

  void close() {
    db.close();
    options.close();
    if (cache != null) cache.close();
  }

  void put(int number) throws RocksDBException {
    long version = versions.get(number) + 1;
    try (WriteOptions write = new WriteOptions().setDisableWAL(true)) {
      db.put(write, key(number), value(number, version));
    }
    versions.set(number, version);
  }

  void verify(int number, byte[] found, long version) {
    if (found != null && Arrays.equals(found, value(number, version))) return;
    System.out.println("wrong value of key " + number + (found == null ? ": none" : ""));
    Runtime.getRuntime().halt(3);
  }

  void reads(int count, long seed) throws RocksDBException {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < count; ++i) {
      int number = skewed(random);
      verify(number, db.get(key(number)), versions.get(number));
      gets.incrementAndGet();
    }
  }

  void multiReads(int count) throws RocksDBException {
    SplittableRandom random = new SplittableRandom(11);
    for (int i = 0; i < count; ++i) {
      int[] numbers = new int[32];
      List<byte[]> keys = new ArrayList<>();
      for (int j = 0; j < 32; ++j) keys.add(key(numbers[j] = skewed(random)));
      List<byte[]> found = db.multiGetAsList(keys);
      for (int j = 0; j < 32; ++j) verify(numbers[j], found.get(j), versions.get(numbers[j]));
    }
  }

  void scan() throws RocksDBException {
    int number = 0;
    try (RocksIterator at = db.newIterator()) {
      for (at.seekToFirst(); at.isValid(); at.next(), ++number) {
        verify(number, at.value(), versions.get(number));
      }
      at.status();
    }
    if (number != KEYS) verify(number, null, 0);
  }

  // Each holds the blocks that it stands on.
  void iterators(int count) throws RocksDBException {
    List<RocksIterator> open = new ArrayList<>();
    for (int i = 0; i < count; ++i) {
      open.add(db.newIterator());
      open.get(i).seek(key(start(i, count)));
    }
    for (int step = 0; step < 200; ++step) {
      for (int i = 0; i < count; ++i) {
        int number = start(i, count) + step;
        if (number >= KEYS) continue;
        verify(number, open.get(i).value(), versions.get(number));
        open.get(i).next();
      }
    }
    for (RocksIterator each : open) each.close();
  }

  static int start(int iterator, int count) {
    return (int) ((long) KEYS * iterator / count);
  }

  void churn(int count) throws Exception {
    Thread compaction = background(() -> db.compactRange());
    SplittableRandom random = new SplittableRandom(13);
    for (int i = 0; i < count; ++i) {
      put(skewed(random));
      int number = skewed(random);
      verify(number, db.get(key(number)), versions.get(number));
      if (i % (count / 4 + 1) == 0) flush();
    }
    compaction.join();
  }

  void flush() throws RocksDBException {
    try (FlushOptions wait = new FlushOptions().setWaitForFlush(true)) {
      db.flush(wait);
    }
  }

  interface Work {
    void run() throws Exception;
  }

  static Thread background(Work work) {
    Thread thread = new Thread(() -> {
      try {
        work.run();
      } catch (Exception error) {
        error.printStackTrace();
        Runtime.getRuntime().halt(4);
      }
    });
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  void startReaders() {
    for (int i = 0; i < 4; ++i) {
      long seed = i;
      background(() -> {
        for (long round = 0;; ++round) reads(10_000, seed + 4 * round);
      });
    }
  }

  static long readCalls() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/io"))) {
      if (line.startsWith("syscr: ")) return Long.parseLong(line.substring(7));
    }
    return -1;
  }

  void run(String command) throws Exception {
    String name = command.replaceFirst("=.*", "");
    int count = command.contains("=") ? Integer.parseInt(command.replaceFirst(".*=", "")) : 0;
    long calls = readCalls();
    switch (name) {
      case "fill":
        for (int i = 0; i < KEYS; ++i) put(i);
        flush();
        db.compactRange();
        break;
      case "reads": reads(count, 7); break;
      case "multi": multiReads(count); break;
      case "scan": scan(); break;
      case "iterators": iterators(count); break;
      case "reopen": close(); open(); break;
      case "churn": churn(count); break;
      case "exit":
        startReaders();
        while (gets.get() < count) Thread.onSpinWait();
        report();
        System.out.println("verified");
        System.exit(0);
        break;
      case "run":
        startReaders();
        System.out.println("running");
        new CountDownLatch(1).await();
        break;
      default: throw new IllegalArgumentException(command);
    }
    System.out.println(name + ".read_calls=" + (readCalls() - calls));
  }

  void report() {
    for (TickerType ticker : List.of(TickerType.BLOCK_CACHE_MISS, TickerType.BLOCK_CACHE_HIT,
                                     TickerType.SECONDARY_CACHE_HITS)) {
      System.out.println(ticker.name().toLowerCase() + "=" + statistics.getTickerCount(ticker));
    }
    if (cache != null) System.out.println("usage=" + cache.getUsage());
  }

  public static void main(String[] arguments) throws Exception {
    RocksDB.loadLibrary();
    Drive drive = new Drive(Path.of(arguments[0]));
    drive.open();
    // A database that another process filled has the first version of each value.
    if (Files.exists(Path.of(arguments[0], "FILLED"))) {
      for (int i = 0; i < KEYS; ++i) drive.versions.set(i, 1);
    }
    for (String command : Arrays.asList(arguments).subList(1, arguments.length)) {
      drive.run(command);
      if (command.equals("fill")) Files.createFile(Path.of(arguments[0], "FILLED"));
    }
    drive.report();
    drive.close();
    System.out.println("verified");
  }
}
