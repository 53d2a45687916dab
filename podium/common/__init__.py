"""What every room says and counts with: errors, sentences, progress, parts of pages, rows of arrays.

Plain values and foreign texts enter, and words, errors and arrays leave. It uses no other room.
"""
