// What Gradio does not do: where the keyboard goes after a step, and the lists of names under the diagnosis fields.
(() => {
  const seen = (element) => element && element.offsetParent !== null;

  // an element may be drawn only after the answer has come: look for it for a second
  const focus = (selector, tries = 60) => {
    const found = [...document.querySelectorAll(selector)].find((element) => seen(element) && !element.disabled);
    if (found) {
      const isHeading = found.tabIndex < 0;
      found.focus({ preventScroll: isHeading });
      if (isHeading) window.scrollTo({ top: 0 });
      else if (found.setSelectionRange && found.value !== undefined) found.setSelectionRange(found.value.length, found.value.length);
    } else if (tries > 0) {
      requestAnimationFrame(() => focus(selector, tries - 1));
    }
  };

  const focusLast = (selector) =>
    requestAnimationFrame(() => setTimeout(() => [...document.querySelectorAll(selector)].filter(seen).pop()?.focus(), 50));

  document.addEventListener('focusin', (event) => {
    const field = event.target.closest?.('[id^="dx-"]');
    if (field && event.target.tagName === 'INPUT') event.target.setAttribute('list', field.id.replace('dx-', 'names-'));
  });

  // Gradio names each radio button by itself; under one name they are a group for the arrow keys
  document.addEventListener('focusin', (event) => {
    const group = event.target.closest?.('#triage');
    if (group && event.target.type === 'radio') group.querySelectorAll('input').forEach((input) => (input.name = 'triage'));
  });

  window.bedside = { focus, focusLast };
})();
