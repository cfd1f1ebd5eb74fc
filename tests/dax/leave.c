/* Ends the virtual machine with an exit status: QEMU's isa-debug-exit is at port 0xf4. */
#include <stdlib.h>
#include <sys/io.h>

int main(int argc, char** argv) {
  if (ioperm(0xf4, 1, 1) != 0) return 1;
  outb((unsigned char)(16 + (argc > 1 ? atoi(argv[1]) : 0)), 0xf4);
  return 1;
}
