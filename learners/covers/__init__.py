"""What the Set Cover Learners share: rounds over regions, their noise, their laws and their privacy accounting."""
