"""The newest revision of the schema."""

HEAD = "0001"
