/**
 * Puts the keyboard into a control when its view opens. In a dialog, which chooses a place for the keyboard when it opens, it is
 * the one that is chosen.
 */
export function focused(element: HTMLElement): void {
  element.autofocus = true;
  element.focus({ preventScroll: true });
}
