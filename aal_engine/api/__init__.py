"""The HTTP door and the settings that the environment holds."""
