"""One module for each page: `layout` builds it, `register` connects what moves."""
