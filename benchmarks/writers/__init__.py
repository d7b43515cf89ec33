"""Writers of the files that libraries export, one module for each kind."""
