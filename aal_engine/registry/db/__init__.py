"""The registry's database: SQLite embedded, or PostgreSQL for several workers."""
