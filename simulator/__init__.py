"""What happens: cases, utterances, patients, examiners, encounters, traces, runs, and the sources cases come from."""
