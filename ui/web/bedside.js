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

  // Gradio names each radio button by itself, so that the arrow keys do not move among them
  const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
  document.addEventListener('keydown', (event) => {
    const group = event.target.type === 'radio' && event.key in steps && event.target.closest('#triage');
    if (!group) return;
    event.preventDefault();
    const buttons = [...group.querySelectorAll('input')];
    const next = buttons[(buttons.indexOf(event.target) + steps[event.key] + buttons.length) % buttons.length];
    next.focus();
    next.click();
  });

  window.bedside = { focus, focusLast };
})();
