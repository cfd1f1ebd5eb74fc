# Empty compiler generated dependencies file for example.
# This may be replaced when dependencies are built.
