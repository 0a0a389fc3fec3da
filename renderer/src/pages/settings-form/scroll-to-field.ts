import * as m from '#messages/settings-form';

/** Scrolls to the requested setting and focuses its control, or the element itself if it has none. */
export function scrollToField(element: HTMLElement): void {
  element.scrollIntoView({ block: 'center' });
  const controls = [...element.querySelectorAll<HTMLElement>(m.inputSelectTextareaButton())];
  // In a group of radio buttons the checked one is focused.
  const control = controls.find((each) => each instanceof HTMLInputElement && each.type === 'radio' && each.checked);
  if (controls.length === 0) element.tabIndex = -1;
  (control ?? controls[0] ?? element).focus({ preventScroll: true });
}
