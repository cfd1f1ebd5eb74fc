// The native methods of the Java class nvcache.Nvcache (adapters/jvm), in libnvcache_jvm.so: they
// open a cache under the copy of RocksDB that the class works with, and close it.
//
// Needs jni.h, and of the JVM nothing else. Texts cross as bytes of UTF-8: JNI's own strings have
// another encoding. Nothing is thrown here: the class throws what it is told of.
#include <dlfcn.h>
#include <jni.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/jvm/library.h"

namespace nvcache::jvm {
namespace {

// RocksDB's methods for Java take the address of a std::shared_ptr<rocksdb::Cache> as a handle: it
// lies first.
struct Held {
  void* cache[2];
  Close close;
};

// Where it fails, `problem` is told why, and *wrong_spec is true if the specification is wrong.
void* open_under(const void* address, PlainText spec, const Problem& problem, bool* wrong_spec) {
  const auto refuse = [&](const char* why) {
    problem.tell(problem.to, why, strlen(why));
    return static_cast<void*>(nullptr);
  };
  *wrong_spec = false;
  const Library* const library = library_at(address, /*wanted=*/true);
  if (library == nullptr) return refuse("RocksDB's library is not found in this process");
  if (library->open_by_spec == nullptr) return refuse(library->problem);
  auto* const held = static_cast<Held*>(calloc(1, sizeof(Held)));
  if (held == nullptr) return refuse("out of memory");
  held->close = library->close;
  if (library->open_by_spec(spec, problem, held->cache)) return held;
  *wrong_spec = true;
  free(held);
  return nullptr;
}

// A problem as Java gets it.
struct Message {
  JNIEnv* env;
  jbyteArray bytes;
};

void keep_message(void* to, const char* text, size_t text_bytes) {
  auto* const message = static_cast<Message*>(to);
  const auto size = static_cast<jsize>(text_bytes);
  message->bytes = message->env->NewByteArray(size);
  if (message->bytes == nullptr) return;  // the JVM throws OutOfMemoryError
  message->env->SetByteArrayRegion(message->bytes, 0, size, reinterpret_cast<const jbyte*>(text));
}

}  // namespace
}  // namespace nvcache::jvm

// The number in the name changes with what the function takes: the one that is called may be that
// of a preloaded library, which is of another installation.
extern "C" __attribute__((visibility("default"))) void* nvcache_jvm_open_under_2(
    const void* address, nvcache::jvm::PlainText spec, const nvcache::jvm::Problem* problem,
    bool* wrong_spec) {
  return nvcache::jvm::open_under(address, spec, *problem, wrong_spec);
}

// byte[] open(byte[] spec, long object, long[] result): null, and result[0] is the handle; or a
// message, and result[0] is 1 for a wrong specification. `object`: the address of any C++ object of
// the copy of RocksDB that is meant; it begins with the address of a table in that copy.
extern "C" JNIEXPORT jbyteArray JNICALL Java_nvcache_Nvcache_open(JNIEnv* env, jclass /*nvcache*/,
                                                                  jbyteArray spec, jlong object,
                                                                  jlongArray result) {
  // One copy of nvcache in a process: a preloaded one comes first. Else this finds the one above.
  using OpenUnder = decltype(&nvcache_jvm_open_under_2);
  const auto open = reinterpret_cast<OpenUnder>(dlsym(RTLD_DEFAULT, "nvcache_jvm_open_under_2"));
  const auto open_under = open == nullptr ? &nvcache_jvm_open_under_2 : open;
  const jsize size = env->GetArrayLength(spec);
  jbyte* const bytes = env->GetByteArrayElements(spec, nullptr);
  if (bytes == nullptr) return nullptr;  // the JVM throws OutOfMemoryError
  nvcache::jvm::Message message{.env = env, .bytes = nullptr};
  const nvcache::jvm::Problem problem{.to = &message, .tell = nvcache::jvm::keep_message};
  bool wrong_spec = false;
  void* const held = open_under(*reinterpret_cast<const void* const*>(object),
                                {reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)},
                                &problem, &wrong_spec);
  env->ReleaseByteArrayElements(spec, bytes, JNI_ABORT);
  const jlong number = held != nullptr ? reinterpret_cast<jlong>(held) : jlong{wrong_spec};
  if (!env->ExceptionCheck()) env->SetLongArrayRegion(result, 0, 1, &number);
  return message.bytes;
}

// void close(long handle)
extern "C" JNIEXPORT void JNICALL Java_nvcache_Nvcache_close(JNIEnv* /*env*/, jclass /*nvcache*/,
                                                             jlong handle) {
  auto* const held = reinterpret_cast<nvcache::jvm::Held*>(handle);
  held->close(held->cache);
  free(held);
}
