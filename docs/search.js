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

// The page of messages begins with a field. It finds the entries of a pasted message. Each entry ends with its messages,
// quoted, in which … stands for what differs each time. The entry with most words of its own comes first.
document.addEventListener("DOMContentLoaded", () => {
  const quotes = [...document.querySelectorAll("h3[id] ~ blockquote code")]
  const place = document.querySelector("h2[id]")
  if (!place || !quotes.length) return
  const entryOf = (quote) => {
    let element = quote.closest("blockquote")
    let sentence = ""
    while (element && element.tagName !== "H3") {
      if (element.tagName === "P") sentence = element.textContent
      element = element.previousElementSibling
    }
    return { id: element.id, title: element.firstChild.textContent, sentence: sentence.match(/^.*?[.:](?=\s|$)/s)?.[0] ?? sentence }
  }
  const entries = quotes.map((code) => {
    const words = code.textContent.replace(/\s+/g, " ")
    const pattern = words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", ".*")
    return { ...entryOf(code), pattern: new RegExp(pattern, "i"), own: words.replace(/[^\p{L}]/gu, "").length }
  })
  const field = document.createElement("textarea")
  field.rows = 2
  field.placeholder = "Paste a message or a warning here"
  field.setAttribute("aria-label", field.placeholder)
  field.className = "message-field"
  const found = document.createElement("ul")
  found.setAttribute("aria-live", "polite")
  place.before(field, found)
  field.addEventListener("input", () => {
    const message = field.value.replace(/\s+/g, " ").trim()
    const fitting = message.length < 8 ? [] : entries.filter((entry) => entry.pattern.test(message))
    fitting.sort((one, other) => other.own - one.own)
    const best = fitting.filter((entry, place) => fitting.findIndex((each) => each.id === entry.id) === place)
    found.replaceChildren(
      ...best.slice(0, 3).map((entry) => {
        const link = document.createElement("a")
        link.href = `#${entry.id}`
        link.textContent = entry.title
        const item = document.createElement("li")
        item.append(link, ` ${entry.sentence}`)
        return item
      })
    )
    if (message.length >= 8 && !best.length) found.textContent = "No entry has these words. Try the search of the site."
  })
})
