# The guest of script/dax_vm. Sourced, after kept.sh, in the checkout.
# shellcheck shell=bash

copy_libraries_of() {
  ldd "$1" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -nL "$library" "$root$library"
  done
}

# Makes $out/initrd.gz of busybox, the programs in $build, the libraries they load, and modules of
# the kernel in $kernel. Sets $version, the kernel's.
make_guest() {
  local programs program pmem2 module
  root=$out/root
  rm -rf "$root"
  mkdir -p "$root"/{bin,programs,proc,sys,dev,tmp,mnt,etc,modules}
  cp /bin/busybox "$root/bin/busybox"
  cp tests/dax/guest_init "$root/init"
  cc -static -O1 -o "$root/programs/leave" tests/dax/leave.c
  programs=("$build/tests/kv_store/nvcache_kv_tests" "$build/tests/nvcache_contract_tests"
            "$build/tests/kv_store/power_cut"
            "$(command -v ndctl)" "$(command -v mke2fs || echo /sbin/mke2fs)")
  for program in "${programs[@]}"; do
    cp "$program" "$root/programs/"
    copy_libraries_of "$program"
  done
  # Loaded when a file on DAX is opened.
  pmem2=$(ldconfig -p | sed -n 's/.*libpmem2.so.1 .*=> //p' | head -n 1)
  [[ -n $pmem2 ]] || fail "libpmem2 is not installed"
  mkdir -p "$root$(dirname "$pmem2")"
  cp -nL "$pmem2" "$root$pmem2"
  copy_libraries_of "$pmem2"
  [[ ! -f /etc/mke2fs.conf ]] || cp /etc/mke2fs.conf "$root/etc/"
  # Modules in the order in which they need each other.
  version=$(basename "$kernel"/lib/modules/*)
  depmod -b "$kernel" "$version"
  for module in nfit nd_pmem ext4; do
    modprobe -C /dev/null -d "$kernel" -S "$version" --show-depends "$module" 2> /dev/null |
      sed -n 's/^insmod \([^ ]*\).*/\1/p'
  done | awk '!seen[$0]++' | while read -r module; do
    cp "$module" "$root/modules/"
    echo "/modules/$(basename "$module")"
  done > "$out/modules.list"
  cp "$out/modules.list" "$root/modules.list"
  chmod +x "$root/init"
  (cd "$root" && find . | cpio -o -H newc --quiet) | gzip -1 > "$out/initrd.gz"
}
