"""The book: the pages of this repository as a static site, in both languages, for MkDocs Material.

`python -m lessons.book` builds it. The pages stay as they are: `hooks` tells MkDocs where they are
and what changes on the way, `places` where a file of the repository stands in the site, `text`
what a page becomes, `players` shows each lesson's trace. `assets` is what the browser gets.
"""
