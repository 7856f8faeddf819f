// Keeps a page up to date, and tells the person who waits for them. Without it the pages are as they were when they were loaded.
const part = document.getElementById('part');
const problem = document.getElementById('problem');
const boxes = Object.fromEntries(['sound', 'notice'].map((name) => [name, document.getElementById(name)]));

// Changes what differs, so that the focus, a selection and opened details stay.
function change(now, next) {
  if (now.isEqualNode(next)) return;
  if (now.nodeType !== 1 || now.nodeName !== next.nodeName || now.id !== next.id) return now.replaceWith(next);
  for (const { name } of [...now.attributes]) if (!next.hasAttribute(name) && name !== 'open') now.removeAttribute(name);
  for (const { name, value } of [...next.attributes]) if (now.getAttribute(name) !== value) now.setAttribute(name, value);
  changeInside(now, next);
}

function changeInside(now, next) {
  const known = new Map([...now.children].filter((child) => child.id).map((child) => [child.id, child]));
  let at = now.firstChild;
  for (const child of [...next.childNodes]) {
    const same = child.id ? known.get(child.id) : at;
    if (same && same === at) at = at.nextSibling;
    else now.insertBefore(same || child, at);
    if (same) change(same, child);
  }
  while (at) {
    const old = at;
    at = at.nextSibling;
    old.remove();
  }
}

const waiting = (of) => new Set([...of.querySelectorAll('table[aria-labelledby=waiting] tbody tr')].map((row) => row.id));

function tell(text) {
  if (boxes.sound.checked) {
    const audio = new AudioContext();
    const tone = audio.createOscillator();
    tone.connect(audio.destination);
    tone.addEventListener('ended', () => audio.close());
    tone.start();
    tone.stop(audio.currentTime + 0.2);
  }
  try {
    if (boxes.notice.checked) new Notification('A run waits for you', { body: text });
  } catch {
    // Some telephones let only installed pages do this.
    boxes.notice.checked = false;
  }
}

function say(text) {
  problem.hidden = !text;
  problem.textContent = text;
}

// A browser has few connections to one place, so a page that nobody sees gives its own back, unless it is to tell something.
let events;
function follow() {
  const isNeeded = !document.hidden || boxes.sound.checked || boxes.notice.checked;
  if (isNeeded === Boolean(events)) return;
  if (!isNeeded) {
    events.close();
    events = undefined;
    return;
  }
  events = new EventSource(part.dataset.live);
  events.addEventListener('page', ({ data }) => {
    const end = data.indexOf('\n');
    const next = document.createElement('template');
    next.innerHTML = data.slice(end + 1);
    const before = waiting(part);
    const added = [...waiting(next.content)].filter((id) => !before.has(id));
    const focused = document.activeElement;
    document.title = data.slice(0, end);
    changeInside(part, next.content);
    if (focused.isConnected) focused.focus({ preventScroll: true });
    say('');
    const row = added.length && document.getElementById(added[0]);
    if (row) tell(row.querySelector('th').textContent);
  });
  events.addEventListener('problem', ({ data }) => say(`The page is not up to date: ${data}`));
  events.addEventListener('error', ({ target }) => say(target.readyState === EventSource.CLOSED
    ? 'The board has ended, or does not know this browser any more: start it again and load this page again.'
    : 'The board does not answer. This page tries again.'));
}

if (part.dataset.live) {
  // Only the list of runs says which of them are new.
  document.getElementById('signals').hidden = part.dataset.live.includes('run=');
  boxes.notice.parentElement.hidden = !('Notification' in window);
  boxes.notice.addEventListener('change', async () => {
    if (boxes.notice.checked && (await Notification.requestPermission()) !== 'granted') boxes.notice.checked = false;
  });
  document.addEventListener('visibilitychange', follow);
  follow();
}
