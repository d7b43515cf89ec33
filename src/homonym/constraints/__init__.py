"""What is known of mentions beside their features: identifiers, documents, names and a user's own statements."""
