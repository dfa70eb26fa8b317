"""The browser player: a trace as one HTML file, or as a page that follows a growing one.

`blocks` digests events, `page` holds the static parts together, `build` writes the file, `serve`
and `follow` show a run that goes on. What the browser runs is in `web/`. Nothing untrusted leaves
Python before `core.visible` has seen it, and the page makes text nodes of it, never markup.
"""
