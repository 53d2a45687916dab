// A message pasted into the search of the site, or into the field of the page of messages, finds the entries of that
// page. Each entry ends with its messages, quoted, in which … stands for what differs each time. The entry with most
// words of its own comes first.

// Without the dashes of options and other signs that have a meaning in the search of the site: it would read "--metric" as
// words to exclude.
const plain = (text) =>
  text.replace(/(^|[\s(,;:])[-+]+(?=\S)/g, "$1").replace(/[~^*]/g, " ")

const entriesOf = (page) =>
  [...page.querySelectorAll("h3[id] ~ blockquote code")].map((code) => {
    let element = code.closest("blockquote")
    let paragraph = ""
    while (element.tagName !== "H3") {
      if (element.tagName === "P") paragraph = element.textContent
      element = element.previousElementSibling
    }
    const words = plain(code.textContent).replace(/\s+/g, " ").trim()
    const pattern = words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", ".*")
    return {
      id: element.id,
      title: element.firstChild.textContent,
      sentence: paragraph.match(/^.*?[.:](?=\s|$)/s)?.[0] ?? paragraph,
      pattern: new RegExp(pattern, "i"),
      own: words.replace(/[^\p{L}]/gu, "").length,
    }
  })

const found = (entries, text) => {
  const message = plain(text).replace(/\s+/g, " ").trim()
  const fitting = message.length < 8 ? [] : entries.filter((entry) => entry.pattern.test(message))
  fitting.sort((one, other) => other.own - one.own)
  const best = fitting.filter((entry, place) => fitting.findIndex((each) => each.id === entry.id) === place)
  return best.slice(0, 3)
}

const linksTo = (entries, page) =>
  entries.map((entry, place) => {
    const link = document.createElement("a")
    link.href = `${page}#${entry.id}`
    const title = document.createElement("span")
    title.textContent = entry.title
    title.dataset.mdScore = 1e6 - place // by which the search of the site knows where the key Enter leads
    link.append(title)
    const item = document.createElement("li")
    item.append(link, ` ${entry.sentence}`)
    return item
  })

document.addEventListener("DOMContentLoaded", () => {
  const place = document.querySelector("h2[id]")
  const entries = entriesOf(document)
  if (!place || !entries.length) return
  const field = document.createElement("textarea")
  field.rows = 2
  field.placeholder = "Paste a message or a warning here"
  field.setAttribute("aria-label", field.placeholder)
  field.className = "message-field"
  const list = document.createElement("ul")
  list.setAttribute("aria-live", "polite")
  place.before(field, list)
  field.addEventListener("input", () => {
    const best = found(entries, field.value)
    list.replaceChildren(...linksTo(best, ""))
    if (field.value.trim().length >= 8 && !best.length) {
      list.textContent = "No entry has these words. Try the search of the site."
    }
  })
})

// The search of the site ranks whole pages by their words, so the entries of a message stand above its results.
document.addEventListener("DOMContentLoaded", () => {
  const field = document.querySelector(".md-search__input")
  const results = document.querySelector(".md-search-result__list")
  if (!field || !results) return
  const base = JSON.parse(document.getElementById("__config").textContent).base
  const page = new URL(`${base}/reference/messages/`, location.href).href
  const list = document.createElement("ul")
  list.className = "message-found md-typeset"
  results.before(list)
  let entries
  const asked = async () => {
    entries ??= fetch(page)
      .then((answer) => answer.text())
      .then((text) => entriesOf(new DOMParser().parseFromString(text, "text/html")))
    list.replaceChildren(...linksTo(found(await entries, field.value), page))
  }
  field.addEventListener("input", asked)
  field.form?.addEventListener("reset", () => list.replaceChildren())
})

document.addEventListener(
  "input",
  (event) => {
    const field = event.target
    if (!field.matches(".md-search__input")) return
    const words = plain(field.value)
    if (words !== field.value) field.value = words
  },
  true
)
