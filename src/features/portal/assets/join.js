/** Sends the time zone of the browser. */
const field = document.querySelector('input[name="time_zone"]');
if (field instanceof HTMLInputElement) {
  field.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? '';
}
