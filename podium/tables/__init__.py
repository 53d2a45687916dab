"""Reading and writing: texts, JSON, CSV and Parquet, and the ids and names that stand there.

Paths and streams enter, and tables and texts leave, or an error that names the file and the place. It may use
`common` and `child`.
"""
