"""What things mean: concepts, mentions and acts, vocabulary, annotator, ICD-10, disease profiles, belief model."""
