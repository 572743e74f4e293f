/** The checkboxes of the product list: ticks a whole page, and shows how many rows are ticked. */

const selection = document.querySelector('form.selection');
if (selection instanceof HTMLFormElement) watch(selection);

/** @param {HTMLFormElement} form */
function watch(form) {
  const all = form.querySelector('[data-select-all]');
  const status = form.querySelector('[data-selected]');
  const rows = [...form.querySelectorAll('input[name="row"]')]
    .filter((row) => row instanceof HTMLInputElement);

  const show = () => {
    const count = rows.filter((row) => row.checked).length;
    if (status) status.textContent = count === 0 ? '' : `${count} selected`;
    if (!(all instanceof HTMLInputElement)) return;
    all.checked = count === rows.length;
    all.indeterminate = count > 0 && count < rows.length;
  };
  if (all instanceof HTMLInputElement) {
    all.hidden = false;
    all.addEventListener('change', () => {
      for (const row of rows) row.checked = all.checked;
    });
  }
  form.addEventListener('change', show);
  addEventListener('pageshow', show); // the browser may restore the checkboxes
  show();
}
