"""Bundled knowledge: concepts, pools, profiles and cases, read through `ontology.resources`."""
