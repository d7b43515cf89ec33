"""The collection: counted and encoded out of core, so that blocks can be handed to the kernel."""
