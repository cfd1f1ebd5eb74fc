package nvcache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.Cache;
import org.rocksdb.LRUCache;

/** Every value that a test reads is verified (Database). */
final class NvcacheTest {
  private static final String TIER = "tiered://?dram=2MiB&tier=(size=64MiB)";

  @TempDir Path folder;

  private String onFile(String more) {
    return "tiered://?dram=2MiB&tier=(size=64MiB,medium=file:" + folder.resolve("tier") + more + ")";
  }

  @Test
  void valuesAreRightUnderWritesFlushesAndCompactions() throws Exception {
    try (Cache cache = Nvcache.cache(TIER);
        Database db = new Database(folder.resolve("db"), cache)) {
      AtomicBoolean written = new AtomicBoolean();
      AtomicReference<Throwable> failure = new AtomicReference<>();
      List<Thread> readers = new ArrayList<>();
      for (int i = 0; i < 3; ++i) {
        long seed = i;
        readers.add(new Thread(() -> {
          try {
            for (long round = 0; !written.get(); ++round) db.read(1000, seed + 3 * round);
          } catch (Throwable error) {
            failure.set(error);
          }
        }));
      }
      for (Thread reader : readers) reader.start();
      SplittableRandom random = new SplittableRandom(13);
      for (int i = 0; i < 12_000; ++i) {
        db.putAny(random);
        if (i % 3000 == 2999) db.flush();
      }
      db.compact();
      written.set(true);
      for (Thread reader : readers) reader.join();
      assertEquals(null, failure.get());
      db.read(2 * Database.KEYS, 17);
      db.scan();
      assertTrue(db.tierHits() > 0, "no block came from the lower tier");
    }
  }

  @Test
  void aCacheThatClosesGivesItsFileToTheNext() throws Exception {
    for (int i = 0; i < 2; ++i) {
      try (Cache cache = Nvcache.cache(onFile(""));
          Database db = new Database(folder.resolve("db"), cache)) {
        db.read(2 * Database.KEYS, 7);
        assertTrue(db.tierHits() > 0, "no block came from the file");
      }
    }
  }

  @Test
  void aWarmTierServesTheNextCache() throws Exception {
    String spec = onFile(",space=regions,region=128KiB,restart=warm");
    long cold = missesOfARound(spec);
    // Blocks come back in the background, which a busy machine may begin only after the reads. A
    // tier that is not warm is empty each time.
    long warm = missesOfARound(spec);
    for (int again = 0; again < 50 && warm >= cold / 2; ++again) warm = missesOfARound(spec);
    assertTrue(warm < cold / 2, warm + " misses with a warm tier, " + cold + " with a cold one");
  }

  private long missesOfARound(String spec) throws Exception {
    Database filled = new Database(folder.resolve("db"), new LRUCache(1 << 20));
    filled.close();
    try (Cache cache = Nvcache.cache(spec);
        Database db = new Database(folder.resolve("db"), cache)) {
      db.read(Database.KEYS, 7);
      return db.misses();
    }
  }

  @Test
  void twoCachesShareATierWithAName() throws Exception {
    assertTrue(hitsOfTwo(onFile(",name=shared")) > 0);
  }

  @Test
  void twoCachesDoNotShareATierWithoutAName() throws Exception {
    assertEquals(0, hitsOfTwo(onFile("")));
  }

  /** The tier hits of the second of two caches that are open at once. */
  private long hitsOfTwo(String spec) throws Exception {
    try (Cache first = Nvcache.cache(spec);
        Cache second = Nvcache.cache(spec);
        Database one = new Database(folder.resolve("db1"), first)) {
      one.read(2 * Database.KEYS, 7);
      assertTrue(one.tierHits() > 0, "the first cache has no tier");
      try (Database two = new Database(folder.resolve("db2"), second)) {
        two.read(2 * Database.KEYS, 11);
        two.scan();
        one.read(Database.KEYS, 19);
        return two.tierHits();
      }
    }
  }

  @Test
  void aDatabaseKeepsTheCacheThatItUses() throws Exception {
    Cache cache = Nvcache.cache(TIER);
    try (Database db = new Database(folder.resolve("db"), cache)) {
      db.read(1000, 7);
      assertTrue(cache.getUsage() > 0);
      cache.close();
      cache.close();
      assertFalse(cache.isOwningHandle());
      db.read(2 * Database.KEYS, 7);
      assertTrue(db.tierHits() > 0);
    }
  }

  @Test
  void aWrongSpecificationThrowsAndTheProgramGoesOn() throws Exception {
    String[][] wrong = {{"nothing", "tiered://"}, {"", "tiered://"}, {"tiered://?dram=much", "dram"},
        {"tiered://?tier=(size=64MiB)", "dram"}, {"tiered://?dram=1MiB&ö=1", "'\\xc3\\xb6'"},
        {"tiered://?dram=1MiB&tier=(size=64MiB,medium=paper:)", "paper"}};
    for (String[] each : wrong) {
      IllegalArgumentException error =
          assertThrows(IllegalArgumentException.class, () -> Nvcache.cache(each[0]), each[0]);
      assertTrue(error.getMessage().contains(each[1]), error.getMessage());
    }
    assertThrows(NullPointerException.class, () -> Nvcache.cache(null));
    try (Cache cache = Nvcache.cache(TIER);
        Database db = new Database(folder.resolve("db"), cache)) {
      db.read(2 * Database.KEYS, 7);
      assertTrue(db.tierHits() > 0);
    }
  }
}
