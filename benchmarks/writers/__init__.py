"""Writers of synthetic exports, one module for each kind of file."""
