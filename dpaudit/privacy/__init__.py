"""From events to epsilon: bounds, the black-box audit, and exact laws."""
