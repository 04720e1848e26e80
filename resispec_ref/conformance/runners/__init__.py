"""Programs that read the vectors, to copy into an engine: a test for pytest, a header for C++, a module for Rust."""
