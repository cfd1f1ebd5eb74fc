package nvcache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Which libraries a machine gets, and which gets none. */
final class LibrariesTest {
  @Test
  void aProcessorHasOneName() {
    assertEquals("Linux-x86_64", Libraries.platformOf("Linux", "amd64"));
    assertEquals("Linux-x86_64", Libraries.platformOf("Linux", "x86_64"));
    assertEquals("Linux-aarch64", Libraries.platformOf("Linux", "aarch64"));
  }

  @Test
  void aProcessOfAlpineLinuxIsKnownByItsLinker() {
    String program = "55a8c1000000-55a8c1001000 r--p 00000000 fe:00 1 /usr/lib/jvm/bin/java";
    String musl = "7f5e8c000000-7f5e8c014000 r--p 00000000 fe:00 2 /lib/ld-musl-x86_64.so.1";
    String glibc = "7f5e8c000000-7f5e8c026000 r--p 00000000 fe:00 2 /lib/ld-linux-x86-64.so.2";
    assertTrue(Libraries.isMusl(List.of(program, musl)));
    assertFalse(Libraries.isMusl(List.of(program, glibc)));
  }
}
