"""Create a set from a source: workers render images, shards are packed, and the finished set is published."""
