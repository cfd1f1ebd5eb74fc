package nvcache;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.UserPrincipal;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/**
 * Puts the libraries of this jar into a private folder below java.io.tmpdir and loads
 * libnvcache_jvm.so from there, which loads the others when the first cache is opened.
 *
 * <p>The folder goes when the process ends. A process that is killed leaves it: the next one finds
 * that no process holds the folder's lock and removes it. In containers the next one often has the
 * same number, so the number does not tell whose a folder is.
 */
final class Libraries {
  private static final String LIBRARY = "libnvcache_jvm.so";
  private static final String PREFIX = "nvcache-jvm-";
  private static final String MADE_HERE = "nvcache.jvm.folder:"; // then the folder

  private static boolean loaded; // by this copy of the class
  @SuppressWarnings("unused")
  private static FileLock lock; // held until the process ends

  private Libraries() {}

  static synchronized void load() {
    if (loaded) return;
    String platform = platformOf(System.getProperty("os.name"), System.getProperty("os.arch"));
    List<String> list = list("native/" + platform + "/list");
    if (list.isEmpty()) {
      throw new IllegalStateException("this jar has no libraries of nvcache for " + platform
          + "; allowed: Linux on x86-64 and on aarch64, as far as the jar was built for both");
    }
    if (isMusl(mappedFiles())) {
      throw new IllegalStateException("nvcache needs glibc 2.28 or newer, and this Java runs with"
          + " musl, as on Alpine Linux; allowed: a Java or an image of Debian, Ubuntu, RHEL (UBI)"
          + " or another Linux with glibc");
    }
    try {
      // Strings in the source are one object for all class loaders, and so is this lock.
      synchronized (PREFIX) {
        System.load(libraryFor(platform, list).toString());
      }
    } catch (IOException | LinkageError error) {
      throw new IllegalStateException("nvcache's library cannot be loaded: " + error, error);
    }
    loaded = true;
  }

  /** As `uname` names them; JVMs have two names for one processor. */
  static String platformOf(String system, String processor) {
    return system + "-" + (processor.equals("amd64") ? "x86_64" : processor);
  }

  /** Whether a process with these lines in /proc/self/maps runs with the C library musl. */
  static boolean isMusl(List<String> maps) {
    return maps.stream().anyMatch(line -> line.contains("/ld-musl-"));
  }

  private static List<String> mappedFiles() {
    try {
      return Files.readAllLines(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1);
    } catch (IOException | RuntimeException error) {
      return List.of(); // then the linker says what is missing
    }
  }

  /** The lines of a file of this jar: a digest of all libraries, then their names. */
  private static List<String> list(String name) {
    try (InputStream from = Libraries.class.getResourceAsStream(name)) {
      if (from == null) return List.of();
      String text = new String(from.readAllBytes(), StandardCharsets.UTF_8);
      return Arrays.asList(text.strip().split("\n"));
    } catch (IOException error) {
      throw new IllegalStateException("the jar of nvcache cannot be read: " + error, error);
    }
  }

  /**
   * The file to load. The JVM lets two class loaders have no library of the same name, so another
   * copy of this class gets a second name of the same file: there is one nvcache in the process.
   */
  private static Path libraryFor(String platform, List<String> list) throws IOException {
    String property = "nvcache.jvm." + list.get(0);
    String others = System.getProperty(property);
    if (others != null && Files.exists(Path.of(others, LIBRARY))) {
      Path link = Path.of(others, UUID.randomUUID() + ".so");
      Files.createLink(link, Path.of(others, LIBRARY));
      link.toFile().deleteOnExit();
      return link;
    }
    Path root = Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();
    String own = PREFIX + ProcessHandle.current().pid() + "-";
    Path folder = Files.createTempDirectory(root, own); // for its owner alone
    // For all copies of this class in the process.
    System.setProperty(MADE_HERE + folder, "");
    removeWhatIsLeft(root, Files.getOwner(folder));
    try {
      extract(platform, list.subList(1, list.size()), folder);
    } catch (IOException | RuntimeException error) {
      remove(folder);
      throw error;
    }
    System.setProperty(property, folder.toString());
    return folder.resolve(LIBRARY);
  }

  private static void extract(String platform, List<String> names, Path folder)
      throws IOException {
    folder.toFile().deleteOnExit(); // in the reverse order
    Path made = folder.resolve("lock.new");
    lock = FileChannel.open(made, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE).lock();
    Path held = Files.move(made, folder.resolve("lock")); // who sees it sees it locked
    held.toFile().deleteOnExit();
    for (String name : names) {
      Path to = folder.resolve(name);
      if (!Files.exists(to.getParent())) {
        Files.createDirectory(to.getParent()).toFile().deleteOnExit();
      }
      to.toFile().deleteOnExit();
      try (InputStream from = Libraries.class.getResourceAsStream("native/" + platform + "/" + name)) {
        if (from == null) throw new IOException(name + " is not in the jar of nvcache");
        Files.copy(from, to);
      }
    }
  }

  /** Folders of processes that were killed; the user's own, and not those of this process. */
  private static void removeWhatIsLeft(Path root, UserPrincipal user) {
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(root, PREFIX + "*")) {
      for (Path folder : folders) {
        // To close a file gives up all locks that this process has of it.
        if (System.getProperty(MADE_HERE + folder) != null) continue;
        if (!Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).equals(user)) continue;
        if (!isHeld(folder)) remove(folder);
      }
    } catch (IOException | RuntimeException error) {
      return; // they stay
    }
  }

  private static boolean isHeld(Path folder) {
    try (FileChannel file = FileChannel.open(folder.resolve("lock"), StandardOpenOption.WRITE)) {
      return file.tryLock() == null;
    } catch (IOException | RuntimeException error) {
      return true; // it is being made
    }
  }

  private static void remove(Path folder) {
    if (!Files.isSymbolicLink(folder)) {
      File[] files = folder.toFile().listFiles();
      for (File file : files == null ? new File[0] : files) remove(file.toPath());
    }
    folder.toFile().delete();
  }
}
