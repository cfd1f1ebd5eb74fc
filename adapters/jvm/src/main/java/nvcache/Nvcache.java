package nvcache;

import java.nio.charset.StandardCharsets;
import org.rocksdb.Cache;
import org.rocksdb.Env;

/**
 * Block caches for RocksDB that reach beyond DRAM: nvcache's tiered caches.
 *
 * <pre>
 * Cache cache = Nvcache.cache("tiered://?dram=1GiB&amp;tier=(size=64GiB,medium=file:/mnt/nvme/tier)");
 * options.setTableFormatConfig(new BlockBasedTableConfig().setBlockCache(cache));
 * </pre>
 *
 * Thread-safe. Works with the copy of RocksDB that this class sees; in one process there may be
 * several copies of both.
 */
public final class Nvcache {
  private Nvcache() {}

  /**
   * Opens a cache. Its lower tiers are opened when the first block goes there; a file serves one
   * cache at a time, unless the tier has a name, by which all caches of the process share it.
   *
   * <p>Close it as any cache of RocksDB. The databases that use it keep what is behind it.
   *
   * @param spec the specification of a tiered cache; {@code dram} is required
   * @return the cache, for {@code BlockBasedTableConfig.setBlockCache()}
   * @throws IllegalArgumentException if the specification is wrong; the message says where
   * @throws IllegalStateException if RocksDB's library or nvcache's cannot be loaded, or RocksDB is
   *     of a version that nvcache does not know; the message says which
   */
  public static Cache cache(String spec) {
    Libraries.load();
    long[] result = new long[1];
    byte[] problem = open(spec.getBytes(StandardCharsets.UTF_8), objectOfRocksDb(), result);
    if (problem == null) return new TieredCache(result[0]);
    String message = new String(problem, StandardCharsets.UTF_8);
    if (result[0] == WRONG_SPEC) throw new IllegalArgumentException(message);
    throw new IllegalStateException(message);
  }

  /** The address of a C++ object. RocksDB loads its library first, as for its own classes. */
  private static long objectOfRocksDb() {
    try {
      return Env.getDefault().getNativeHandle();
    } catch (LinkageError | RuntimeException error) {
      throw new IllegalStateException("RocksDB's library cannot be loaded: " + error, error);
    }
  }

  private static final class TieredCache extends Cache {
    TieredCache(long handle) {
      super(handle);
    }

    @Override
    protected void disposeInternal(long handle) {
      Nvcache.close(handle);
    }
  }

  private static final long WRONG_SPEC = 1; // java_api.cc has the same number

  /** Null, and result[0] is the handle; or a message, and result[0] is WRONG_SPEC or 0. */
  private static native byte[] open(byte[] spec, long objectOfRocksDb, long[] result);

  private static native void close(long handle);
}
