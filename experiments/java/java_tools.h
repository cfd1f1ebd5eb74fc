// The tools that run a Java program: a JDK, the jars and the library to preload. Thread-safe.
#pragma once

#include <string>

#include "experiments/java/java_options.h"
#include "experiments/java/java_program.h"
#include "nvcache/status_or.h"

namespace nvcache::java {

struct Tools {
  std::string javac;
  std::string java;
  std::string classpath;
  std::string library;
};

// FAILED_PRECONDITION says what is missing, where it was looked for, and how to get it.
[[nodiscard]] StatusOr<Tools> find_tools(const Program& program, const Options& options);

}  // namespace nvcache::java
