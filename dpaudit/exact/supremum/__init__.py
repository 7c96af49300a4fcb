"""The greatest privacy loss over samples of every size: a search on exact laws, limits along rays, closed forms."""
