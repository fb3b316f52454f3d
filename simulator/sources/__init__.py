"""Case sources: each turns records of one data set into PatientVectors."""
