"""Figures: pure functions from a Polars frame to a Plotly figure, so that they are tested and reused without Streamlit."""
