// Runs Drive several times at once in one process, each with a class loader and so with a copy of
// RocksDB's library of its own, as programs do that load their parts apart from each other.
//
// usage: Copies CLASSES FOLDER JAR...
//   CLASSES   the folder of Drive.class; FOLDER/N is the database of the Nth jar
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

public final class Copies {
  static void drive(URL[] parts, String database) {
    try {
      ClassLoader loader = new URLClassLoader(parts, ClassLoader.getPlatformClassLoader());
      Class<?> drive = loader.loadClass("Drive");
      String[] words = {database, "fill", "reads=8000", "reads=8000", "multi=50"};
      drive.getMethod("main", String[].class).invoke(null, (Object) words);
    } catch (ReflectiveOperationException error) {
      Throwable cause = error instanceof InvocationTargetException ? error.getCause() : error;
      cause.printStackTrace();
      Runtime.getRuntime().halt(4);
    }
  }

  public static void main(String[] arguments) throws Exception {
    URL classes = Path.of(arguments[0]).toUri().toURL();
    List<Thread> threads = new ArrayList<>();
    for (int i = 2; i < arguments.length; ++i) {
      URL[] parts = {Path.of(arguments[i]).toUri().toURL(), classes};
      String database = Path.of(arguments[1], Integer.toString(i - 2)).toString();
      threads.add(new Thread(() -> drive(parts, database)));
    }
    for (Thread each : threads) each.start();
    for (Thread each : threads) each.join();
  }
}
