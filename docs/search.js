// A search for an option, or for a pasted message that names one, would be no valid query: the search reads
// "--metric" as words to exclude. So dashes and other signs of its language are dropped from the field.
document.addEventListener(
  "input",
  (event) => {
    const field = event.target
    if (!field.matches(".md-search__input")) return
    const words = field.value.replace(/(^|[\s(,;:])[-+]+(?=\S)/g, "$1").replace(/[~^*]/g, " ")
    if (words !== field.value) field.value = words
  },
  true
)
