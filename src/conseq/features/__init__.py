"""Features: templates as data, and the two-level design matrix they give."""

from conseq.features.crfpp import parse_crfpp
from conseq.features.design import Design
from conseq.features.extract import FeatureExtractor
from conseq.features.presets import PRESETS, preset
from conseq.features.templates import Template, parse_templates

__all__ = ["PRESETS", "Design", "FeatureExtractor", "Template", "parse_crfpp", "parse_templates", "preset"]
