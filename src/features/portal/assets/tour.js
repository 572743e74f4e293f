/**
 * Marks the steps of "Getting started" as done while the page is open: the first API call is seen
 * as it arrives. Hidden pages do not ask.
 */
const INTERVAL_MS = 3_000;

for (const list of document.querySelectorAll('[data-tour]')) {
  if (list instanceof HTMLElement) follow(list);
}

/** @param {HTMLElement} list */
function follow(list) {
  const steps = [...list.querySelectorAll('[data-step]')];
  const status = document.querySelector('[data-tour-status]');
  const timer = setInterval(async () => {
    if (document.hidden) return;
    // A redirect means that the session has ended.
    const response = await fetch(list.dataset['tour'] ?? '', { redirect: 'error' })
      .catch(() => undefined);
    if (!response?.ok) return;
    /** @type {{ done: string[] }} */
    const { done } = await response.json();
    for (const step of steps) {
      if (!(step instanceof HTMLElement) || step.classList.contains('done')) continue;
      if (!done.includes(step.dataset['step'] ?? '')) continue;
      step.classList.add('done', 'fresh');
      step.querySelector('.tag')?.removeAttribute('hidden');
      if (status) status.textContent = `${step.querySelector('h3')?.textContent}`;
    }
    if (steps.every((step) => step.classList.contains('done'))) clearInterval(timer);
  }, INTERVAL_MS);
}
