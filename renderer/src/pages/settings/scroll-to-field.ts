/** Shows what somebody came for, with the keyboard in its control; what takes no keyboard has it itself. */
export function arrive(element: HTMLElement): void {
  element.scrollIntoView({ block: 'center' });
  const controls = [...element.querySelectorAll<HTMLElement>(':is(input, select, textarea, button):not(:disabled)')];
  // Of a group's choices the keyboard goes to the one that is made.
  const control = controls.find((each) => each instanceof HTMLInputElement && each.type === 'radio' && each.checked);
  if (controls.length === 0) element.tabIndex = -1;
  (control ?? controls[0] ?? element).focus({ preventScroll: true });
}
