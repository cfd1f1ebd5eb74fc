package nvcache;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Statistics;
import org.rocksdb.TickerType;
import org.rocksdb.WriteOptions;

/** A database that knows what each of its values must be. One thread writes, any number read. */
final class Database implements AutoCloseable {
  static final int KEYS = 12_000;
  private static final int VALUE_BYTES = 1000;

  /** A value that was read is another than was written. */
  static final class WrongValue extends RuntimeException {
    private static final long serialVersionUID = 1;

    WrongValue(int number, byte[] found) {
      super("wrong value of key " + number + (found == null ? ": none" : ""));
    }
  }

  private final AtomicLongArray versions = new AtomicLongArray(KEYS);
  private final Statistics statistics = new Statistics();
  private final Options options;
  private final RocksDB db;

  /** Closes everything but the cache. A folder that is there was filled, and no more. */
  Database(Path folder, Cache cache) throws RocksDBException {
    BlockBasedTableConfig table = new BlockBasedTableConfig().setBlockCache(cache)
        .setFilterPolicy(new BloomFilter(10)).setCacheIndexAndFilterBlocks(true);
    options = new Options().setCreateIfMissing(true).setTableFormatConfig(table)
        .setStatistics(statistics).setMaxBackgroundJobs(2).setWriteBufferSize(4 << 20);
    boolean filled = Files.exists(folder);
    db = RocksDB.open(options, folder.toString());
    if (filled) {
      for (int i = 0; i < KEYS; ++i) versions.set(i, 1);
    } else {
      for (int i = 0; i < KEYS; ++i) put(i);
      flush();
      compact();
    }
  }

  @Override
  public void close() {
    db.close();
    options.close();
    statistics.close();
  }

  private static byte[] key(int number) {
    return String.format("key%09d", number).getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] value(int number, long version) {
    byte[] bytes = new byte[VALUE_BYTES];
    SplittableRandom random = new SplittableRandom(number * 1_000_003L + version);
    for (int i = 0; i < VALUE_BYTES; i += 8) {
      long word = random.nextLong();
      for (int j = i; j < i + 8; ++j, word >>>= 8) bytes[j] = (byte) word;
    }
    return bytes;
  }

  private void put(int number) throws RocksDBException {
    long version = versions.get(number) + 1;
    try (WriteOptions write = new WriteOptions().setDisableWAL(true)) {
      db.put(write, key(number), value(number, version));
    }
    versions.set(number, version);
  }

  /** Of the writer's own thread. */
  void putAny(SplittableRandom random) throws RocksDBException {
    put(random.nextInt(KEYS));
  }

  void flush() throws RocksDBException {
    try (FlushOptions wait = new FlushOptions().setWaitForFlush(true)) {
      db.flush(wait);
    }
  }

  void compact() throws RocksDBException {
    db.compactRange();
  }

  /** Gets of random keys. While another thread writes, a value may be of a later version. */
  void read(int count, long seed) throws RocksDBException {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < count; ++i) {
      int number = random.nextInt(KEYS);
      long first = versions.get(number);
      byte[] found = db.get(key(number));
      long last = versions.get(number) + 1; // written, and not yet noted
      boolean right = false;
      for (long version = first; found != null && version <= last && !right; ++version) {
        right = Arrays.equals(found, value(number, version));
      }
      if (!right) throw new WrongValue(number, found);
    }
  }

  /** While nobody writes. */
  void scan() throws RocksDBException {
    int number = 0;
    try (RocksIterator at = db.newIterator()) {
      for (at.seekToFirst(); at.isValid(); at.next(), ++number) {
        if (!Arrays.equals(at.value(), value(number, versions.get(number)))) {
          throw new WrongValue(number, at.value());
        }
      }
      at.status();
    }
    if (number != KEYS) throw new WrongValue(number, null);
  }

  /** Blocks that came from lower tiers. */
  long tierHits() {
    return statistics.getTickerCount(TickerType.SECONDARY_CACHE_HITS);
  }

  long misses() {
    return statistics.getTickerCount(TickerType.BLOCK_CACHE_MISS);
  }
}
