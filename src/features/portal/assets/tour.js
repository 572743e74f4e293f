/**
 * Marks the steps of "Getting started" as done while the page is open: the first API call is seen
 * as it arrives. Hidden pages do not ask, nor do pages that have been open for long.
 */
const INTERVAL_MS = 3_000;
const LIFE_MS = 15 * 60_000;

for (const list of document.querySelectorAll('[data-tour]')) {
  if (list instanceof HTMLElement) follow(list);
}

/** @param {HTMLElement} list */
function follow(list) {
  const steps = [...list.querySelectorAll('[data-step]')];
  const status = document.querySelector('[data-tour-status]');
  const timer = setInterval(async () => {
    if (performance.now() > LIFE_MS) clearInterval(timer);
    if (document.hidden || performance.now() > LIFE_MS) return;
    // A redirect means that the session has ended.
    const response = await fetch(list.dataset['tour'] ?? '', { redirect: 'error' })
      .catch(() => undefined);
    if (!response?.ok) return;
    /** @type {{ done: string[], notes: Record<string, string> }} */
    const { done, notes } = await response.json();
    for (const step of steps) {
      if (!(step instanceof HTMLElement) || step.classList.contains('done')) continue;
      if (!done.includes(step.dataset['step'] ?? '')) continue;
      step.classList.add('done', 'fresh');
      step.querySelector('.tag')?.removeAttribute('hidden');
      const note = step.querySelector('[data-tour-note]');
      note?.removeAttribute('hidden');
      if (note) note.textContent = notes[step.dataset['step'] ?? ''] ?? '';
      if (status) status.textContent = `${step.querySelector('h3')?.textContent}`;
    }
    if (steps.every((step) => step.classList.contains('done'))) clearInterval(timer);
  }, INTERVAL_MS);
}
