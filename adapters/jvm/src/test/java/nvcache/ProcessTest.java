package nvcache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What ends a process, or wants one of its own: Program. */
final class ProcessTest {
  private static final String TIER = "tiered://?dram=2MiB&tier=(size=64MiB)";

  @TempDir Path folder;

  private Process start(String spec, String command, Map<String, String> environment)
      throws Exception {
    Files.createDirectories(folder.resolve("tmp"));
    ProcessBuilder builder = new ProcessBuilder(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
        "-Djava.io.tmpdir=" + folder.resolve("tmp"), "-cp", System.getProperty("java.class.path"),
        "nvcache.Program", folder.toString(), spec, command);
    builder.environment().keySet().removeIf(name -> name.startsWith("NVCACHE_"));
    builder.environment().putAll(environment);
    return builder.redirectError(folder.resolve("errors").toFile()).start();
  }

  private String errors() throws Exception {
    return Files.readString(folder.resolve("errors"));
  }

  private List<String> run(String spec, String command, Map<String, String> environment)
      throws Exception {
    Process process = start(spec, command, environment);
    List<String> lines;
    try (BufferedReader from = new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      lines = from.lines().collect(Collectors.toList());
    }
    assertEquals(0, process.waitFor(), lines + errors());
    assertTrue(lines.contains("verified"), lines + errors());
    assertFalse(errors().contains("nvcache:"), errors());
    return lines;
  }

  private List<String> foldersLeft() throws Exception {
    try (Stream<Path> all = Files.list(folder.resolve("tmp"))) {
      return all.map(path -> path.getFileName().toString())
          .filter(name -> name.startsWith("nvcache")).collect(Collectors.toList());
    }
  }

  @Test
  void systemExitWithReadersRunningIsClean() throws Exception {
    for (int i = 0; i < 3; ++i) {
      Path stats = folder.resolve("stats-" + i);
      run(TIER, "exit", Map.of("NVCACHE_STATS_JSON", stats + "-%p"));
      assertEquals(List.of(), foldersLeft());
      try (Stream<Path> all = Files.list(folder)) {
        Path written = all.filter(path -> path.toString().startsWith(stats + "-")).findAny()
            .orElseThrow(() -> new AssertionError("System.exit lost the statistics"));
        assertTrue(Files.readString(written).contains("\"lookups\""));
      }
    }
  }

  @Test
  void aProcessRemovesWhatAKilledOneLeft() throws Exception {
    List<String> left;
    Process killed = start(TIER, "run", Map.of());
    try {
      BufferedReader from = new BufferedReader(
          new InputStreamReader(killed.getInputStream(), StandardCharsets.UTF_8));
      assertEquals("running", from.readLine(), errors());
      left = foldersLeft();
      assertEquals(1, left.size());
      Process other = start(TIER, "refused", Map.of("ROCKSDB_SHAREDLIB_DIR", "/nowhere"));
      assertEquals(0, other.waitFor(), errors());
      assertEquals(left, foldersLeft(), "the folder of a process that lives");
    } finally {
      killed.destroyForcibly().waitFor();
    }
    assertEquals(left, foldersLeft());
    run(TIER, "read", Map.of());
    assertEquals(List.of(), foldersLeft());
  }

  /** In a container each JVM has the number 1: here a leftover has the number of the next one. */
  @Test
  void aProcessRemovesWhatAKilledOneOfItsNumberLeft() throws Exception {
    Process killed = start(TIER, "run", Map.of());
    try {
      BufferedReader from = new BufferedReader(
          new InputStreamReader(killed.getInputStream(), StandardCharsets.UTF_8));
      assertEquals("running", from.readLine(), errors());
    } finally {
      killed.destroyForcibly().waitFor();
    }
    Path left = folder.resolve("tmp").resolve(foldersLeft().get(0));
    run(TIER, "read", Map.of("NVCACHE_TEST_LEFT", left.toString()));
    assertEquals(List.of(), foldersLeft());
  }

  @Test
  void copiesOfTheClassAndOfRocksDbWorkAtOnce() throws Exception {
    for (String command : List.of("copies", "again")) {
      String spec = "tiered://?dram=2MiB&tier=(name=shared,size=64MiB,medium=file:"
          + folder.resolve("tier-" + command) + ")";
      List<String> lines = run(spec, command, Map.of());
      long served = lines.stream()
          .filter(line -> line.startsWith("tier_hits=") && !line.equals("tier_hits=0")).count();
      assertEquals(2, served, "caches that share the tier: " + lines);
      assertTrue(lines.contains("cores=1"), lines.toString());
      assertEquals(List.of(), foldersLeft());
    }
  }

  @Test
  void rocksDbThatCannotBeLoadedIsAState() throws Exception {
    List<String> lines = run(TIER, "refused", Map.of("ROCKSDB_SHAREDLIB_DIR", "/nowhere"));
    assertTrue(lines.get(0).startsWith("RocksDB's library cannot be loaded: "), lines.toString());
    assertTrue(lines.get(0).contains("/nowhere"), lines.toString());
  }
}
