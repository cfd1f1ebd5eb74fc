// The cost of this process up to now: time, and the bytes that it read, as the kernel counts it. Two of
// them enclose what a program measures.
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

final class Cost {
  private final long time_ns = System.nanoTime();
  private long calls, bytes, device_bytes;

  private Cost() {}

  static Cost now() {
    Cost cost = new Cost();
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/io"))) {
        long value = Long.parseLong(line.substring(line.indexOf(' ') + 1));
        if (line.startsWith("syscr: ")) cost.calls = value;
        if (line.startsWith("rchar: ")) cost.bytes = value;
        if (line.startsWith("read_bytes: ")) cost.device_bytes = value;
      }
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
    return cost;
  }

  long callsUntil(Cost end) {
    return end.calls - calls;
  }

  // A `name=value` a line, each behind `what`.
  void print(String what, long events, Cost end) {
    System.out.println(what + ".events=" + events);
    System.out.println(what + ".ns=" + (end.time_ns - time_ns));
    System.out.println(what + ".read_calls=" + callsUntil(end));
    System.out.println(what + ".read_bytes=" + (end.bytes - bytes));
    System.out.println(what + ".device_bytes=" + (end.device_bytes - device_bytes));
  }
}
