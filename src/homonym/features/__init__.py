"""Features: what a document says about its authors, as bags of counts by feature type."""
