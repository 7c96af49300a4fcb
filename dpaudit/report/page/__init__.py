"""The parts of the HTML pages: what is known of a mechanism as sentences, numbers and figures."""
