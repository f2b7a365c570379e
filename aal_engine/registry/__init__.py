"""The registry: published suites, fired at live agents, scored and served as a public record."""
