"""The version, where both the shelf and the study can see it."""

VERSION = "0.1.0"
