// The pages work without this. It adds the search, remembers the way that you follow, and opens the
// answers for a printer.
const root = new URL('.', document.currentScript.src).href;

// Search: each word has to be in the section. The index is a script, because a page that was opened as
// a file may fetch nothing; it is loaded when you begin to type.
const form = document.querySelector('form[role=search]');
const [field, status, list] = form.children;
let sections;
window.searchIndex = (index) => {
  sections = index.map(([link, page, heading, text]) => ({ link, page, heading, text, lower: `${page} ${heading} ${text}`.toLowerCase() }));
  search();
};
form.hidden = false;
form.addEventListener('submit', (event) => {
  event.preventDefault();
  list.querySelector('a')?.click();
});
field.addEventListener('input', search);
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  } else if (event.key === 'Escape') {
    field.value = '';
    search();
  }
});

function search() {
  if (!sections && !document.getElementById('_index') && field.value) {
    document.head.append(Object.assign(document.createElement('script'), { id: '_index', src: root + 'search.js' }));
  }
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length && sections ? sections.filter((s) => words.every((word) => s.lower.includes(word))) : [];
  const points = (s) => words.filter((word) => s.heading.toLowerCase().includes(word)).length;
  found.sort((a, b) => points(b) - points(a));
  status.textContent = words.length && sections ? `${found.length} sections` : '';
  list.replaceChildren(...found.slice(0, 20).map((s) => result(s, words[0])));
}

function result(section, word) {
  const link = Object.assign(document.createElement('a'), { href: root + section.link, textContent: section.heading });
  const at = Math.max(0, section.text.toLowerCase().indexOf(word) - 40);
  const item = document.createElement('li');
  item.append(link, ` ${section.page === section.heading ? '' : section.page}`, document.createElement('br'), section.text.slice(at, at + 120));
  item.addEventListener('click', () => { field.value = ''; search(); });
  return item;
}

// Ways: a click on a page of one makes it yours. It is open then, and leads on.
const ways = [...document.querySelectorAll('.ways details')];
for (const way of ways) {
  way.addEventListener('click', (event) => { if (event.target.closest('a')) localStorage.setItem('way', way.id); });
}
const here = ways.filter((way) => way.querySelector('[aria-current]'));
const mine = here.find((way) => way.id === localStorage.getItem('way')) || here.find((way) => way.id === '_deep') || here[0];
if (mine) {
  for (const way of ways) way.open = way === mine;
  const pages = new Map([...mine.querySelectorAll('a')].map((link) => [link.href.split('#')[0], link]).reverse());
  const order = [...pages.keys()].reverse();
  const at = order.indexOf(mine.querySelector('[aria-current]').href.split('#')[0]);
  lead('prev', pages.get(order[at - 1]));
  lead('next', pages.get(order[at + 1]));
  const menu = document.querySelector('.ways');
  menu.scrollTop = mine.querySelector('[aria-current]').offsetTop - menu.clientHeight / 3;
}

function lead(rel, link) {
  const along = document.querySelector(`.along [rel=${rel}]`);
  if (!along || mine.id === '_more') return;
  along.hidden = !link;
  if (link) Object.assign(along, { href: link.href.split('#')[0], textContent: link.textContent });
}

addEventListener('beforeprint', () => { for (const answer of document.querySelectorAll('main details')) answer.open = true; });
