/** Fills in the browser's time zone. */
const field = document.querySelector('input[name="time_zone"]');
if (field instanceof HTMLInputElement) {
  field.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? '';
}
