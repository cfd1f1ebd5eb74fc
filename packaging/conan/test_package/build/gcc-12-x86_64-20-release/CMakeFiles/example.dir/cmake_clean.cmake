file(REMOVE_RECURSE
  "CMakeFiles/example.dir/c_quickstart.c.o"
  "CMakeFiles/example.dir/c_quickstart.c.o.d"
  "example"
  "example.pdb"
)

# Per-language clean rules from dependency scanning.
foreach(lang C)
  include(CMakeFiles/example.dir/cmake_clean_${lang}.cmake OPTIONAL)
endforeach()
