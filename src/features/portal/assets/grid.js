/**
 * The grid of stocks and prices: Enter and the arrow keys move between rows as in a spreadsheet,
 * Escape restores a value, and leaving the page with unsaved values asks first.
 */

const sheet = document.querySelector('form.sheet');
if (sheet instanceof HTMLFormElement) watch(sheet);

/** @param {HTMLFormElement} form */
function watch(form) {
  const status = form.querySelector('[data-changed]');
  let isSent = false;

  const countChanged = () => {
    const inputs = form.querySelectorAll('table input:not([type="hidden"])');
    return [...inputs].filter((input) =>
      input instanceof HTMLInputElement && input.value.trim() !== input.defaultValue).length;
  };
  form.addEventListener('input', () => {
    const count = countChanged();
    const text = count === 0 ? '' : count === 1 ? '1 value changed' : `${count} values changed`;
    if (status) status.textContent = text;
  });
  form.addEventListener('focusin', ({ target }) => {
    if (isCell(target)) target.select();
  });
  form.addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (!isCell(target) || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const step = key === 'ArrowUp' || (key === 'Enter' && event.shiftKey) ? -1
      : key === 'ArrowDown' || key === 'Enter' ? 1 : 0;
    if (step !== 0) {
      event.preventDefault();
      move(form, target, step);
    } else if (key === 'Escape') {
      target.value = target.defaultValue;
      target.select();
      target.dispatchEvent(new Event('input', { bubbles: true }));
    }
  });
  form.addEventListener('submit', () => { isSent = true; });
  addEventListener('pageshow', () => { isSent = false; });
  addEventListener('beforeunload', (event) => {
    if (!isSent && countChanged() > 0) event.preventDefault();
  });
}

/**
 * Moves the focus to the same column of another row; after the last row, to the reason.
 * @param {HTMLFormElement} form
 * @param {HTMLInputElement} from
 * @param {number} step
 */
function move(form, from, step) {
  const column = [...form.querySelectorAll('table input')]
    .filter((input) => isCell(input) && input.name === from.name);
  const target = column[column.indexOf(from) + step]
    ?? (step > 0 ? form.elements.namedItem('reason') : undefined);
  if (target instanceof HTMLInputElement) target.focus();
}

/**
 * @param {EventTarget | null} target
 * @returns {target is HTMLInputElement}
 */
function isCell(target) {
  return target instanceof HTMLInputElement && target.type === 'text'
    && target.closest('table') !== null;
}
