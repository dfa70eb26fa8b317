"""s07: a real provider at the boundary; the loop knows neither its name nor its words."""
