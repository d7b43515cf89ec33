"""Results made visible: figures as SVG, and one self-contained HTML page."""
